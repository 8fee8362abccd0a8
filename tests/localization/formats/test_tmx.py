import gzip
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway import __version__
from headway.core.cleaning import Pair, Report
from headway.core.errors import ConfigError, DataError, UserError
from headway.corpora.corpus import Corpus, languages, read_pairs
from headway.corpora.reasons import REASONS
from headway.localization.formats.documents import Document
from headway.localization.formats.tmx import open_document, read_tmx, tmx_languages
from headway.localization.placeholders.segments import Segment

CHANGED = ' changeid="MT!" changedate="19700101T000000Z"'


@pytest.fixture(autouse=True)
def the_time_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")


class RequiredText(NamedTuple):
    source_language: str | None = None
    target_language: str | None = None


def variant(language: str, text: str, attributes: str = "") -> str:
    return f'<tuv xml:lang="{language}"{attributes}><seg>{text}</seg></tuv>'


def memory(*units: str, srclang: str = "en") -> str:
    body = "".join(f"\n  <tu>{unit}</tu>" for unit in units)
    return (
        '<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4">\n'
        f' <header srclang="{srclang}"><prop>not <seg>this</seg></prop></header>\n'
        f" <body>{body}\n </body>\n</tmx>\n"
    )


def written(folder: Path, content: str | bytes, name: str = "memory.tmx") -> Path:
    data = content.encode() if isinstance(content, str) else content
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def read(path: Path, *wanted: str | None) -> tuple[list[Pair], Report]:
    report = Report()
    return list(read_tmx(path, RequiredText(*wanted), report)), report


def sides(pairs: list[Pair]) -> list[tuple[str, str]]:
    return [(pair.source, pair.target) for pair in pairs]


def upper(segment: Segment) -> Segment:
    parts = (part.upper() if isinstance(part, str) else part for part in segment.parts)
    return Segment(tuple(parts))


def filled(document: Document) -> str:
    return document.filled([upper(gap.source) for gap in document.gaps]).decode()


def test_units_are_read_with_their_codes_and_lines(tmp_path: Path) -> None:
    code = "<bpt i='1'>&lt;b></bpt>{}<ept i='1'>&lt;/b></ept><ph x='2'/>"
    content = memory(
        variant("en", "one &amp; <hi>two</hi>") + variant("de", "eins &#228;"),
        variant("de", code.format("zwei")) + variant("en", code.format("two")),
    )
    pairs, report = read(written(tmp_path, content))
    assert sides(pairs) == [
        ("one & <hi>two</hi>", "eins ä"),
        ('<b>two</b><ph id="2"/>', '<b>zwei</b><ph id="2"/>'),
    ]
    assert [pair.line for pair in pairs] == [6, 7]
    assert (report.read, report.dropped) == (2, {})


def test_every_unit_is_counted_and_those_left_out_say_why(tmp_path: Path) -> None:
    content = memory(
        variant("en", "a") + variant("de", "b"),
        variant("en", "a"),
        variant("fr", "a") + variant("de", "b"),
        variant("en", "a") + variant("de", " "),
        variant("en", "<ph/>") + variant("de", "b"),
        variant("en", "a") + variant("de", "b", ' creationid="MT!"'),
        variant("en", "a") + variant("de", "b", ' creationid="MT!" changeid="me"'),
        "",
    )
    pairs, report = read(written(tmp_path, content))
    assert [pair.line for pair in pairs] == [6, 12]
    assert report.dropped == {
        "missing_language": 3,
        "untranslated": 1,
        "blank_side": 1,
        "fuzzy": 1,
    }
    assert report.read == len(pairs) + sum(report.dropped.values())
    assert set(report.dropped) <= set(REASONS)


THREE = (
    variant("fr", "un") + variant("en-GB", "one") + variant("de-AT", "eins"),
    variant("EN-us", "two") + variant("en", "2") + variant("de", "zwei") + variant("de", "2"),
)


@pytest.mark.parametrize(
    ("srclang", "wanted", "expected", "texts"),
    [
        ("en", (), ("en", "fr"), [("one", "un")]),
        ("*all*", (), ("en", "fr"), [("one", "un")]),
        ("de", (), ("de", "fr"), [("eins", "un")]),
        ("it", (), ("fr", "en"), [("un", "one")]),
        ("en", (None, "de"), ("en", "de"), [("one", "eins")]),
        ("en", (None, "en"), ("fr", "en"), [("un", "one")]),
        ("en", ("de", None), ("de", "fr"), [("eins", "un")]),
        ("en", ("en", "DE"), ("en", "DE"), [("one", "eins"), ("2", "zwei")]),
        ("en", ("en-US", "de"), ("en-US", "de"), [("two", "zwei")]),
        ("en", ("de", "en"), ("de", "en"), [("eins", "one"), ("zwei", "2")]),
        ("en", ("en", "zh"), ("en", "zh"), []),
    ],
)
def test_the_two_languages_are_as_wanted_or_as_the_units_say(
    srclang: str,
    wanted: tuple[str | None, ...],
    expected: tuple[str, str],
    texts: list[tuple[str, str]],
    tmp_path: Path,
) -> None:
    path = written(tmp_path, memory(*THREE, srclang=srclang))
    assert tmx_languages(path, RequiredText(*wanted)) == expected
    pairs, report = read(path, *wanted)
    if texts:
        assert sides(pairs)[: len(texts)] == texts
    assert report.read == 2


