"""Standard error that may be closed while a training runs."""

import sys
from contextlib import AbstractContextManager, redirect_stderr
from typing import Any, TextIO, cast

from headway.operations.streams import let_go


class Forgiving:
    """Standard error as it is now; what cannot be written there is not said, and ends nothing."""

    def __init__(self) -> None:
        self.stream = sys.stderr

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        """Write, if that can be done."""
        try:
            return self.stream.write(text)
        except OSError as error:
            let_go(self.stream, error)
        return len(text)

    def flush(self) -> None:
        """Have it written, if that can be done."""
        try:
            self.stream.flush()
        except OSError as error:
            let_go(self.stream, error)


def forgiving_stderr() -> AbstractContextManager[TextIO]:
    """Inside, no training is lost for want of somebody who reads what it says."""
    return redirect_stderr(cast("TextIO", Forgiving()))
