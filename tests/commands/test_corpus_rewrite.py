import gzip
from pathlib import Path

import pytest
from everyday_run import command

from headway.cli import main
from headway.commands.corpus_rewrite import droppable
from headway.core.cleaning import Report
from headway.corpora.corpus import Corpus, read_pairs
from headway.demo import generate
from headway.doctor.corpus_fixes import FIXES

MANY = list(generate(500, 3))
PAIRS = MANY[:120]
NOISE = [
    ("It is caf\u00c3\u00a9 &amp; tea.", "是咖啡  和茶。"),
    ("The same again.", "The same again."),
    ("Nobody knows.", ""),
]
ROWS = [*PAIRS[:60], *NOISE, *PAIRS[60:], PAIRS[5]]
DROPPED = {61: "copy", 62: "untranslated", 123: "duplicate"}
"""By row, from 0."""
DROP = ("--drop", "copy", "duplicate", "untranslated", "blank_side")
FIX = ("--fix", "mojibake", "entities", "white_space", "not_nfc", "invisible")


def prepare(*arguments: str) -> int:
    return main(["prepare", *arguments])


def escaped(text: str) -> str:
    return text.replace("&", "&amp;")


def tmx(rows: list[tuple[str, str]]) -> str:
    units = "".join(
        f'\r\n <tu>\r\n  <tuv xml:lang="en"><seg>{escaped(s)}</seg></tuv>\r\n  '
        f'<tuv xml:lang="zh"><seg>{escaped(t)}</seg></tuv>\r\n </tu>'
        for s, t in rows
    )
    return f'<tmx version="1.4"><header srclang="en"/>\r\n<body>{units}\r\n</body></tmx>\r\n'


WRITERS = {
    "a.tsv": lambda rows: "".join(f"{s}\t{t}\tx\r\n" for s, t in rows),
    "a.tmx": tmx,
}


