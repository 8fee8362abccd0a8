"""uvicorn's HTTP protocol, with bounds on connections, headers and slow clients."""

import asyncio
import socket
import struct
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from headway.serving.limits import HEADER_S, MAX_HEADER_BYTES, SEND_S
from headway.serving.requests import Caller

LEAVE_S = 0.3
"""After the service was asked to end, for requests that are on their way on open connections."""
BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: 42\r\n"
    b'retry-after: 5\r\nconnection: close\r\n\r\n{"error": "too many connections are open"}'
)


class BoundedProtocol(HttpToolsProtocol):
    """Closes connections whose headers are too long or too late; tells who left."""

    max_connections = 0
    """0: without limit."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Of one too many, say so and close it."""
        super().connection_made(transport)
        self.n_header_bytes, self.leaving = 0, False
        self.header_timer: asyncio.TimerHandle | None = None
        self.send_timer: asyncio.TimerHandle | None = None
        if 0 < self.max_connections < len(self.connections):
            transport.write(BUSY)
            transport.close()
            return
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        """Feed the parser, unless headers have grown too long."""
        if self.header_timer is None and self._idle():
            self._wait_for_headers()
        if self.header_timer is not None:
            self.n_header_bytes += len(data)
        super().data_received(data)
        if self.header_timer is not None and self.n_header_bytes > MAX_HEADER_BYTES:
            self.send_400_response("Headers are too long.")

    def pause_writing(self) -> None:
        """The client takes less than it is sent; if nothing any more, it is left."""
        super().pause_writing()
        self._watch_sending(self.transport.get_write_buffer_size(), self.loop.time())

    def resume_writing(self) -> None:
        """It took it."""
        self._sent()
        super().resume_writing()

    def on_headers_complete(self) -> None:
        """They came in time."""
        self._headers_came()
        super().on_headers_complete()
        if self.leaving and self.cycle is not None:
            self.cycle.keep_alive = False

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell whoever works for this client that it left."""
        self._headers_came()
        self._sent()
        if self.cycle is not None and not self.cycle.response_complete:
            caller: Any = self.cycle.scope.get("headway.caller")
            if isinstance(caller, Caller):
                caller.gone.set()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Answer what is under way, then close; an idle connection closes a little later, as a
        request may be on its way on it."""
        self.leaving = True
        if not self._idle():
            super().shutdown()
            return
        self._unset_keepalive_if_required()
        self.loop.call_later(LEAVE_S, self._leave)

    def _leave(self) -> None:
        if not self.transport.is_closing():
            super().shutdown()

    def _idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _wait_for_headers(self) -> None:
        self.n_header_bytes = 0
        self.header_timer = self.loop.call_later(HEADER_S, self._too_late)

    def _headers_came(self) -> None:
        if self.header_timer is not None:
            self.header_timer.cancel()
            self.header_timer = None

    def _watch_sending(self, n_before: int, since: float) -> None:
        """`n_before` bytes were left to be sent at the time `since`."""

        def look() -> None:
            n_bytes, now = self.transport.get_write_buffer_size(), self.loop.time()
            if n_bytes < n_before:
                self._watch_sending(n_bytes, now)
            elif now - since < SEND_S:
                self._watch_sending(n_before, since)
            else:  # at once: or the system goes on trying to send what it holds
                place = self.transport.get_extra_info("socket")
                place.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.transport.abort()

        self.send_timer = self.loop.call_later(SEND_S / 6, look)

    def _sent(self) -> None:
        if self.send_timer is not None:
            self.send_timer.cancel()
            self.send_timer = None

    def _too_late(self) -> None:
        self.header_timer = None
        if not self.transport.is_closing():
            self.transport.close()
