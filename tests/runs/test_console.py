"""What a person sees of a training is worth less than the training."""

import errno
import io
import os
import signal
import sys
from collections.abc import Iterator

import pytest
from several_processes import ready_to_fork

from headway.core.trainer import Progress
from headway.core.training_interfaces import Validation
from headway.runs.console import ConsoleReporter, forgiving_stderr, stop_on_signal


class Failing(io.StringIO):
    """A stream that takes nothing."""

    def __init__(self, number: int, *, terminal: bool) -> None:
        super().__init__()
        self.number, self.terminal, self.n_refused = number, terminal, 0

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str, /) -> int:
        self.n_refused += 1
        raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize("number", [errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EAGAIN])
@pytest.mark.parametrize("terminal", [False, True])
def test_what_cannot_be_said_ends_nothing(
    number: int, terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = Failing(number, terminal=terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    with forgiving_stderr():
        reporter = ConsoleReporter(10)
        assert reporter.live == terminal
        with reporter.bar:
            progress = Progress(step=3, time_s=1.0)
            reporter.step(progress, loss=1.0, speed=2.0, unit="points", last_step=10)
            reporter.validation(progress, Validation(1.0, 2.0, "bleu"), best=True)
            reporter.say("the disk is full")
        print("the model is the best", file=sys.stderr, flush=True)
    assert sys.stderr is stream
    assert stream.n_refused >= 3
    with pytest.raises(OSError, match=os.strerror(number)):  # afterwards it is as it was
        print("next", file=sys.stderr)


def test_a_stream_that_has_room_again_is_heard_again(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with forgiving_stderr():
        reporter = ConsoleReporter(10)
        with monkeypatch.context() as patch:
            patch.setattr(stream, "write", Failing(errno.ENOSPC, terminal=False).write)
            reporter.say("unheard")
        reporter.say("heard")
    assert stream.getvalue() == "heard\n"


@pytest.fixture
def hangup() -> Iterator[int]:
    """SIGHUP, as it was before at the end."""
    number = getattr(signal, "SIGHUP", None)
    if number is None:
        pytest.skip("no such signal here")
    before = signal.getsignal(number)
    yield number
    signal.signal(number, before)


def test_a_terminal_that_is_closed_stops_and_may_say_so_twice(hangup: int) -> None:
    signal.signal(hangup, signal.SIG_DFL)
    said: list[str] = []
    with stop_on_signal(said.append) as stop_asked:
        assert not stop_asked()
        signal.raise_signal(hangup)
        signal.raise_signal(hangup)
        assert stop_asked()
    assert said[0].startswith("SIGHUP: saving, then stopping")
    assert signal.getsignal(hangup) == signal.SIG_DFL


def test_under_nohup_a_terminal_that_is_closed_stops_nothing(hangup: int) -> None:
    signal.signal(hangup, signal.SIG_IGN)
    with stop_on_signal(pytest.fail) as stop_asked:
        signal.raise_signal(hangup)
        assert not stop_asked()


def test_a_training_that_is_killed_by_a_second_signal_leaves_a_terminal_with_its_cursor() -> None:
    pty = pytest.importorskip("pty", reason="no such terminals here")
    ours, theirs = pty.openpty()

    def stopped_twice() -> None:
        os.environ["TERM"] = "xterm"
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.stderr = os.fdopen(theirs, "w")
        reporter = ConsoleReporter(10)
        with reporter.bar, stop_on_signal(reporter.say):
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    process = ready_to_fork().Process(target=stopped_twice)
    process.start()
    process.join()
    shown = os.read(ours, 1 << 16)  # little enough for the terminal to hold
    os.close(ours)
    os.close(theirs)
    assert process.exitcode == -signal.SIGINT
    assert b"saving, then stopping" in shown
    hidden, again = shown.rfind(b"\x1b[?25l"), shown.rfind(b"\x1b[?25h")
    assert 0 <= hidden < again