def mended(name: str, rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """What the fixes should make of the noise; a PO's messages stay."""
    meant = {
        NOISE[0][0]: NOISE[0][0] if name == "a.po" else "It is café & tea.",
        NOISE[0][1]: "是咖啡 和茶。",
    }
    return [(meant.get(s, s), meant.get(t, t)) for s, t in rows]


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_dropped_is_gone_and_every_other_byte_stays(name: str, tmp_path: Path) -> None:
    write = WRITERS[name]
    source, out = tmp_path / name, tmp_path / f"new-{name}"
    source.write_bytes(write(ROWS).encode())
    before = source.read_bytes()
    assert prepare("--pairs", str(source), *DROP, "--out", str(out)) == 0
    left = [row for n, row in enumerate(ROWS) if n not in DROPPED]
    assert out.read_bytes() == write(left).encode()
    assert source.read_bytes() == before
    log = (tmp_path / f"new-{name}.changes.tsv").read_text(encoding="utf-8").splitlines()
    assert len(log) == 1 + len(DROPPED)
    kinds = {cells[1].split()[0] for cells in (line.split("\t") for line in log[1:])}
    assert {"copy", "duplicate"} <= kinds <= {"copy", "duplicate", "untranslated", "blank_side"}


def test_the_table_of_changes_has_both_texts_of_what_is_dropped(tmp_path: Path) -> None:
    odd = [("A short one.", "很长的句子" * 60), ("Nobody knows.", "")]
    source, out = tmp_path / "a.tsv", tmp_path / "b.tsv"
    source.write_bytes(WRITERS["a.tsv"]([*PAIRS, *odd]).encode())
    drop = ("--drop", "length_ratio", "blank_side", "--out", str(out))
    assert prepare("--pairs", str(source), *drop) == 0
    log = (tmp_path / "b.tsv.changes.tsv").read_text(encoding="utf-8").splitlines()
    assert [tuple(line.split("\t")[4:6]) for line in log[1:]] == odd


@pytest.mark.parametrize("name", WRITERS)
def test_texts_are_mended_and_every_other_byte_stays(name: str, tmp_path: Path) -> None:
    write = WRITERS[name]
    source, out = tmp_path / f"{name}.gz", tmp_path / f"new-{name}"
    source.write_bytes(gzip.compress(write(ROWS).encode()))
    assert prepare("--pairs", str(source), *FIX, "--out", str(out)) == 0
    assert out.read_bytes() == write(mended(name, ROWS)).encode()
    log = (tmp_path / f"new-{name}.changes.tsv").read_text(encoding="utf-8").split("\n")[1:-1]
    changes = [line.split("\t")[4:8] for line in log]
    assert changes
    for *before, source, target in changes:
        assert before != [source, target], "what was changed can be seen"


def test_a_unit_of_several_languages_that_is_dropped_is_said(tmp_path: Path) -> None:
    path = tmp_path / "m.tmx"
    texts = [*PAIRS[:30], ("Same here.", "Same here.")]
    units = "".join(
        f'<tu><tuv xml:lang="en"><seg>{one}</seg></tuv><tuv xml:lang="zh"><seg>{other}</seg></tuv>'
        f'<tuv xml:lang="fr"><seg>x{n}</seg></tuv></tu>\n'
        for n, (one, other) in enumerate(texts)
    )
    path.write_text(f'<tmx version="1.4"><body>{units}</body></tmx>', encoding="utf-8")
    of = ("--source-language", "en", "--target-language", "zh")
    done = command(
        "prepare", "--pairs", str(path), *of, "--drop", "copy", "--out", str(tmp_path / "n.tmx")
    )
    assert done.status == 0, done.err
    assert "1 of the dropped had other languages, which went too" in done.err


def test_two_text_files_and_several_go_to_a_folder(tmp_path: Path) -> None:
    for n, suffix in enumerate(("en", "zh")):
        text = "".join(f"{row[n]}\n" for row in ROWS)
        (tmp_path / f"t.{suffix}").write_text(text, encoding="utf-8")
    (tmp_path / "a.tsv").write_text(WRITERS["a.tsv"](PAIRS[:9]), encoding="utf-8")
    files = ["--source", str(tmp_path / "t.en"), "--target", str(tmp_path / "t.zh")]
    out = tmp_path / "out"
    both = [*files, "--pairs", str(tmp_path / "a.tsv"), "--out", str(out)]
    assert prepare(*both, "--drop", "blank_side", "copy") == 0
    left = [row for row in ROWS if row[1] and row[0] != row[1]]
    for n, suffix in enumerate(("en", "zh")):
        lines = (out / f"t.{suffix}").read_text(encoding="utf-8").split("\n")[:-1]
        assert lines == [row[n] for row in left]
    assert (out / "a.tsv").read_bytes() == (tmp_path / "a.tsv").read_bytes()
    assert (out / "changes.tsv").exists()


@pytest.mark.parametrize("kind", ["two", "a.tsv", "a.tmx"])
@pytest.mark.parametrize("lost", ["source", "target"])
def test_shifted_stretches_are_left_out(kind: str, lost: str, tmp_path: Path) -> None:
    sources, targets = (list(side) for side in zip(*MANY, strict=True))
    del (sources if lost == "source" else targets)[250]
    shifted = list(zip(sources, targets, strict=False))
    if kind == "two":
        for suffix, side in zip(("en", "zh"), zip(*shifted, strict=True), strict=True):
            (tmp_path / f"t.{suffix}").write_text("\n".join([*side, ""]), encoding="utf-8")
        files = ["--source", str(tmp_path / "t.en"), "--target", str(tmp_path / "t.zh")]
        out = tmp_path / "out"
    else:
        (tmp_path / kind).write_text(WRITERS[kind](shifted), encoding="utf-8")
        files = ["--pairs", str(tmp_path / kind)]
        out = tmp_path / f"new-{kind}"
    assert prepare(*files, "--strict", "--drop", "misaligned", "--out", str(out)) == 3
    if kind == "two":
        lines = [(out / f"t.{s}").read_text(encoding="utf-8").split("\n") for s in ("en", "zh")]
        found = list(zip(*lines, strict=True))[:-1]
    else:
        corpus = Corpus(pairs=(out,), source_language="en", target_language="zh")
        found = [(pair.source, pair.target) for pair in read_pairs(corpus, Report())]
    assert set(found) <= set(MANY)
    assert len(set(MANY[:220]) - set(found)) == 0


def test_leaks_of_a_corpus_that_is_read_both_ways_are_left_out_as_such(tmp_path: Path) -> None:
    held = PAIRS[:9]
    ways = {"a.tsv": ("en\tzh", PAIRS), "b.tsv": ("zh\ten", [pair[::-1] for pair in PAIRS])}
    for name, (head, rows) in {**ways, "v.tsv": ("en\tzh", held)}.items():
        lines = [head, *("\t".join(row) for row in rows), ""]
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    files = ["--pairs", f"{tmp_path / 'a.tsv'}:tag=zh", f"{tmp_path / 'b.tsv'}:tag=en"]
    files += ["--valid-pairs", f"{tmp_path / 'v.tsv'}:tag=zh"]
    assert prepare(*files, "--drop", "leakage", "--out", str(tmp_path / "out")) == 0
    texts = {text for pair in held for text in pair}
    for name, (head, rows) in ways.items():
        left = ["\t".join(row) for row in rows if not texts & {*row}]
        found = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert found == "\n".join([head, *left, ""])


def test_what_cannot_be_done_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.tsv").write_text(WRITERS["a.tsv"](PAIRS), encoding="utf-8")
    tsv = str(tmp_path / "a.tsv")
    new = str(tmp_path / "new.tsv")
    en, zh = str(tmp_path / "a.en"), str(tmp_path / "a.zh")
    for side in (en, zh):
        Path(side).write_text("One.\nTwo.\n", encoding="utf-8")
    two = ["--source", en, "--target", zh]
    for arguments, words in (
        (["--pairs", tsv, "--drop", "trunctated", "--out", new], "Did you mean truncated?"),
        (["--pairs", tsv, "--fix", "typos", "--out", new], "  mojibake  "),
        (["--pairs", tsv, "--drop", "copy"], "they need --out"),
        (["--pairs", tsv, "--drop", "copy", "--out", tsv], "must not overwrite what was read"),
        (["--pairs", tsv, "--drop", "copy", "--out", "x.po"], "of the same kind"),
        ([*two, "--drop", "copy", "--out", en], "or choose another place"),
        (["--pairs", tsv, "--fix", "misaligned", "--out", new], "knows no kind"),
        (["--pairs", tsv, "--page", new, "--suspects", new], "a file of its own"),
        (["--pairs", tsv, tsv, "--drop", "copy", "--out", "x"], "named twice"),
    ):
        assert prepare(*arguments) == 2
        assert words in capsys.readouterr().err
    assert not Path(new).exists()


def test_every_kind_is_known_by_a_name_and_words() -> None:
    for known in (droppable(), FIXES):
        assert all(name.replace("_", "").isalpha() and words for name, words in known.items())
    assert {"truncated", "duplicate", "misaligned", "doubtful_note"} <= set(droppable())


def test_strict_ends_with_3_where_train_would_refuse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "few.tsv").write_text("one\teins\n", encoding="utf-8")
    (tmp_path / "good.tsv").write_text(WRITERS["a.tsv"](PAIRS), encoding="utf-8")
    assert prepare("--pairs", str(tmp_path / "few.tsv"), "--strict") == 3
    assert "Verdict: not fit to train on" in capsys.readouterr().out
    assert prepare("--pairs", str(tmp_path / "few.tsv")) == 0
    assert prepare("--pairs", str(tmp_path / "good.tsv"), "--strict") == 0
    assert "Verdict: fit to train on." in capsys.readouterr().out


