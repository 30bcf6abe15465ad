"""Has an OpenHands app server register conversations with Epilogue (POST /api/callbacks).

Start the app server with this file on its path:

    PYTHONPATH=ops/openhands EPILOGUE_URL=http://127.0.0.1:9464 EPILOGUE_API_KEY=... \
        uvicorn epilogue_processor:app

and name the processor where a conversation is started (POST /api/v1/app-conversations):

    {"initial_message": ..., "processors": [{"kind": "EpilogueCallbackProcessor", "processor_type": "slack",
                                             "processor_json": {"channel_id": "C0123", "message_ts": "1763712345.0001"}}]}

EPILOGUE_URL      [worker] http_listen of any worker, or what stands before them
EPILOGUE_API_KEY  [worker] api_key; stays in the app server's environment, never in its database
"""

import os
from typing import Any, ClassVar
from uuid import UUID

import httpx
from openhands.app_server.event_callback.event_callback_models import (
    EventCallback,
    EventCallbackProcessor,
    EventCallbackStatus,
    EventKind,
)
from openhands.app_server.event_callback.event_callback_result_models import (
    EventCallbackResult,
    EventCallbackResultStatus,
)
from openhands.app_server.services.injector import InjectorState
from openhands.app_server.user.specifiy_user_context import ADMIN, USER_CONTEXT_ATTR
from openhands.sdk import Event

ANSWER_WITHIN_S = 15


class EpilogueCallbackProcessor(EventCallbackProcessor):
    """Registers its conversation once, at the first state update of its agent.

    What Epilogue has not taken is offered again at the next one. A repeat is no second callback: the row's id is
    the Idempotency-Key. `processor_type`, `processor_json`, `mode` and `triggers` mean what they mean in
    `epilogue callbacks add`.
    """

    event_kind: ClassVar[EventKind] = 'ConversationStateUpdateEvent'

    processor_type: str
    processor_json: dict[str, Any] = {}
    mode: str = 'once'
    triggers: list[str] = []

    async def __call__(
        self, conversation_id: UUID, callback: EventCallback, event: Event
    ) -> EventCallbackResult:
        registration = self._registration(conversation_id) | await _agent_server_of(conversation_id)
        async with httpx.AsyncClient(timeout=ANSWER_WITHIN_S) as client:
            answer = await client.post(
                os.environ['EPILOGUE_URL'].rstrip('/') + '/api/callbacks',
                json=registration,
                headers={
                    'X-Session-API-Key': os.environ['EPILOGUE_API_KEY'],
                    'Idempotency-Key': callback.id.hex,
                },
            )
        if answer.is_success:
            callback.status = EventCallbackStatus.COMPLETED
        elif answer.status_code in (400, 422):
            # Epilogue says what is wrong with the registration: it will say so again.
            callback.status = EventCallbackStatus.ERROR
        return EventCallbackResult(
            status=EventCallbackResultStatus.SUCCESS if answer.is_success else EventCallbackResultStatus.ERROR,
            event_callback_id=callback.id,
            event_id=event.id,
            conversation_id=conversation_id,
            detail=(
                f"Epilogue's callback {answer.json()['id']}"
                if answer.is_success
                else f'Epilogue: {answer.status_code} {_reason_in(answer)}'
            ),
        )

    def _registration(self, conversation_id: UUID) -> dict[str, Any]:
        options: dict[str, Any] = {'mode': self.mode}
        if self.triggers:
            options['triggers'] = self.triggers
        return {
            'conversation_id': conversation_id.hex,
            'processor_type': self.processor_type,
            'processor_json': self.processor_json,
            'options': options,
        }


def _reason_in(answer: httpx.Response) -> str:
    try:
        return str(answer.json()['detail'])
    except (ValueError, LookupError, TypeError):
        return answer.text[:500]


async def _agent_server_of(conversation_id: UUID) -> dict[str, Any]:
    """Where Epilogue can ask about the conversation; nothing when the sandbox is not there."""
    # Not at the top: the configuration imports what this file is loaded beside.
    from openhands.app_server.config import get_app_conversation_service

    state = InjectorState()
    setattr(state, USER_CONTEXT_ATTR, ADMIN)
    async with get_app_conversation_service(state) as conversations:
        conversation = await conversations.get_app_conversation(conversation_id)
    if conversation is None or not conversation.conversation_url:
        return {}
    # .../api/conversations/ID
    server = {'agent_url': conversation.conversation_url.split('/api/conversations/')[0]}
    if conversation.session_api_key:
        server['agent_key'] = conversation.session_api_key
    return server


def __getattr__(name: str) -> Any:
    """`uvicorn epilogue_processor:app`: the app server's own app, once the class above is known to it."""
    if name != 'app':
        raise AttributeError(name)
    from openhands.app_server.app import app

    return app
