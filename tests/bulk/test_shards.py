"""Laws of shards: their concatenation is the whole, whoever wrote them and however often."""

import errno
import gzip
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from headway.bulk import shards
from headway.bulk.attempts import BlockOutput, BlockPart
from headway.bulk.job import HereRunner, translate_shards_of
from headway.bulk.reading import ReadingState, shard_blocks
from headway.bulk.shards import Shard, ShardFolder
from headway.core.disk import DiskError
from headway.core.errors import ConfigError, DataError
from headway.operations.processes import JobPart

PLAN = {"run": "a", "inputs": {}, "shard_lines": 3}


def reversed_lines(part: BlockPart) -> BlockOutput:
    lines = [(line or b"")[::-1] + b"\n" for line in part.lines]
    blank = tuple((n, "too long") for n, line in enumerate(part.lines) if line is None)
    return BlockOutput(b"".join(lines), len(lines), blank=blank)


def job(files, out, shard_lines=3, part=JobPart(), work=reversed_lines, plan=PLAN):  # noqa: B008
    folder = ShardFolder(out, lambda _: None)
    folder.agree({**plan, "shard_lines": shard_lines})
    done = []

    def noting(one: BlockPart) -> BlockOutput:
        done.append(one)
        return work(one)

    progress, state, _ = translate_shards_of(
        files, folder, HereRunner(noting), shard_lines, part, lambda _: None
    )
    return folder, state, done, progress


def whole(out: Path) -> bytes:
    shards = sorted(out.glob("[!.]*"))
    return b"".join(
        gzip.decompress(one.read_bytes()) if one.suffix == ".gz" else one.read_bytes()
        for one in shards
    )


lines = some.lists(some.binary(max_size=8).map(lambda raw: raw.replace(b"\n", b"")), min_size=1)


