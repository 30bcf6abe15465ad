#!/usr/bin/env python3
"""An OpenHands app server, without its HTTP port, that is given callbacks and events: for tests/agent/app_server.cpp.

    app_server.py '{"conversation_id": ..., "sandbox": {"url": ..., "key": ...}, "processor": {...}, "updates": [URL, ...]}'

Saves a row for the processor, as the start of a conversation does; then, for each URL, has a state update of the agent
handled while Epilogue is there. Prints after each of these steps the conversation's event_callback rows and their results:
one JSON array a step. Settings, database and code are the app server's own (OH_PERSISTENCE_DIR); only what it knows of
the sandbox is given, because none runs here.
"""
import asyncio
import contextlib
import json
import os
import sys
from types import SimpleNamespace
from uuid import UUID

import epilogue_processor
from openhands.app_server import config
from openhands.app_server.event_callback.event_callback_models import EventCallback, EventCallbackProcessor
from openhands.app_server.event_callback.sql_event_callback_service import StoredEventCallbackResult
from openhands.app_server.services.injector import InjectorState
from openhands.app_server.user.specifiy_user_context import ADMIN, USER_CONTEXT_ATTR
from openhands.sdk.event import ConversationStateUpdateEvent
from pydantic import TypeAdapter
from sqlalchemy import select


def conversations_in(sandbox):
    """What stands for the service that looks conversations up."""

    async def get_app_conversation(conversation_id):
        return SimpleNamespace(
            conversation_url=f'{sandbox["url"]}/api/conversations/{conversation_id.hex}',
            session_api_key=sandbox["key"],
        )

    @contextlib.asynccontextmanager
    async def service(_state):
        yield SimpleNamespace(get_app_conversation=get_app_conversation)

    return service


async def rows_of(callbacks, conversation_id):
    page = await callbacks.search_event_callbacks(conversation_id__eq=conversation_id)
    sessions = await config.get_global_config().db_session.get_async_session_maker()
    rows = []
    async with sessions() as session:
        for row in page.items:
            results = await session.execute(
                select(StoredEventCallbackResult)
                .where(StoredEventCallbackResult.event_callback_id == row.id)
                .order_by(StoredEventCallbackResult.created_at)
            )
            rows.append(
                {
                    "status": row.status.value,
                    "results": [{"status": one.status.value, "detail": one.detail} for one in results.scalars()],
                }
            )
    return rows


async def main(given):
    config.get_app_conversation_service = conversations_in(given["sandbox"])
    conversation_id = UUID(given["conversation_id"])
    state = InjectorState()
    setattr(state, USER_CONTEXT_ATTR, ADMIN)
    steps = []
    app = epilogue_processor.app
    async with app.router.lifespan_context(app), config.get_event_callback_service(state) as callbacks:
        processor = TypeAdapter(EventCallbackProcessor).validate_python(given["processor"])
        await callbacks.save_event_callback(
            EventCallback(conversation_id=conversation_id, event_kind=processor.get_event_kind(), processor=processor)
        )
        steps.append(await rows_of(callbacks, conversation_id))
        for url in given["updates"]:
            os.environ["EPILOGUE_URL"] = url
            event = ConversationStateUpdateEvent(key="execution_status", value="running")
            await callbacks.execute_callbacks(conversation_id, event)
            steps.append(await rows_of(callbacks, conversation_id))
    print(json.dumps(steps))


asyncio.run(main(json.loads(sys.argv[1])))
