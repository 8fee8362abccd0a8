"""`headway --version --verbose` says in a line what translates here."""

import pytest

from headway.cli import main
from headway.engine import building
from headway.engine.compiling import NoEngineError


def test_it_names_the_engine_or_why_there_is_none(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["--version", "--verbose"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("headway ")
    assert lines[2].startswith(("engine: native (compiled here by ", "engine: torch: "))

    def absent() -> None:
        raise NoEngineError("there is no C compiler (cc, gcc or clang)")

    monkeypatch.setattr(building, "engine_library", absent)
    assert main(["--version", "--verbose"]) == 0
    assert "engine: torch: there is no C compiler (cc, gcc or clang)" in capsys.readouterr().out
