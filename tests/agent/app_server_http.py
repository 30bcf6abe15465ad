#!/usr/bin/env python3
"""An OpenHands app server on PORT of loopback with one conversation and its events: for tests/agent/app_server.cpp.

    RUNTIME=process app_server_http.py PORT CONVERSATION_ID EVENTS   # EVENTS: a JSON array of V1 events

Prints "ready" once it serves.

Settings, database and code are the app server's own (OH_PERSISTENCE_DIR); only the conversation is given, because no
sandbox runs here.
"""
import asyncio
import json
import sys
from uuid import UUID

import uvicorn
from openhands.app_server import config
from openhands.app_server.app import app
from openhands.app_server.app_conversation.app_conversation_models import AppConversationInfo
from openhands.app_server.services.injector import InjectorState
from openhands.app_server.user.specifiy_user_context import ADMIN, USER_CONTEXT_ATTR
from openhands.sdk import Event
from pydantic import TypeAdapter


async def main(port, conversation_id, events):
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.05)
    state = InjectorState()
    setattr(state, USER_CONTEXT_ATTR, ADMIN)
    async with config.get_app_conversation_info_service(state) as conversations:
        await conversations.save_app_conversation_info(
            AppConversationInfo(id=conversation_id, created_by_user_id=None, sandbox_id="none", title="A title")
        )
    async with config.get_event_service(state) as stored:
        for event in events:
            await stored.save_event(conversation_id, TypeAdapter(Event).validate_python(event))
    print("ready", flush=True)
    await serving


asyncio.run(main(int(sys.argv[1]), UUID(sys.argv[2]), json.loads(sys.argv[3])))