def test_old_files_say_lang_and_units_may_have_a_source_of_their_own(tmp_path: Path) -> None:
    content = memory(variant("fr", "un") + variant("de", "eins")).replace("xml:lang", "lang")
    path = written(tmp_path, content.replace("<tu>", "<tu srclang='de'>"))
    assert sides(read(path)[0]) == [("eins", "un")]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("name", ["a.tmx", "a.tmx.gz"])
def test_a_memory_is_one_of_the_files_of_a_corpus(encoding: str, name: str, tmp_path: Path) -> None:
    content = memory(variant("en", "one 𝐀") + variant("de", "ä")).replace("\n", "\r\n")
    corpus = Corpus(pairs=(written(tmp_path, content.encode(encoding), name),))
    assert sides(list(read_pairs(corpus, Report()))) == [("one 𝐀", "ä")]
    assert languages(corpus) == ("en", "de")


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"begins with <tmx>; .*:1 begins with <tu>"):
        read(written(tmp_path, "<tu/>"))


def test_a_missing_variant_is_laid_out_as_its_neighbour(tmp_path: Path) -> None:
    before = memory(
        '\n   <tuv lang="en">\n    <seg>one <ph x="1">%s</ph> </seg>\n   </tuv>\n   '
        '<tuv lang="fr"/>\n  '
    )
    document = open_document(written(tmp_path, before), "en", "de", False)
    assert [(gap.source.text, gap.line) for gap in document.gaps] == [("one %s ", 6)]
    new = document.filled([Segment((document.gaps[0].source.codes[0], "< eins"))]).decode()
    assert new == before.replace(
        '<tuv lang="fr"/>',
        '<tuv lang="fr"/>\n   <tuv lang="de" creationtool="headway" '
        f'creationtoolversion="{__version__}" creationid="MT!">\n'
        '    <seg><ph x="1">%s</ph>&lt; eins </seg>\n   </tuv>',
    )


@pytest.mark.parametrize(
    ("empty", "full"),
    [
        ("<tuv xml:lang='de-AT'><seg/></tuv>", "<tuv xml:lang='de-AT'{}><seg>ONE</seg></tuv>"),
        (
            "<tuv xml:lang='de' changeid='me'>\n<seg> </seg>\n</tuv >",
            f"<tuv xml:lang='de'{CHANGED}>\n<seg>ONE</seg>\n</tuv >",
        ),
        ("<tuv xml:lang='de'/>", "<tuv xml:lang='de'{}><seg>ONE</seg></tuv>"),
        ("<tuv xml:lang='de'></tuv>", "<tuv xml:lang='de'{}><seg>ONE</seg></tuv>"),
    ],
)
def test_an_empty_variant_is_filled_where_it_is(empty: str, full: str, tmp_path: Path) -> None:
    before = memory(variant("en", "one") + empty, variant("en", "two") + variant("de", "zwei"))
    document = open_document(written(tmp_path, before), None, "de", False)
    assert document.counts.left == {"translated": 1}
    assert filled(document) == before.replace(empty, full.format(CHANGED))


def test_overwriting_replaces_what_is_there(tmp_path: Path) -> None:
    before = memory(variant("en", "one") + variant("de", "<hi>eins</hi>"))
    path = written(tmp_path, before)
    assert not open_document(path, None, None, False).gaps
    document = open_document(path, None, None, True)
    assert [gap.source.text for gap in document.gaps] == ["one"]
    assert f"{CHANGED}><seg>ONE</seg>" in filled(document)


def test_a_new_variant_bears_the_language_as_the_file_writes_it(tmp_path: Path) -> None:
    before = memory(variant("EN", "one") + variant("DE-DE", "eins"), variant("EN", "two"))
    document = open_document(written(tmp_path, before), "en", "de", False)
    assert 'xml:lang="DE-DE" creationtool' in filled(document)


def test_characters_that_the_encoding_lacks_are_written_by_number(tmp_path: Path) -> None:
    content = memory(variant("en", "one"), srclang="en").replace(
        'version="1.0"', 'version="1.0" encoding="latin-1"', 1
    )
    document = open_document(written(tmp_path, content.encode("latin-1")), None, "de", False)
    new = document.filled([Segment(("ä 一",))])
    assert "<seg>ä &#19968;</seg>".encode("latin-1") in new
    assert document.can_hold(Segment(("一",)))


