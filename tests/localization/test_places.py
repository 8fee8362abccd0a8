from pathlib import Path

import pytest

from headway.core.cleaning import Report
from headway.core.errors import DataError
from headway.corpora.corpus import Corpus, read_pairs
from headway.localization.places import LocatedUnit, places_of

TMX = """<?xml version="1.0" encoding="UTF-16"?>
<tmx version="1.4"><header srclang="en"/><body>
  <!-- <tu> is no unit here -->
  <tu><note>a &lt;tu&gt;</note>
    <tuv xml:lang="en"><seg>one <bpt i="1">&lt;b></bpt>big<ept i="1">&lt;/b></ept> cat</seg></tuv>
    <tuv xml:lang="de"><seg>eine <bpt i="1">&lt;b></bpt>große<ept i="1">&lt;/b></ept> K</seg></tuv>
  </tu><tu><tuv xml:lang="de"><seg>zwei</seg></tuv><tuv xml:lang="en"><seg>two</seg></tuv></tu>
  <tu><tuv xml:lang="en"><seg>three</seg></tuv><tuv xml:lang="de"><seg/></tuv></tu>
  <tu></tu>
</body></tmx>
"""
FILES = {
    "a.tsv": ("\ufeffone\teins\textra\r\ntwo\tzwei\nno tab\n\nthree\tdrei", "utf-8"),
    "turned.tsv": ("de\ten\neins\tone\nzwei\ttwo\n", "utf-8"),
    "a.tmx": (TMX, "utf-16"),
}
LANGUAGES = {"source_language": "en", "target_language": "de"}


def units_of(name: str, folder: Path) -> tuple[Path, Corpus, list[LocatedUnit]]:
    text, encoding = FILES[name]
    path = folder / name
    path.write_bytes(text.encode(encoding))
    corpus = Corpus(pairs=(path,), **LANGUAGES)  # type: ignore[arg-type]
    return path, corpus, list(places_of((path,)).units((path,), corpus))


@pytest.mark.parametrize("name", FILES)
def test_all_units_together_are_the_file(name: str, tmp_path: Path) -> None:
    path, _, units = units_of(name, tmp_path)
    joined = b"".join(unit.before[0] + unit.raw[0] for unit in units)
    restored = places_of((path,)).restored
    assert (restored(path, joined) if restored else joined) == path.read_bytes()


@pytest.mark.parametrize("name", FILES)
def test_units_are_those_that_the_reader_counts(name: str, tmp_path: Path) -> None:
    path, corpus, units = units_of(name, tmp_path)
    report = Report()
    pairs = {pair.line: pair for pair in read_pairs(corpus, report)}
    assert len(units) - 1 == report.read
    assert {unit.line for unit in units if unit.target and unit.line} >= set(pairs)
    places = places_of((path,))
    for unit in units:
        for cell in filter(None, (unit.source, unit.target)):
            content = unit.content(cell)
            assert places.mended(content, str) == content


@pytest.mark.parametrize("name", FILES)
def test_mending_changes_the_text_and_no_markup(name: str, tmp_path: Path) -> None:
    path, corpus, units = units_of(name, tmp_path)
    places = places_of((path,))
    before = list(read_pairs(corpus, Report()))
    pieces = []
    for unit in units:
        raw = unit.raw[0]
        if (cell := unit.target) and unit.line in {pair.line for pair in before}:
            new = places.mended(unit.content(cell), str.upper)
            changed = unit.with_content(cell, new)
            assert changed.target
            assert changed.content(changed.target) == new
            raw = changed.raw[0]
        pieces.append(unit.before[0] + raw)
    joined = b"".join(pieces)
    path.write_bytes(places.restored(path, joined) if places.restored else joined)
    after = list(read_pairs(corpus, Report()))
    assert [pair.source for pair in after] == [pair.source for pair in before]
    for old, new_pair in zip(before, after, strict=True):
        assert new_pair.target.lower() == old.target.upper().lower()
        assert (
            new_pair.target == old.target.upper() or "<b>" in new_pair.target or "<g" in old.target
        )


def test_two_text_files_are_one_part(tmp_path: Path) -> None:
    files = tmp_path / "a.en", tmp_path / "a.de"
    files[0].write_bytes("\ufeffone\r\ntwo".encode())
    files[1].write_bytes(b"eins\nzwei\n")
    units = list(places_of(files).units(files, Corpus(files[:1], files[1:])))
    for n, file in enumerate(files):
        assert b"".join(unit.before[n] + unit.raw[n] for unit in units) == file.read_bytes()
    contents = [[unit.content(cell) for cell in unit[3:]] for unit in units[:-1]]  # type: ignore[arg-type]
    assert contents == [[b"one", b"eins"], [b"two", b"zwei"]]


def test_one_side_after_the_other_may_change(tmp_path: Path) -> None:
    _, _, units = units_of("turned.tsv", tmp_path)
    unit = units[1]
    assert unit.source
    assert unit.target
    source, target = unit.content(unit.source), unit.content(unit.target)
    turned = unit.with_content(unit.source, target)
    assert turned.source
    assert turned.target
    turned = turned.with_content(turned.target, source)
    assert turned.raw[0] == b"one\teins\n"


def test_other_kinds_are_refused() -> None:
    with pytest.raises(DataError, match=r"two text files or one of .tsv"):
        places_of((Path("a.jsonl"),))
    with pytest.raises(DataError, match="Convert it"):
        places_of((Path("a.po"),))
    with pytest.raises(DataError, match="Convert it"):
        places_of((Path("en.json"), Path("de.json")))
