"""The command: what is loaded, what is said, and with which exit status."""

import errno
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from everyday_run import command

from headway import __version__, cli
from headway.commands.arguments import Overrides, option_names, parse_overrides
from headway.core.errors import DataError, HeadwayError

HEAVY = ("torch", "pydantic", "numpy", "tokenizers", "sacrebleu", "matplotlib")
Install = Callable[[Callable[..., Any]], None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Makes a function the verb `headway probe`."""

    def install(function: Callable[..., Any]) -> None:
        home = ModuleType("headway.commands.probe")
        home.probe = function  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, home.__name__, home)
        monkeypatch.setitem(cli.VERBS, "probe", "A verb for this test.")

    return install


@pytest.fixture(autouse=True)
def temporary_files_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # for the interpreters that the tests start
    monkeypatch.delenv("HEADWAY_TRACEBACK", raising=False)


def python(code: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run code in a fresh interpreter that finds the same headway."""
    source = str(Path(cli.__file__).parent.parent)
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": source, **environment},
        capture_output=True,
        check=False,
    )


# -- the program


def test_python_ends_without_looking_for_garbage_and_with_the_commands_status() -> None:
    """Also where it ends by itself."""
    code = """import gc, sys
from headway import __main__ as program
def command():
    raise SystemExit(3)
program.main = lambda: 2
assert program.program() == 2 and gc.get_freeze_count() > 1000
gc.unfreeze()
program.main = command
try:
    program.program()
finally:
    assert gc.get_freeze_count() > 1000"""
    assert python(code).returncode == 3


# -- what is loaded


@pytest.mark.parametrize(
    "use",
    [
        "import headway; assert headway.__version__; assert 'train' in dir(headway)",
        "from headway.cli import main; assert main(['--help']) == 0",
        "from headway.cli import main; assert main(['--version']) == 0",
        "from headway.cli import main; assert main(['trian']) == 2",
    ],
)
def test_neither_the_package_nor_its_help_loads_anything_heavy(use: str) -> None:
    ran = python(f"{use}\nimport sys, json\nprint(json.dumps(sorted(sys.modules)))")
    assert ran.returncode == 0, ran.stderr
    loaded = json.loads(ran.stdout.splitlines()[-1])
    assert not set(HEAVY) & set(loaded)


def test_the_help_of_no_verb_loads_torch() -> None:
    ran = python(
        "import sys; from headway import cli\n"
        "for verb in cli.VERBS:\n"
        "    assert cli.main([verb, '--help']) == 0, verb\n"
        "    assert 'torch' not in sys.modules, verb\n"
    )
    assert ran.returncode == 0, ran.stderr
    for verb in cli.VERBS:
        assert b"Usage: headway " + verb.encode() in ran.stdout


@pytest.mark.parametrize("verb", cli.VERBS)
def test_every_verb_is_the_function_of_its_name(verb: str) -> None:
    assert cli.function_of(verb).__name__ == cli.home_of(verb)[1]


def test_help_names_every_verb_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    text = capsys.readouterr().out
    places = [text.index(f"│ {verb} ") for verb in cli.VERBS]
    assert places == sorted(places)


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == __version__


# -- options and settings


def test_a_verb_gets_its_options_and_every_other_flag_unread(install: Install) -> None:
    seen: dict[str, Any] = {}

    def probe(
        *overrides: Overrides, source: list[Path] | None = None, out: Path, resume: bool = False
    ) -> None:
        seen.update(overrides=overrides, source=source, out=out, resume=resume)

    install(probe)
    line = "probe --model.heads 4 --source a.en --out x --no-training.average --source b.en"
    assert cli.main([*line.split(), "--training.rate=-1", "--decoding.x", "-2", "--resume"]) == 0
    assert seen["source"] == [Path("a.en"), Path("b.en")]
    assert seen["out"] == Path("x")
    assert seen["resume"] is True
    assert parse_overrides(seen["overrides"]) == {
        "model": {"heads": "4"},
        "training": {"average": "false", "rate": "-1"},
        "decoding": {"x": "-2"},
    }