def test_a_memory_in_one_language_needs_to_be_told_the_other(tmp_path: Path) -> None:
    path = written(tmp_path, memory(variant("en", "one")))
    with pytest.raises(ConfigError, match=r"units in en only\. Give --target-language"):
        open_document(path, None, None, False)
    empty = open_document(written(tmp_path, memory()), None, None, False)
    assert empty.filled([]) == memory().encode()


words = st.sampled_from(["", " ", "one", "zwei\r\n", "<x", "<ph x='1'>%s</ph>", "<hi>a</hi>", "𝐀"])


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(["en", "de", "fr"]), words), max_size=3), max_size=4
    ),
    st.sampled_from(["utf-8", "utf-16"]),
    st.booleans(),
    st.data(),
)
def test_filling_changes_nothing_but_the_units_that_are_filled(
    tmp_path_factory: pytest.TempPathFactory,
    units: list[list[tuple[str, str]]],
    encoding: str,
    overwrite: bool,
    data: st.DataObject,
) -> None:
    texts = [
        "".join(variant(language, text.replace("<x", "&lt;x")) for language, text in unit)
        for unit in units
    ]
    content = memory(*texts).encode(encoding)
    path = written(tmp_path_factory.mktemp("memory"), content)
    document = open_document(path, "en", "de", overwrite)
    assert document.counts.units == len(units)
    assert len(document.gaps) + sum(document.counts.left.values()) == len(units)
    assert document.filled([None] * len(document.gaps)) == content
    chosen = [data.draw(st.booleans()) for _ in document.gaps]
    new = document.filled(
        [upper(g.source) if take else None for g, take in zip(document.gaps, chosen, strict=True)]
    )
    path.write_bytes(new)
    again = open_document(path, "en", "de", True)
    by_line = {gap.line: gap for gap in again.gaps}
    before, after = (text.decode(encoding).split("\n  <tu>") for text in (content, new))
    taken = [gap for gap, take in zip(document.gaps, chosen, strict=True) if take]
    same = [one == other for one, other in zip(before, after, strict=True)]
    assert same.count(False) == len(taken)
    turned = {gap.line: gap.source for gap in open_document(path, "de", "en", True).gaps}
    assert len(by_line) == len(again.gaps)
    for gap in taken:
        assert upper(gap.source).text.strip() in {
            segment.text.strip() for segment in turned.values()
        }


@given(st.binary(max_size=6), st.integers(0, 600), st.integers(0, 30))
def test_a_damaged_memory_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, new: bytes, place: int, n_lost: int
) -> None:
    codes = "<hi><ph>x</ph></hi><bpt i='1'/>"
    content = memory(*(variant("en", f"{n} {codes}") + variant("de", f"{n}") for n in range(3)))
    damaged = content.encode()[:place] + new + content.encode()[place + n_lost :]
    path = written(tmp_path_factory.mktemp("memory"), damaged)
    try:
        pairs, report = read(path)
        assert report.read == len(pairs) + sum(report.dropped.values())
        document = open_document(path, "en", "de", True)
        document.filled([gap.source for gap in document.gaps])
    except UserError:
        pass


def test_notes_and_states_come_with_the_pair(tmp_path: Path) -> None:
    unit = (
        '<note>not  OK</note><prop type="x-status">draft</prop><prop type="id">7</prop>'
        + variant("en", "a").replace("<seg>", "<note>here</note><seg>")
        + variant("fr", "b").replace("<seg>", "<note>elsewhere</note><seg>")
        + variant("de", "c")
    )
    content = memory(unit, variant("en", "d") + variant("de", "e"))
    [first, second], _ = read(written(tmp_path, content), "en", "de")
    assert first.remarks == ("not OK", "state: draft", "here")
    assert second.remarks == ()


def test_a_change_has_the_time_that_the_environment_says(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    old = ' changedate="20010101T000000Z" changeid="me"'
    content = memory(variant("en", "a") + variant("de", "b", old))
    document = open_document(written(tmp_path, content), "en", "de", True)
    new = variant("de", "A", ' changedate="19700102T000000Z" changeid="MT!"')
    assert filled(document) == content.replace(variant("de", "b", old), new)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(ConfigError, match="SOURCE_DATE_EPOCH"):
        filled(document)


def test_a_match_of_a_memory_is_told_from_a_machines_work(tmp_path: Path) -> None:
    content = memory(variant("en", "a"), variant("en", "b"), variant("en", "c"))
    document = open_document(written(tmp_path, content), "en", "de", False)
    assert [(gap.before, gap.after) for gap in document.gaps] == [("", "b"), ("a", "c"), ("b", "")]
    new = [Segment((text,)) for text in "xyz"]
    after = document.filled(new, [None, 90, 100])
    pairs, report = read(written(tmp_path, after), "en", "de")
    assert sides(pairs) == [("c", "z")]
    assert report.dropped == {"fuzzy": 2}
    assert after.count(b'creationid="TM!"') == 1
