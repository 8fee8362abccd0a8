"""A service at an address of this machine, until it is told to end."""

import ctypes
import gc
import signal
import socket
import sys
from contextlib import suppress
from types import FrameType

import uvicorn

from headway.core.errors import ConfigError
from headway.serving.app import Served
from headway.serving.protocol import BoundedProtocol

M_ARENA_MAX = -8
"""As glibc's malloc.h has it."""
SWITCH_S = 0.0005
"""After so long a thread that works lets the event loop go on: long files hold up nobody."""
GRACE_S = 30
"""For requests that are under way when it is told to end."""
KEEP_ALIVE_S = 75
BACKLOG = 1_024


def set_up_process() -> None:
    """Before the first request. What is imported is never garbage, and to look through it stops
    everybody for 0.1 s. By itself glibc has a heap for each thread, which keeps what was freed in
    it, so that memory grows for long: two are enough."""
    gc.collect()
    gc.freeze()
    with suppress(OSError, AttributeError):  # another library
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 2)


class Server(uvicorn.Server):
    """uvicorn's, which tells the guard when it is about to end."""

    def __init__(self, served: Served) -> None:
        """Signals are taken by `run`."""
        most = served.service.limits.max_connections
        protocol = type("Protocol", (BoundedProtocol,), {"max_connections": most})
        config = uvicorn.Config(
            served.app, http=protocol, ws="none", lifespan="off", log_level="critical",
            access_log=False, server_header=False, proxy_headers=False, backlog=BACKLOG,
            timeout_keep_alive=KEEP_ALIVE_S, timeout_graceful_shutdown=GRACE_S,
        )  # fmt: skip
        super().__init__(config)
        self.served = served

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End: what was accepted is answered first."""
        self.served.app.stopping = True
        super().handle_exit(sig, frame)
        self._captured_signals.clear()  # ended as asked is status 0, and no second signal

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Wait for what is under way, and say how much of it was refused when the time was over."""
        await super().shutdown(sockets)
        if n := len(self.server_state.tasks):
            self.served.service.runs.say(
                f"requests have {self.config.timeout_graceful_shutdown} s when the service is told "
                f"to end; {n} took longer and got 503"
            )


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens at an address; raises ConfigError where it is not to be had."""
    made: socket.socket | None = None
    try:
        if not 0 <= port < 1 << 16:
            raise OverflowError("a port is at most 65535")
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family, kind, protocol, _, place = found[0]
        # asyncio sends small answers at once (TCP_NODELAY) where it sees that this is TCP.
        made = socket.socket(family, kind, protocol)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(place)
        made.listen(BACKLOG)  # from now on who asks gets an answer
        return made
    except (OSError, OverflowError, UnicodeError) as error:
        if made is not None:
            made.close()
        raise ConfigError(
            f"--host and --port must be an address of this machine that is free; {host} and "
            f"{port} are not ({error}). Take another --port."
        ) from None


def serve(served: Served, place: socket.socket) -> None:
    """Serve until SIGTERM or Ctrl-C; SIGHUP has it reload."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_S)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, lambda *_: served.reload())
    try:
        Server(served).run(sockets=[place])
    finally:
        sys.setswitchinterval(usual)
        place.close()
