"""Qt's translations: unfinished ones are filled, finished ones read, those that are gone left."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from headway.core.cleaning import Report
from headway.core.errors import DataError
from headway.corpora.corpus import Corpus
from headway.corpora.mixed_languages import refuse_mixed
from headway.languages.codes import LanguagePair
from headway.localization.formats.qt import open_document, qt_languages, qt_messages, read_qt
from headway.localization.memory.building import memory_of
from headway.localization.placeholders.segments import Segment


def file(*messages: str, language: str = "ru") -> str:
    inside = "\n".join(messages)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n'
        f'<TS version="2.1" language="{language}" sourcelanguage="en">\n<context>\n'
        f"    <name>Main</name>\n{inside}\n</context>\n</TS>\n"
    )


def message(source: str, translation: str, extra: str = "", numerus: str = "") -> str:
    return (
        f'    <message{numerus}>\n        <location filename="a.cpp" line="3"/>\n'
        f"        <source>{source}</source>\n{extra}        {translation}\n    </message>"
    )


MESSAGES = (
    message("Open &amp;file", "<translation>Datei &amp;öffnen</translation>"),
    message("x", '<translation type="unfinished"></translation>', "<comment>menu</comment>"),
    message("y", '<translation type="unfinished">alt</translation>',
            "<translatorcomment>not OK</translatorcomment><extracomment>Error</extracomment>"),
    message("z", '<translation type="vanished">weg</translation>'),
    message("z2", '<translation type="obsolete">weg</translation>'),
    message("", "<translation></translation>"),
)  # fmt: skip


def written(folder: Path, text: str) -> Path:
    path = folder / "a.ts"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_finished_translations_are_read(tmp_path):
    path, report = written(tmp_path, file(*MESSAGES)), Report()
    pairs = list(read_qt(path, Corpus(), report))
    assert [pair[:2] for pair in pairs] == [("Open &file", "Datei &öffnen")]
    assert (report.read, report.dropped) == (4, {"untranslated": 1, "fuzzy": 1, "blank_side": 1})
    assert qt_languages(path, Corpus()) == ("en", "ru")


def test_a_file_in_another_language_is_refused(tmp_path):
    text = file(*MESSAGES, language="fr")
    for one in (text, text.replace(' sourcelanguage="en"', "")):
        path = written(tmp_path, one)
        assert qt_languages(path, LanguagePair("en", "de")) == ("en", "fr")
        with pytest.raises(DataError, match=r"the target of .*a\.ts is fr"):
            memory_of([path], LanguagePair("en", "de"))
        with pytest.raises(DataError, match="--target-language de"):
            refuse_mixed(Corpus(pairs=(path,), target_language="de"))
        assert len(memory_of([path], LanguagePair("en", "fr"))) == 1
        refuse_mixed(Corpus(pairs=(path,), target_language="fr"))


def test_unfinished_ones_are_filled_and_stay_unfinished(tmp_path):
    text = file(*MESSAGES)
    document = open_document(written(tmp_path, text), None, None, False)
    assert [(gap.source.text, gap.key) for gap in document.gaps] == [("x", "Main/menu")]
    assert document.counts.left == {"translated": 1, "fuzzy": 1, "blank_side": 1}
    old = '<translation type="unfinished"></translation>'
    assert document.filled([Segment(("<a> & b",))]).decode() == text.replace(
        old, '<translation type="unfinished">&lt;a&gt; &amp; b</translation>'
    )
    assert document.filled([Segment(("a",))], [100]).decode() == text.replace(
        old, "<translation>a</translation>"
    )
    assert document.filled([None]).decode() == text
    again = open_document(tmp_path / "a.ts", None, None, True)
    assert [gap.source.text for gap in again.gaps] == ["Open &file", "x", "y"]
    notes = [message.remarks for message, _ in qt_messages(tmp_path / "a.ts", LanguagePair())]
    assert ("not OK",) in notes
    assert (
        '<translation type="unfinished">neu</translation>'
        in again.filled([Segment(("neu",)), None, None]).decode()
    )


@pytest.mark.parametrize(
    ("language", "empty", "numbers"),
    [
        ("ru", "<translation type='unfinished'><numerusform></numerusform></translation>",
         [1, 2, 5]),
        ("zh_CN", '<translation type="unfinished"><numerusform/></translation>', [2]),
        ("de", '<translation type="unfinished"/>', [1, 2]),
        ("de", '<translation type="unfinished"><numerusform>a</numerusform>\n<numerusform/>'
               "</translation>", [2]),
    ],
)  # fmt: skip
def test_every_plural_form_of_the_language_is_filled(tmp_path, language, empty, numbers):
    text = file(message("%n file(s)", empty, numerus=' numerus="yes"'), language=language)
    document = open_document(written(tmp_path, text), None, None, False)
    assert [gap.plural and gap.plural.number for gap in document.gaps] == numbers
    assert [gap.source.text for gap in document.gaps] == [
        "%n file" if number == 1 else "%n files" for number in numbers
    ]
    after = document.filled([Segment((f"f{number}",)) for number in numbers])
    forms = [form.text for form in ElementTree.fromstring(after).iter("numerusform")]
    kept = ["a"] if ">a<" in empty else []
    assert forms == kept + [f"f{number}" for number in numbers]


@pytest.mark.parametrize(
    ("language", "source", "n_forms", "wanted"),
    [
        ("ar", "%n file(s)", 6, ("%n file", "f1")),
        ("ru", "%n file(s)", 3, ("%n file", "f0")),
        ("de", "%n file(s)", 2, ("%n file", "f0")),
        ("zh_CN", "%n file(s)", 1, ("%n files", "f0")),
        ("de", "%n files", 2, ("%n files", "f1")),
    ],
)
def test_a_plural_form_is_read_with_the_source_that_it_is_filled_from(
    tmp_path, language, source, n_forms, wanted
):
    forms = "".join(f"<numerusform>f{form}</numerusform>" for form in range(n_forms))
    done = message(source, f"<translation>{forms}</translation>", numerus=' numerus="yes"')
    path = written(tmp_path, file(done, language=language))
    [pair] = read_qt(path, Corpus(), Report())
    assert pair[:2] == wanted
    document = open_document(path, None, None, True)
    sources = [gap.source.text for gap in document.gaps]
    assert sources[int(wanted[1].removeprefix("f"))] == wanted[0]
    assert [bool(gap.form) for gap in document.gaps] == [sources.count(s) > 1 for s in sources]


def test_a_file_of_another_kind_with_the_suffix_is_refused(tmp_path):
    for text in ("export const a = 1;", "<tmx/>"):
        with pytest.raises(DataError, match=r"a\.ts:1"):
            open_document(written(tmp_path, text), None, None, False)
