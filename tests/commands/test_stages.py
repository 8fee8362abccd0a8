import sys

import pytest

from headway.commands import stages
from headway.commands.stages import Stages


class Clock:
    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(stages, "time", clock)
    return clock


def test_short_work_shows_nothing(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with Stages() as progress:
        clock.now = 1.9
        progress("reading", 5, None)
    assert capsys.readouterr() == ("", "")


def test_without_a_terminal_a_line_comes_every_half_minute(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with Stages() as progress:
        for clock.now in (3.0, 31.0, 32.0, 62.0):
            progress("encoding", int(clock.now), 5_000)
    printed = capsys.readouterr()
    assert printed.err == "encoding: 31 of 5,000\nencoding: 62 of 5,000\n"
    assert printed.out == ""


def test_on_a_terminal_there_is_a_bar_for_the_stage_at_hand(
    clock: Clock, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Stages() as progress:
        clock.now = 3.0
        progress("reading", 1, None)
        progress("encoding", 2, 4)
        assert progress._bar is not None
        shown = [task.description for task in progress._bar.tasks if task.visible]
        assert shown == ["encoding"]
    assert capsys.readouterr().out == ""