@settings(max_examples=20, deadline=None)
@given(some.lists(lines, min_size=1, max_size=3), some.integers(1, 7), some.integers(1, 3))
def test_shards_of_all_parts_together_are_every_line_once_and_in_order(
    tmp_path_factory, texts, shard_lines, n_parts
) -> None:
    place = tmp_path_factory.mktemp("bulk")
    files = []
    for number, text in enumerate(texts):
        raw = b"".join(line + b"\n" for line in text)
        files.append(place / f"{number}.{'gz' if number % 2 else 'txt'}")
        files[-1].write_bytes(gzip.compress(raw) if number % 2 else raw)
    out = place / "out"
    for number in range(1, n_parts + 1):
        folder, *_ = job(files, out, shard_lines, JobPart(number, n_parts))
    # A byte order mark at the beginning of a file is no part of its first line.
    texts = [[text[0].removeprefix(b"\xef\xbb\xbf"), *text[1:]] for text in texts]
    assert whole(out) == b"".join(line[::-1] + b"\n" for text in texts for line in text)
    manifest = folder.write_manifest(files)
    assert manifest["missing"] == 0
    assert manifest["lines"] == sum(map(len, texts))
    for shard in manifest["shards"]:
        data = (out / shard["file"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == shard["sha256"]
        assert shard["tries"] == 1


def numbered(place: Path, n_lines: int) -> Path:
    place.write_bytes(b"".join(b"%d\n" % n for n in range(n_lines)))
    return place


def test_what_is_finished_is_not_done_again_and_what_is_gone_or_cut_off_is(tmp_path) -> None:
    files = [numbered(tmp_path / "a", 10)]
    folder, _, done, _ = job(files, tmp_path / "out")
    assert len(done) == 4
    before = whole(tmp_path / "out")
    assert job(files, tmp_path / "out")[2] == []
    (tmp_path / "out" / "00000-00001.a").unlink()
    (tmp_path / "out" / "00000-00003.a").write_bytes(b"")
    assert [one.lines[0] for one in job(files, tmp_path / "out")[2]] == [b"3", b"9"]
    assert whole(tmp_path / "out") == before
    tries = [shard["tries"] for shard in folder.write_manifest(files)["shards"]]
    assert tries == [1, 2, 1, 2]


def test_what_was_done_before_counts_as_read(tmp_path) -> None:
    files = [numbered(tmp_path / "a", 10), numbered(tmp_path / "b", 5)]
    job(files, tmp_path / "out")
    (tmp_path / "out" / "00001-00000.b").unlink()
    progress = job(files, tmp_path / "out")[3]
    assert (progress.n_lines, progress.n_read) == (3, 15)


def test_a_shard_that_was_begun_when_all_was_killed_is_begun_again(tmp_path) -> None:
    """Killed after the rename, before the shard was noted; and in the middle of writing."""
    files = [numbered(tmp_path / "a", 6)]
    script = (
        "import os, signal, sys; sys.path[:0] = {path!r}\n"
        "import headway.bulk.shards as shards\n"
        "from test_shards import job\nfrom pathlib import Path\n"
        "n, before = 0, shards.checksum\n"
        "def checksum(place):\n"
        "    if place.name.startswith('00000-00001'): os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return before(place)\n"
        "shards.checksum = checksum\n"
        "job([Path({file!r})], Path({out!r}))\n"
    ).format(path=[str(Path(__file__).parent)], file=str(files[0]), out=str(tmp_path / "out"))
    done = subprocess.run([sys.executable, "-c", script], timeout=60, check=False)
    assert done.returncode == -9
    _, _, parts, _ = job(files, tmp_path / "out")
    assert [one.lines for one in parts] == [[b"3", b"4", b"5"]]
    assert whole(tmp_path / "out") == b"0\n1\n2\n3\n4\n5\n"
    receipt = json.loads((tmp_path / "out" / ".headway" / "00000-00001.json").read_text())
    assert receipt["tries"] == 2


def test_two_processes_never_write_the_same_shard(tmp_path) -> None:
    folder = ShardFolder(tmp_path / "out", lambda _: None)
    folder.agree(PLAN)
    shard = Shard(0, 0, tmp_path / "a")
    writer = folder.begin(shard)
    assert writer is not None
    other = ShardFolder(tmp_path / "out", lambda _: None)
    assert other.begin(shard) is None
    assert other.n_taken == 1
    writer.add(BlockOutput(b"x\n", 1))
    writer.finish()
    assert other.begin(shard) is None
    assert (tmp_path / "out" / shard.name).read_bytes() == b"x\n"


def test_a_shard_that_another_finishes_before_the_lock_is_had_stays(tmp_path, monkeypatch) -> None:
    folder = ShardFolder(tmp_path / "out", lambda _: None)
    folder.agree(PLAN)
    shard, lock = Shard(0, 0, tmp_path / "a"), shards.only_writer

    def after_another(place, say):
        monkeypatch.setattr(shards, "only_writer", lock)
        folder.begin(shard).finish()
        return lock(place, say)

    monkeypatch.setattr(shards, "only_writer", after_another)
    assert ShardFolder(tmp_path / "out", lambda _: None).begin(shard) is None
    assert folder.is_finished(shard)
    assert sorted(one.name for one in folder.out.iterdir()) == [".headway", shard.name]


def test_a_full_disk_ends_the_job_and_is_no_damaged_file(tmp_path, monkeypatch) -> None:
    def full(place, text):
        raise DiskError(place, OSError(errno.ENOSPC, "no room"))

    monkeypatch.setattr(shards, "write_text", full)
    folder = ShardFolder(tmp_path / "out", lambda _: None)
    folder.notes.mkdir(parents=True)
    with pytest.raises(DiskError, match="its disk is full"):
        translate_shards_of([numbered(tmp_path / "a", 2)], folder, HereRunner(reversed_lines), 3,
                            JobPart(), lambda _: None)  # fmt: skip
    assert [one.name for one in folder.out.iterdir()] == [".headway"]


def test_another_job_and_a_folder_with_other_files_are_refused(tmp_path) -> None:
    folder = ShardFolder(tmp_path / "out", lambda _: None)
    folder.agree({**PLAN, "inputs": {"a": [1, 2]}})
    for other in ({"run": "b"}, {"inputs": {"a": [1, 3]}}, {"inputs": {}}, {"shard_lines": 4}):
        with pytest.raises(ConfigError, match=f"another job: {next(iter(other))}"):
            folder.agree({**PLAN, "inputs": {"a": [1, 2]}, **other})
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").touch()
    with pytest.raises(ConfigError, match=r"has letter\.txt"):
        ShardFolder(tmp_path / "full", lambda _: None).agree(PLAN)


def test_a_file_that_breaks_off_costs_its_last_shard_and_no_other_file(tmp_path) -> None:
    packed = gzip.compress(b"".join(hashlib.sha256(b"%d" % n).digest().hex().encode() + b"\n"
                                    for n in range(60_000)))  # fmt: skip
    (tmp_path / "a.gz").write_bytes(packed[: len(packed) // 2])
    files = [tmp_path / "a.gz", numbered(tmp_path / "b", 2)]
    folder, state, _, _ = job(files, tmp_path / "out", 10_000)
    assert "a.gz is damaged or cut off" in state.damaged[0]
    names = [one.name for one in sorted((tmp_path / "out").glob("[!.]*"))]
    assert names[-1] == "00001-00000.b"
    assert 2 <= len(names) < 6
    manifest = folder.write_manifest(files)
    assert manifest["missing"] == 1
    assert manifest["lines"] == 10_000 * (len(names) - 1) + 2
    assert not list((tmp_path / "out").glob(".*.part"))


def test_each_of_several_damaged_files_costs_its_last_shard(tmp_path) -> None:
    packed = gzip.compress(b"".join(hashlib.sha256(b"%d" % n).digest() for n in range(60_000)))
    (tmp_path / "a.gz").write_bytes(packed[:-2000])
    (tmp_path / "b.gz").write_bytes(packed[:5])
    (tmp_path / "c.gz").write_bytes(packed[:-9])
    files = [tmp_path / "a.gz", tmp_path / "b.gz", tmp_path / "c.gz", numbered(tmp_path / "d", 2)]
    folder, state, _, _ = job(files, tmp_path / "out", 10**6)
    for file, told in zip(files, state.damaged, strict=False):
        assert f"{file.name} is damaged" in told
    assert folder.write_manifest(files)["lines"] == 2
    other, state = ShardFolder(tmp_path / "other", lambda _: None), ReadingState(state.sizes)
    other.agree(PLAN)
    blocks = shard_blocks(files, other, 10**6, lambda _: True, state)
    ended = [block.owner.writer.shard.file for block in blocks if block.owner.end]
    other.close()
    assert ended == [0, 2, 3]
    assert state.n_bytes == sum(file.stat().st_size for file in files)


def test_a_shard_that_is_begun_again_leaves_nothing_of_what_a_killed_process_wrote(
    tmp_path,
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".00000-00000.a.1.part").touch()
    job([numbered(tmp_path / "a", 2)], tmp_path / "out")
    assert not list((tmp_path / "out").glob(".*.part"))


def test_the_notes_are_listed_once_for_any_number_of_files(tmp_path, monkeypatch) -> None:
    files = [numbered(tmp_path / f"{n}", 4) for n in range(12)]
    folder, *_ = job(files, tmp_path / "out", 2)
    listed, glob = list[str](), Path.glob
    monkeypatch.setattr(Path, "glob", lambda at, name: listed.append(name) or glob(at, name))
    found = folder.write_manifest(files)
    assert len([name for name in listed if name.endswith("-*.json")]) == 1
    names = [one["file"] for one in found["shards"]]
    assert names == [f"{n:05}-{k:05}.{n}" for n in range(12) for k in range(2)]


def test_so_many_files_or_shards_that_names_were_out_of_order_are_refused(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(shards, "MOST_NUMBERED", 3)
    files = [numbered(tmp_path / "a", 3)]
    job(files, tmp_path / "out", 1)
    with pytest.raises(ConfigError, match="at most 3 shards.*b has more. Give more --shard-lines"):
        job([numbered(tmp_path / "b", 4)], tmp_path / "other", 1)
    inputs = {f"{n:05} a": [0, 0] for n in range(4)}
    with pytest.raises(ConfigError, match="at most 3 files.*got 4. Put files together"):
        job(files, tmp_path / "third", plan={**PLAN, "inputs": inputs})


def refusing(n_blank: int):
    """Leaves the first lines of a block blank."""

    def work(part: BlockPart) -> BlockOutput:
        n = len(part.lines)
        blank = tuple((i, "it is not UTF-8") for i in range(min(n, n_blank)))
        return BlockOutput(b"\n" * n, n, blank=blank)

    return work


@pytest.mark.parametrize(("n_lines", "n_blank"), [(1000, 1000), (2, 2), (80, 80), (80, 33)])
def test_a_file_that_is_no_text_is_refused_with_the_remedy(tmp_path, n_lines, n_blank) -> None:
    files = [numbered(tmp_path / "a", n_lines)]
    with pytest.raises(DataError, match="iconv"):
        job(files, tmp_path / "out", 500, work=refusing(n_blank))
    assert not list((tmp_path / "out").glob("*.a*"))


@pytest.mark.parametrize(("n_lines", "n_blank"), [(1, 1), (3, 2), (20, 10), (500, 50)])
def test_few_bad_lines_stop_nothing(tmp_path, n_lines, n_blank) -> None:
    files = [numbered(tmp_path / "a", n_lines)]
    folder, *_ = job(files, tmp_path / "out", 500, work=refusing(n_blank))
    assert folder.write_manifest(files)["untranslated"] == n_blank


def test_a_line_that_is_too_long_is_listed_with_its_file_and_number(tmp_path) -> None:
    (tmp_path / "a").write_bytes(b"1\n2\n3\n4\n" + b"x" * ((1 << 20) + 1) + b"\n6\n")
    folder, *_ = job([tmp_path / "a"], tmp_path / "out", 3)
    assert whole(tmp_path / "out") == b"1\n2\n3\n4\n\n6\n"
    assert folder.write_manifest([tmp_path / "a"])["untranslated"] == 1
    table = (tmp_path / "out" / ".headway" / "untranslated.tsv").read_text(encoding="utf-8")
    assert table == f"{tmp_path / 'a'}\t5\ttoo long\n"


def test_how_much_was_read_is_of_the_lines_that_were_given_out(tmp_path) -> None:
    """And not of what lies in a buffer: the time that is left is reckoned by it."""
    file = tmp_path / "a"
    file.write_bytes(b"123456789\n" * 300_000)
    folder = ShardFolder(tmp_path / "out", lambda _: None)
    folder.agree(PLAN)
    state = ReadingState([file.stat().st_size])
    places = [
        (state.n_bytes, 10 * state.n_lines)
        for _ in shard_blocks([file], folder, 100_000, lambda shard: shard.number != 1, state)
    ]
    folder.close()
    assert len(places) > 20
    assert all(n_bytes == of_lines for n_bytes, of_lines in places)
    assert state.n_lines == 300_000
