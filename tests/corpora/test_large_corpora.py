"""However a large corpus is prepared, the same bytes come out of it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import small_pieces

WORDS = "one two three four five six seven eight nine ten".split()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """600 pairs: some twice, some blank, some too long, some copies, some that share a side."""
    path = tmp_path_factory.mktemp("corpus") / "pairs.tsv"
    rows = []
    for i in range(600):
        source = " ".join(WORDS[int(digit)] for digit in str(i if i % 7 else i // 2))
        target = source if i % 50 == 0 else source.upper() * {3: 40, 4: 3}.get(i % 90, 1)
        rows.append("one column" if i % 97 == 5 else f"{source}\t{'' if i % 80 == 9 else target}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def contents(cache: Path) -> dict[str, bytes]:
    """Every file of a cache."""
    files = (path for path in cache.rglob("*") if path.is_file())
    return {str(path.relative_to(cache)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def undisturbed(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What one process makes of it."""
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        _small(patch)
        prepared = small_pieces.prepare(corpus, cache, 1)
    report = prepared.report
    assert report.read == 600 == report.kept + report.dropped.total()
    assert min(report.dropped[reason] for reason in ("duplicate", "blank_side", "held_out")) > 0
    assert min(report.dropped[reason] for reason in ("one_column", "length_ratio")) > 0
    assert report.dropped["too_many_tokens"] > 0
    return contents(cache)


def _small(patch: pytest.MonkeyPatch) -> None:
    """Have the sizes that `small_pieces` sets put back."""
    patch.setattr("headway.corpora.many_pieces.PIECE_PAIRS", small_pieces.PAIRS)
    patch.setattr("headway.corpora.many_pieces.PIECES_ALONE", 1)
    patch.setattr("headway.corpora.prepared.IN_MEMORY", 0)


@pytest.mark.parametrize("workers", [2, 3])
def test_the_number_of_workers_changes_no_byte(
    workers: int,
    corpus: Path,
    undisturbed: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _small(monkeypatch)
    small_pieces.prepare(corpus, tmp_path, workers)
    assert contents(tmp_path) == undisturbed


def run(corpus: Path, cache: Path, stage: str = "", call: int = 0) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, small_pieces.__file__, str(corpus), str(cache), "2", stage, str(call)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )


@pytest.mark.skipif(os.name == "nt", reason="kills with a signal")
def test_a_process_that_is_killed_again_and_again_is_gone_on_with(
    corpus: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    points = [("reading", 1), ("reading", 9), ("comparing", 3), ("encoding", 7)]
    said = ""
    n_pieces = [0]
    for stage, call in points:
        process = run(corpus, tmp_path, stage, call)
        said, _ = process.communicate(timeout=280)
        assert process.returncode == -signal.SIGKILL
        n_pieces.append(len(list(tmp_path.glob(".*.work/*"))))
    assert n_pieces[2] >= 9
    assert "going on with what an ended process left" in said
    process = run(corpus, tmp_path)
    assert process.communicate(timeout=280)[0].endswith("done\n")
    assert {
        name: data for name, data in contents(tmp_path).items() if not name.startswith(".")
    } == undisturbed


def test_pieces_that_are_there_are_not_made_again(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _small(monkeypatch)

    def stop(stage: str, _done: int, _total: int | None) -> None:
        if stage == "comparing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small_pieces.prepare(corpus, tmp_path, 1, stop)
    pieces = sorted(tmp_path.glob(".cleaned-*.work/train-*"))
    assert len(pieces) == 600 // small_pieces.PAIRS
    damaged = pieces[3] / f"{pieces[3].name}.tsv"
    damaged.write_bytes(damaged.read_bytes().replace(b"one", b"1", 1))
    made = []
    monkeypatch.setattr(
        "headway.corpora.many_pieces._cleaned",
        lambda block, *_others: made.append(block.number) or {},
    )
    with pytest.raises(KeyError):  # what this makes of the damaged piece is none
        small_pieces.prepare(corpus, tmp_path, 1)
    assert made == [3]


@pytest.mark.skipif(os.name == "nt", reason="kills with a signal")
def test_a_worker_that_is_killed_changes_no_byte(
    corpus: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    process = run(corpus, tmp_path, "worker", 4)
    said, _ = process.communicate(timeout=280)
    assert "killed a worker" in said
    assert contents(tmp_path) == undisturbed


def test_two_processes_that_prepare_the_same_do_it_once(
    corpus: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    both = [run(corpus, tmp_path), run(corpus, tmp_path)]
    said = [process.communicate(timeout=280)[0] for process in both]
    assert all(text.endswith("done\n") for text in said)
    assert contents(tmp_path) == undisturbed
