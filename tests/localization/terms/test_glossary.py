"""Glossaries: what is read, what is left out and named, what is refused."""

import csv
import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.errors import DataError
from headway.localization.terms.glossary import Glossary
from headway.localization.terms.glossary_files import read_glossary


@pytest.fixture
def read(tmp_path):
    def of(text, name="terms.tsv", languages=(None, None)):
        path = tmp_path / name
        data = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return read_glossary([path], *languages)

    return of


def said(glossary: Glossary) -> dict:
    return {term.source: term.targets for term in glossary.terms}


def test_columns_are_source_target_comment_and_forms(read) -> None:
    [term] = read("dog\tHund|Rüde\tan animal\tdogs|doggy\n").terms
    assert term.source == "dog"
    assert term.targets == ("Hund", "Rüde")
    assert term.comment == "an animal"
    assert term.forms == ("dogs", "doggy")


@pytest.mark.parametrize("target", ["", "=", "  "])
def test_an_empty_target_or_an_equals_sign_is_not_translated(read, target) -> None:
    assert said(read(f"Acme\t{target}\nX5\n")) == {"Acme": (), "X5": ()}


def test_a_header_names_the_columns_in_any_order(read) -> None:
    assert said(read("comment\ttarget\tsource\nx\tHund\tdog\n")) == {"dog": ("Hund",)}
    assert said(read("\ufeffSource\tTarget\r\ndog\tHund\r\n")) == {"dog": ("Hund",)}


def test_languages_in_a_header_answer_to_those_of_the_run(read) -> None:
    assert said(read("de\ten\nHund\tdog\n", languages=("en", "de"))) == {"dog": ("Hund",)}
    assert said(read("de\ten\nHund\tdog\n")) == {"Hund": ("dog",)}
    with pytest.raises(DataError, match="the run's target language is fr"):
        read("en\tde\ndog\tHund\n", languages=("en", "fr"))


def test_csv_may_be_quoted_and_have_semicolons(read) -> None:
    quoted = 'source,target\n"dog, big","Hund, ""groß"""\n'
    assert said(read(quoted, "a.csv")) == {"dog, big": ('Hund, "groß"',)}
    assert said(read("dog;Hund\ncat;Katze\n", "a.csv.gz")) == {"dog": ("Hund",), "cat": ("Katze",)}


cells = st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=1, max_size=8)


@given(st.dictionaries(cells, cells, min_size=1, max_size=5))
def test_what_pythons_csv_writes_is_read(pairs) -> None:
    import tempfile
    import unicodedata
    from pathlib import Path

    written = io.StringIO()
    csv.writer(written).writerows([["source", "target"], *pairs.items()])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        path.write_text(written.getvalue(), encoding="utf-8", newline="")
        found = said(read_glossary([path], None, None))
    normal = unicodedata.normalize
    expected: dict = {}
    for source, target in pairs.items():
        expected.setdefault(normal("NFC", source), []).append(normal("NFC", target))
    assert {k: list(v) for k, v in found.items()} == {
        k: list(dict.fromkeys(v)) for k, v in expected.items()
    }


def test_rows_of_one_source_are_variants_and_the_same_row_twice_is_counted(read) -> None:
    glossary = read("dog\tHund\ndog\tRüde\ndog\tHund\n")
    assert said(glossary) == {"dog": ("Hund", "Rüde")}
    assert "1 (said before: " in glossary.left_out_in_words()
    assert glossary.left_out_in_words().endswith("terms.tsv:3)")


def test_what_is_translated_and_is_not_is_refused_with_both_lines(read) -> None:
    with pytest.raises(DataError, match=r"terms.tsv:1 and .*terms.tsv:3"):
        read("dog\tHund\ncat\tKatze\ndog\t=\n")


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("\tHund", "blank source"),
        ("--\tHund", "no letter or digit"),
        ("x" * 201 + "\tHund", "longer than 200"),
        ("do*g\tHund", "end of a word"),
        ("dog\tHu*nd", "end of the translation"),
    ],
)
def test_rows_that_are_no_terms_are_named(read, row, why) -> None:
    glossary = read(f"cat\tKatze\n{row}\n")
    assert said(glossary) == {"cat": ("Katze",)}
    assert why in glossary.in_words()
    assert "terms.tsv:2" in glossary.in_words()


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        ("dog,Hund\ncat,Katze\n", "a.tsv", "parted by a tab"),
        ("\n\n", "a.tsv", "has none"),
        ("\tHund\n", "a.tsv", "blank source"),
        ('dog,"Hund\n', "a.csv", "quotes a cell"),
        (b"dog\t\xff\n", "a.tsv", "UTF-8"),
        ("dog", "a.xlsx", ".tsv, .csv or .tbx"),
    ],
)
def test_what_is_no_glossary_is_refused(read, text, name, why) -> None:
    with pytest.raises(DataError, match=why):
        read(text, name)


OLD = """<?xml version="1.0"?>
<!DOCTYPE martif SYSTEM "TBXcoreStructV02.dtd">
<martif type="TBX" xml:lang="en"><text><body>
<termEntry id="1"><descrip type="subjectField">pets</descrip>
 <langSet xml:lang="en"><tig><term>dog</term></tig><tig><term>hound</term></tig></langSet>
 <langSet xml:lang="fr"><tig><term>chien</term></tig></langSet>
 <langSet xml:lang="de-DE"><ntig><termGrp><term>Hund</term></termGrp></ntig>
  <tig><term>Köter</term>
   <termNote type="administrativeStatus">deprecatedTerm-admn-sts</termNote></tig></langSet>
</termEntry></body></text></martif>"""
NEW = """<tbx style="dca" type="TBX-Basic" xml:lang="en" xmlns="urn:iso:std:iso:30042:ed-2">
<text><body>
<conceptEntry><langSec xml:lang="en"><termSec><term>cat|kitty</term></termSec></langSec>
<langSec xml:lang="de"><termSec><term>Katze</term></termSec></langSec></conceptEntry>
</body></text></tbx>"""


def test_tbx_of_both_versions_is_read(read) -> None:
    [term] = read(OLD, "a.tbx", ("en", "de")).terms
    assert (term.source, term.forms, term.targets) == ("dog", ("hound",), ("Hund",))
    assert term.comment == "pets"
    assert term.place.endswith("a.tbx:4")
    [term] = read(NEW, "b.tbx").terms
    assert (term.source, term.targets) == ("cat|kitty", ("Katze",))


def test_a_tbx_without_the_languages_is_refused_and_names_its_own(read) -> None:
    with pytest.raises(DataError, match="en, fr, de-DE"):
        read(OLD, "a.tbx", ("en", "zh"))
    with pytest.raises(DataError, match="well-formed"):
        read(OLD[:200], "a.tbx")
