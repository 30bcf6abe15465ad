#!/usr/bin/env python3
"""What we ask a model, and what its stand-in answers, against the types of OpenAI's own package.

The files are made by unit_worker_sources_llm. The types are generated from the API's published description.
"""
import json
import pathlib
import sys

import pydantic
from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

golden = pathlib.Path(__file__).resolve().parent.parent / "golden" / "llm"


def checked(name, model):
    """The file's JSON; ends the program when it is not what the type wants, members of no name included."""
    value = json.loads((golden / name).read_text())
    try:
        pydantic.TypeAdapter(model).validate_python(value, strict=False)
    except pydantic.ValidationError as error:
        sys.exit(f"{name}: {error}")
    return value


for request_name in ("request.json", "request_completion_tokens.json"):
    request = checked(request_name, CompletionCreateParamsNonStreaming)
    unknown = set(request) - set(CompletionCreateParamsNonStreaming.__annotations__) \
        - set(CompletionCreateParamsNonStreaming.__mro__[0].__required_keys__) \
        - set(CompletionCreateParamsNonStreaming.__mro__[0].__optional_keys__)
    if unknown:
        sys.exit(f"{request_name}: the API has no {unknown}")
    if request["stream"] is not False:
        sys.exit(f"{request_name}: it must not stream")
for answer_name in ("answer.json", "answer_refused.json"):
    checked(answer_name, ChatCompletion)
    ChatCompletion.model_validate(json.loads((golden / answer_name).read_text()), strict=True)
print("the requests and answers are what the API's types say")
