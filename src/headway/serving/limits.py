"""How much a service takes: of one request, of one client, and in all."""

from collections.abc import Sequence
from dataclasses import dataclass

from headway.serving.requests import RefusedError


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Each is a flag of `headway serve`; 0 means without limit.

    Parameters
    ----------
    max_characters
        Of all texts of a request.
    max_texts
        Of a request.
    max_file_mb
        Of a file that is sent.
    requests_per_minute
        Of a client, by its key or else its address.
    max_waiting
        Requests that are worked on or wait; who comes then is told when to come again.
    max_connections
        Open at a time.
    deadline
        Seconds from a request to its answer; what has not begun by then is refused.
    """

    max_characters: int = 100_000
    max_texts: int = 2_000
    max_file_mb: int = 64
    requests_per_minute: int = 0
    max_waiting: int = 80
    max_connections: int = 1_000
    deadline: float = 60.0

    def admit(self, texts: Sequence[str]) -> int:
        """The characters of a request's texts; raises RefusedError for too many."""
        if 0 < self.max_texts < len(texts):
            raise RefusedError(
                "too_long", f"a request has at most {self.max_texts:,} texts; got {len(texts):,}"
            )
        n_characters = sum(map(len, texts))
        if 0 < self.max_characters < n_characters:
            raise RefusedError(
                "too_long",
                f"a request has at most {self.max_characters:,} characters; got {n_characters:,}",
            )
        return n_characters

    @property
    def max_body_bytes(self) -> int:
        """Of a request without a file: each character escaped, and some room for the rest."""
        return 12 * (self.max_characters or 1 << 20) + (64 << 10)

    @property
    def max_file_bytes(self) -> int:
        """Of a request with a file."""
        return ((self.max_file_mb or 1024) << 20) + (64 << 10)


MAX_HEADER_BYTES = 32 << 10
HEADER_S = 10.0
"""Until the headers of a request are there, from its connection or its first byte."""
BODY_S = 30.0
"""Until its body is; one with a file has this for each 8 MB that it may have."""
SEND_S = 60.0
"""A client that takes nothing of its answer for so long is left."""
