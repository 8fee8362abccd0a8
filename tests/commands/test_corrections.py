"""`headway corrections`: a table that train reads, counts, and what is refused."""

from pathlib import Path

import pytest
from everyday_run import command

from headway.core.cleaning import Report
from headway.corpora.corpus import Corpus, read_pairs


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    old, new = tmp_path / "old.tsv", tmp_path / "new.tsv"
    old.write_text("en\tde\none\teins\ntwo\tzwei\nthree\tdrey\n", encoding="utf-8")
    new.write_text("en\tde\none\teins\ntwo\tzwo\nthree\tdrei\nfour\tvier\n", encoding="utf-8")
    return old, new


def test_what_comes_out_is_what_train_reads(files, tmp_path):
    out = tmp_path / "fix.tsv"
    done = command("corrections", *map(str, files), "--out", str(out))
    assert done.status == 0, done.err
    assert "2 corrected, 1 as they were, 1 new" in done.err
    assert f"--pairs {out}" in done.err
    report = Report()
    pairs = [pair[:2] for pair in read_pairs(Corpus(pairs=(out,)), report)]
    assert pairs == [("two", "zwo"), ("three", "drei")]
    assert report.dropped == {"header": 1}
    rows = out.read_text(encoding="utf-8").splitlines()
    assert [row.split("\t")[2] for row in rows] == ["before", "zwei", "drey"]


def test_without_a_file_the_table_goes_to_standard_output(files):
    done = command("corrections", *map(str, files))
    assert done.status == 0, done.err
    assert done.out.splitlines()[1] == "two\tzwo\tzwei"


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("new.tsv", "may not replace"),
        ("fix.po", "written as a .tsv"),
        ("fix.tsv.gz", "written as a .tsv"),
    ],
)
def test_places_that_would_harm_are_refused(files, tmp_path, out, said):
    before = files[1].read_bytes()
    done = command("corrections", *map(str, files), "--out", str(tmp_path / out))
    assert done.status == 2
    assert said in done.err
    assert files[1].read_bytes() == before


def test_two_folders_are_compared_file_by_file(tmp_path):
    for folder, word in (("old", "zwei"), ("new", "zwo")):
        for name in ("a.po", "deep/b.po", f"{folder}.po"):
            file = tmp_path / folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            text = f'msgid "two"\nmsgstr "{word}"\n\nmsgid "{name}"\nmsgstr "x"\n'
            file.write_text(text, encoding="utf-8")
        (tmp_path / folder / "c.tsv").write_text(f"two\t{word}!\n", encoding="utf-8")
    folders = [str(tmp_path / name) for name in ("old", "new")]
    done = command("corrections", *folders)
    assert done.status == 0, done.err
    assert done.out.splitlines()[1:] == ["two\tzwo\tzwei"], "said twice, written once"
    assert "2 corrected, 2 as they were" in done.err
    assert "old, and passed over: 1" in done.err
    assert "compared only by name, and passed over: 1" in done.err
    assert "c.tsv)" in done.err
    assert command("corrections", folders[0], str(tmp_path / "new" / "a.po")).status == 2
    (tmp_path / "empty").mkdir()
    assert "has none of those" in command("corrections", str(tmp_path / "empty"), folders[1]).err
    none = command("corrections", folders[0], str(tmp_path / "empty"))
    assert (none.status, "pattern" in none.err) == (2, False), "it takes none"
    assert "Name two files, one of each folder" in none.err
