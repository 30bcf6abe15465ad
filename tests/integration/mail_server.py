"""A mail server of aiosmtpd, which has none of Epilogue's code: STARTTLS and a login are required. Arguments:
certificate, key. Prints {"port": N}, then each mail it has stored, as Python's own parser reads it, one a line.
It greylists the first mail to grey@…, and drops the connection when it has stored a mail to drop@…."""
import asyncio
import email
import email.policy
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult


def tell(value):
    print(json.dumps(value), flush=True)


class Store:
    def __init__(self):
        self.greylisted = set()

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("grey@") and address not in self.greylisted:
            self.greylisted.add(address)
            return "451 4.7.1 greylisted, come again"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        tell({
            "recipients": envelope.rcpt_tos,
            "from": mail["From"].addresses[0].addr_spec,
            "name": mail["From"].addresses[0].display_name,
            "to": [each.addr_spec for each in mail["To"].addresses],
            "subject": mail["Subject"],
            "id": mail["Message-ID"],
            "thread": mail["In-Reply-To"],
            "fields": len(mail.keys()),
            "text": mail.get_body(("plain",)).get_content().replace("\r\n", "\n"),
            "html": mail.get_body(("html",)).get_content().replace("\r\n", "\n"),
            "defects": [str(each) for part in mail.walk() for each in part.defects],
        })
        if any(each.startswith("drop@") for each in envelope.rcpt_tos):
            server.transport.abort()
        return "250 OK, stored"


def authenticate(server, session, envelope, mechanism, data):
    return AuthResult(success=data.login == b"bot" and data.password == b"right", handled=False)


store = Store()
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])


def connection():
    return SMTP(store, tls_context=context, require_starttls=True, auth_required=True,
                authenticator=authenticate, hostname="mail.there.example")


async def serve():
    server = await asyncio.get_running_loop().create_server(connection, "127.0.0.1", 0)
    tell({"port": server.sockets[0].getsockname()[1]})
    await server.serve_forever()


asyncio.run(serve())
