"""Checks the JSON Web Tokens that a GitHub App has shown, with PyJWT: none of Epilogue's own code, nor of the
fake platform's. Standard input: {"public_key": PEM, "app_id": "12", "jwts": [{"time": ISO, "text": JWT}]}."""
import json
import sys
from datetime import datetime, timedelta

import jwt

shown = json.load(sys.stdin)
for each in shown["jwts"]:
    assert jwt.get_unverified_header(each["text"]) == {"alg": "RS256", "typ": "JWT"}, each
    # Signature, issuer, begin and end; and, since none is expected, that it names no audience: GitHub has none.
    claims = jwt.decode(
        each["text"],
        shown["public_key"],
        algorithms=["RS256"],
        issuer=shown["app_id"],
        options={"require": ["iat", "exp", "iss"]},
    )
    assert set(claims) == {"iat", "exp", "iss"}, claims
    at = datetime.fromisoformat(each["time"].replace("Z", "+00:00")).timestamp()
    # A clock that is up to a minute behind or ahead takes it, and it is never good for more than ten.
    skew = timedelta(minutes=1).total_seconds()
    assert claims["iat"] <= at - skew + 5 and claims["exp"] >= at + skew, (claims, at)
    assert claims["exp"] - claims["iat"] <= timedelta(minutes=10).total_seconds(), claims
print(len(shown["jwts"]))