def test_what_is_written_is_what_was_said_and_the_next_command_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Noted units are left out where notes were named, whatever else is dropped or mended."""
    note = "<note>Not OK</note>"
    read = tmx([*PAIRS, PAIRS[0], ("Nobody knows.", "")])
    for n in (3, 30, 60):
        unit = tmx(PAIRS[n : n + 1]).split("<body>")[1].split("\r\n</body>")[0]
        read = read.replace(unit, unit.replace("<tu>", f"<tu>{note}"), 1)
    (tmp_path / "a.tmx").write_text(read, encoding="utf-8", newline="")
    out = tmp_path / "b.tmx"
    named = ["--pairs", str(tmp_path / "a.tmx"), "--drop", "duplicate", "--out", str(out)]
    assert prepare(*named, "--skip-notes", "not ok") == 0
    told = capsys.readouterr()
    assert "read 122 pairs, kept 117" in told.out
    assert f"(118 units, 1 of them not for training: 1 {DROPPED[62]})" in told.err
    assert f"headway train --pairs {out} --out" in told.out.replace("\n", " ")
    assert note.encode() not in out.read_bytes()
    assert prepare("--pairs", str(out), "--strict") == 0
    again = capsys.readouterr().out
    assert "kept 117" in again
    assert "duplicate" not in again
    assert "note" not in again