def test_a_misspelt_option_of_a_verb_with_settings_is_suggested(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    def probe(*overrides: Overrides, source: list[Path] | None = None, batch_size: int = 1) -> None:
        parse_overrides(overrides, options=option_names(probe))

    install(probe)
    assert list(option_names(probe, ())) == ["--source", "--batch-size"]
    assert cli.main(["probe", "--sorce", "a.en"]) == 2
    assert "unknown option --sorce; did you mean --source?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("trian --out x", "Did you mean 'train'?"),
        ("frobnicate", "the verbs are demo, prepare, train"),
        ("--out x", "a verb comes first; got --out"),
        ("probe --beem 5", "Did you mean --beam"),
        ("probe --beam 3 --beem 5", "--beem"),
        ("probe --beam five", "five"),
        ("probe", "--beam"),
    ],
)
def test_a_wrong_command_line_is_the_users(
    install: Install, capsys: pytest.CaptureFixture[str], line: str, says: str
) -> None:
    def probe(*, beam: int) -> None:
        raise AssertionError

    install(probe)
    assert cli.main(line.split()) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("headway: error: ")
    assert says in printed.err
    assert "Traceback" not in printed.err


# -- exit status


def raising(error: BaseException) -> Callable[[], None]:
    def probe() -> None:
        raise error

    return probe


@pytest.mark.parametrize(("result", "status"), [(None, 0), (0, 0), (3, 3)])
def test_a_verb_that_returns_decides_the_status(
    install: Install, result: int | None, status: int
) -> None:
    install(lambda: result)
    assert cli.main(["probe"]) == status


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (DataError("a.en has 3 lines, a.de has 4."), 2, "a.en has 3 lines, a.de has 4."),
        (HeadwayError("the weights are damaged."), 1, "the weights are damaged."),
        (KeyboardInterrupt(), 130, "interrupted"),
        (OSError(errno.ENOSPC, "No space left on device", "runs/x"), 1, "runs/x. Free some space"),
        (PermissionError(errno.EACCES, "Permission denied", "runs/x"), 2, "denied: runs/x. Check"),
        (FileNotFoundError(errno.ENOENT, "No such file", "a.en"), 2, "No such file: a.en."),
        (MemoryError("9 GB"), 1, "out of memory: 9 GB. Use a smaller batch"),
    ],
)
def test_expected_errors_are_one_line_and_no_traceback(
    install: Install,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    error: BaseException,
    status: int,
    says: str,
) -> None:
    install(raising(error))
    assert cli.main(["probe"]) == status
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("headway: error: ")
    assert printed.err.count("\n") == 1
    assert says in printed.err
    assert list(tmp_path.glob("headway-*")) == []


def test_an_error_that_nobody_can_read_keeps_its_status(install: Install) -> None:
    install(raising(DataError("a.en has 3 lines, a.de has 4.")))
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w", buffering=1) as pipe, redirect_stderr(pipe):
        assert cli.main(["probe"]) == 2  # and the pipe, which led nowhere, is closed in peace


class Panic(BaseException):
    """As tokenizers' PanicException: no Exception."""


@pytest.mark.parametrize("error", [KeyError("w\nq"), Panic("w\nq"), OSError(errno.EBADF, "w q")])
def test_an_unexpected_error_is_called_a_bug_and_its_traceback_is_kept(
    install: Install,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    error: BaseException,
) -> None:
    install(raising(error))
    assert cli.main(["probe"]) == 1
    printed = capsys.readouterr().err
    assert "This is a bug in headway" in printed
    assert "Traceback" not in printed
    (saved,) = tmp_path.glob("headway-*.txt")
    assert str(saved) in printed
    assert "raise error" in saved.read_text(encoding="utf-8")


@pytest.mark.parametrize("how", ["flag", "environment"])
def test_a_traceback_can_be_asked_for(
    install: Install,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    how: str,
) -> None:
    install(raising(KeyError("weights")))
    if how == "environment":
        monkeypatch.setenv("HEADWAY_TRACEBACK", "1")
    assert cli.main(["probe", *(["--traceback"] if how == "flag" else [])]) == 1
    printed = capsys.readouterr().err
    assert "Traceback (most recent call last)" in printed
    assert "This is a bug in headway; the traceback is above." in printed
    assert list(tmp_path.glob("headway-*")) == []


