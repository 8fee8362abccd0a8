"""Names that are no UTF-8, a C locale, streams that are closed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from everyday_run import command

from headway.cli import main
from headway.tasks import TASKS

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux"),
    pytest.mark.usefixtures("torch_settings_restored"),
]
SOURCE = Path(__file__).parent.parent.parent / "src"
LATIN = os.fsdecode(b"caf\xe9")
HEADWAY = f'{sys.executable} -c "import sys; from headway.cli import main; sys.exit(main())"'
TWICE = (
    f"{sys.executable} -c \"import sys; from headway.cli import main; at = sys.argv.index('then'); "
    'sys.exit(10 * main(sys.argv[1:at]) + main(sys.argv[at + 1 :]))"'
)
"""One process for two commands."""


@pytest.fixture
def place(
    everyday_files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Pairs under such a name."""
    monkeypatch.chdir(tmp_path)
    for file in everyday_files:
        (tmp_path / f"{LATIN}{file.suffix}").write_bytes(file.read_bytes())
    return tmp_path


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """What a command of the shell does; `headway` is this one, `twice` the same for two verbs."""
    known = {**os.environ, "PYTHONPATH": str(SOURCE), **environment}
    return subprocess.run(
        ["sh", "-c", line.replace("headway ", f"{HEADWAY} ").replace("twice ", f"{TWICE} ")],
        env=known, capture_output=True, check=False,
    )  # fmt: skip


def test_a_run_whose_settings_could_not_name_its_files_is_refused_before_anything_is_read(
    place: Path, everyday_files: tuple[Path, Path], everyday_run: Path, own_cache: Path
) -> None:
    good = " ".join(f"--{s} {f}" for s, f in zip(("source", "target"), everyday_files, strict=True))
    for arguments in (
        f"--source {LATIN}.en --target {LATIN}.zh --out run", f"{good} --out {LATIN}",
        f"{good} --out run --init-from {LATIN}",
    ):  # fmt: skip
        ran = command("train", *arguments.split())
        assert ran.status == 2
        assert "has a name in UTF-8; got " in ran.err
        assert "Rename it." in ran.err
    (place / LATIN).symlink_to(everyday_run)
    ran = command("translate", LATIN, f"{LATIN}.en")
    assert (ran.status, ran.out) == (2, "")
    assert "Rename it." in ran.err
    assert {path.name for path in place.iterdir()} == {f"{LATIN}.en", f"{LATIN}.zh", LATIN}
    assert list(own_cache.iterdir()) == []


@pytest.mark.parametrize("task", [task for task in TASKS if task != "translation"])
def test_no_task_learns_from_a_corpus_of_such_a_name(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if task == "images":
        Path(LATIN).mkdir()
    else:
        Path(LATIN).write_text("fine\tO\n", encoding="utf-8")
    refused = command("train", "--task", task, "--corpus", LATIN, "--out", "run")
    assert refused.status == 2, refused.err
    assert "has a name in UTF-8; got " in refused.err


def test_such_a_file_is_translated_scored_and_examined(place: Path, everyday_run: Path) -> None:
    ran = command("translate", str(everyday_run), f"{LATIN}.en", "--out", f"new{LATIN}")
    assert ran.status == 0, ran.err
    assert (place / f"new{LATIN}").read_bytes().count(b"\n") == 300
    ran = shell(f"headway evaluate --hypothesis new{LATIN} --reference {LATIN}.zh --json")
    assert ran.returncode == 0, ran.stderr
    assert b"caf\\\\udce9" in ran.stdout
    json.loads(ran.stdout)  # is UTF-8
    both = f"--source {LATIN}.en --target {LATIN}.zh"
    made = f"--page {LATIN}.html --suspects {LATIN}.tsv --out {LATIN}.clean"
    examined = command("prepare", *both.split(), *made.split(), "--json")
    assert examined.status == 0, examined.err
    json.loads(examined.out)
    (place / f"{LATIN}.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "arguments",
    [
        "translate demo text.en --out round", "translate demo text.en --out round/x",
        "translate round text.en", "evaluate --hypothesis round --reference text.en",
        "inspect round", "compare round round",
        "train --source text.en --target text.en --out round",
    ],
)  # fmt: skip
def test_links_in_a_circle_are_the_users_to_mend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "round").symlink_to("back")
    (tmp_path / "back").symlink_to("round")
    (tmp_path / "text.en").write_text("The dog runs.\n", encoding="utf-8")
    ran = command(*arguments.split())
    assert ran.status == 2, ran.err
    assert "bug in headway" not in ran.err
    assert "round" in ran.err


def test_a_c_locale_changes_nothing(place: Path, everyday_run: Path) -> None:
    (place / "données.en").write_text("The dog runs.\n", encoding="utf-8")
    as_usual = command("translate", str(everyday_run), "données.en", "--runtime.threads", "1")
    assert as_usual.status == 0, as_usual.err
    bare = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    translate = f"translate {everyday_run} données.en --runtime.threads 1"
    train = "train --source données.en --target données.en --out run"
    ran = shell(f"twice {translate} then {train}", **bare)
    assert (ran.returncode, ran.stdout.decode()) == (2, as_usual.out), ran.stderr  # train's 2
    assert b"PYTHONUTF8=1" in ran.stderr


@pytest.mark.parametrize(
    ("stream", "line", "words"),
    [
        ("stdin", "translate RUN", "standard input is closed. Name a file."),
        ("stdout", "translate RUN new.en", "standard output is closed. Give --out"),
        ("stdout", "prepare --source SRC --target TGT", "standard output is closed"),
    ],
)
def test_a_verb_says_what_to_do_without_a_stream(
    stream: str,
    line: str,
    words: str,
    place: Path,
    everyday_run: Path,
    everyday_files: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (place / "new.en").write_text("The dog runs.\n", encoding="utf-8")
    names = {"RUN": everyday_run, "SRC": everyday_files[0], "TGT": everyday_files[1]}
    monkeypatch.setattr(sys, stream, None)  # as where it is closed
    assert main([str(names.get(word, word)) for word in line.split()]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "bug" not in said


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("headway translate RUN new.en --out a.zh <&- >&- 2>&-", 0, b""),
        ("headway evaluate --hypothesis new.en --reference new.en >&-", 2, b"output is closed"),
        ("headway train --source nosuch --target nosuch --out r 2>&-", 2, b""),
    ],
)
def test_a_closed_stream_is_said_where_it_is_needed(
    line: str, status: int, words: bytes, place: Path, everyday_run: Path
) -> None:
    (place / "new.en").write_text("The dog runs.\n", encoding="utf-8")
    ran = shell(line.replace("RUN", str(everyday_run)))
    assert ran.returncode == status, ran.stderr
    assert words in ran.stderr
    assert b"bug" not in ran.stderr
