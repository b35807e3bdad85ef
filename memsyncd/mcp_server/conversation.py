"""Which requests are still to be answered: so many at most, and at the end of input they are waited for."""

from collections.abc import Mapping

import anyio
from mcp_types import (
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from memsyncd.mcp_server.messages import Refusal

MAX_UNANSWERED = 1_000
MAX_UNANSWERED_BYTES = 64 * 1024 * 1024
"""Of requests that wait for their answer; a client that sends more without reading is refused them."""

BUSY = -32000
"""From the range that JSON-RPC leaves to servers."""


class Conversation:
    """For one event loop."""

    def __init__(self) -> None:
        self._sizes: dict[RequestId, int] = {}
        self._bytes = 0
        self._nothing_open = anyio.Event()
        self._nothing_open.set()

    def asked(self, message: JSONRPCMessage, size: int) -> JSONRPCMessage | Refusal:
        """Note a message from the client, `size` bytes long; return it, or the refusal of a request too many."""
        if isinstance(message, JSONRPCRequest):
            if len(self._sizes) >= MAX_UNANSWERED or self._bytes + size > MAX_UNANSWERED_BYTES:
                error = ErrorData(code=BUSY, message="Too many requests wait for their answer: read some first")
                return Refusal(JSONRPCError(jsonrpc="2.0", id=message.id, error=error))
            self._bytes += size - self._sizes.get(message.id, 0)
            self._sizes[message.id] = size
            if self._nothing_open.is_set():
                self._nothing_open = anyio.Event()
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            params = message.params if isinstance(message.params, Mapping) else {}
            self._close(params.get("requestId"))  # a cancelled request is not answered
        return message

    def answered(self, message: JSONRPCMessage) -> None:
        """Note a message that was written to the client."""
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._close(message.id)

    async def all_answered(self) -> None:
        """Wait until no request is open."""
        while self._sizes:
            await self._nothing_open.wait()

    def _close(self, request_id: object) -> None:
        if isinstance(request_id, str | int):
            self._bytes -= self._sizes.pop(request_id, 0)
        if not self._sizes:
            self._nothing_open.set()