# -- streams

SAY = """
import sys, types
from headway import cli
home = types.ModuleType("headway.commands.probe")
def probe():
    {body}
home.probe = probe
sys.modules[home.__name__] = home
cli.VERBS["probe"] = "A verb for this test."
sys.exit(cli.main(["probe"]))
"""


@pytest.mark.parametrize("encoding", ["gbk", "ascii", "utf-8"])
def test_text_is_utf8_whatever_the_console(encoding: str) -> None:
    body = "print('我爱学习 naïve 🦊'); raise ValueError('错误')"
    ran = python(SAY.format(body=body), PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    assert ran.returncode == 1
    assert ran.stdout.decode("utf-8").strip() == "我爱学习 naïve 🦊"
    assert "错误" in ran.stderr.decode("utf-8")


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    body = "import os, signal; os.close(reader); print('x' * 100_000)"
    setup = "import os; reader, writer = os.pipe(); os.dup2(writer, 1); os.close(writer)\n"
    ran = python(setup + SAY.format(body=body))
    assert ran.returncode == 141
    assert ran.stderr == b""


FORGIVEN = """from headway.runs.console import forgiving_stderr  # with torch
    with forgiving_stderr(): print('a note', file=sys.stderr)"""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is full is needed")
@pytest.mark.parametrize(
    ("stream", "body", "status", "says"),
    [
        (1, "print('text')", 1, b"headway: error: standard output cannot be written: No space"),
        (1, "print('text', flush=True)", 1, b"standard output cannot be written: No space"),
        (1, "print('text'); raise HeadwayError('a rule')", 1, b"headway: error: a rule\n"),
        (2, "raise UserError('a rule')", 2, b""),
        (2, FORGIVEN, 0, b""),
    ],
)
def test_a_stream_on_a_full_disk_is_said_once_and_keeps_the_status(
    stream: int, body: str, status: int, says: bytes
) -> None:
    setup = (
        f"import os; os.dup2(os.open('/dev/full', os.O_WRONLY), {stream})\n"
        "from headway.core.errors import HeadwayError, UserError\n"
    )
    ran = python(setup + SAY.format(body=body), PYTHONUNBUFFERED="")
    assert ran.returncode == status
    assert says in ran.stderr
    assert ran.stderr.count(b"\n") == (stream == 1)


def test_streams_that_have_no_encoding_are_left_alone(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    install(lambda: print("我"))
    assert cli.main(["probe"]) == 0
    assert out.getvalue() == "我\n"


def test_a_closed_stream_is_said_and_no_file_takes_its_place(tmp_path: Path) -> None:
    body = "file = open('kept', 'w'); print('text'); file.close()"
    setup = f"import os; os.chdir({str(tmp_path)!r}); os.close(1); sys.stdout = None\n"
    ran = python("import sys\n" + setup + SAY.format(body=body))
    assert ran.returncode == 2
    assert b"standard output is closed" in ran.stderr
    assert (tmp_path / "kept").read_text() == ""
    body = "print(sys.stdin.buffer.read())"
    ran = python("import sys; sys.stdin = None\n" + SAY.format(body=body))
    assert ran.returncode == 2
    assert b"standard input is closed" in ran.stderr
    body = "print('text'); print('note', file=sys.stderr)"
    ran = python("import sys; sys.stderr = None\n" + SAY.format(body=body))
    assert (ran.returncode, ran.stdout) == (0, b"text\n")


def test_ctrl_c_that_became_another_error_is_still_one(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:  # as Python does while a class is made
            raise RuntimeError("Error calling __set_name__") from error

    install(interrupted)
    assert cli.main(["probe"]) == 130
    assert capsys.readouterr().err == "headway: error: interrupted\n"


@pytest.mark.parametrize("out", [["--out", ""], ["--out="]])
def test_an_empty_out_is_refused(out, tmp_path, monkeypatch) -> None:
    """It would be the folder that one is in."""
    monkeypatch.chdir(tmp_path)
    done = command("train", "--source", "a.en", "--target", "a.zh", *out)
    assert done.status == 2
    assert "got an empty name" in done.err
    assert not any(tmp_path.iterdir())
