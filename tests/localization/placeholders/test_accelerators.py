"""Accelerators are taken out, and put back as the language does it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.localization.placeholders.accelerators import bare, sign_of, unmarked, with_accelerator
from headway.localization.placeholders.segments import Code, Segment


def segment(*parts) -> Segment:
    return Segment(tuple(parts))


@pytest.mark.parametrize(
    ("text", "sign", "without", "letter"),
    [
        ("&File", "&", "File", "F"),
        ("E&xit", "&", "Exit", "x"),
        ("Save &As...", "&", "Save As...", "A"),
        ("_File", "_", "File", "F"),
        ("Save _As", "_", "Save As", "A"),
        ("E_xit", "_", "Exit", "x"),
        ("Pa_ste", "_", "Paste", "s"),
        ("AT&T", "&", "AT&T", ""),
        ("R & D", "&", "R & D", ""),
        ("Save && &quit", "&", "Save && quit", "q"),
        ("a &lt; b", "&", "a &lt; b", ""),
        ("&One &Two", "&", "&One &Two", ""),
        ("max_length", "_", "max_length", ""),
        ("__init__", "_", "__init__", ""),
        ("See http://a.org/?lang=en&page=2", "&", "See http://a.org/?lang=en&page=2", ""),
        ("&Open http://a.org/?a=b&c=d", "&", "Open http://a.org/?a=b&c=d", "O"),
        ('<a href="x?a=b&c">Go</a>', "&", '<a href="x?a=b&c">Go</a>', ""),
        ("_", "_", "_", ""),
        ("File", "&", "File", ""),
    ],
)
def test_an_accelerator_is_taken_out(text, sign, without, letter) -> None:
    assert bare(segment(text), sign) == (segment(without), letter)


@pytest.mark.parametrize(
    ("translation", "letter", "language", "expected"),
    [
        ("Datei", "F", "de", "&Datei"),
        ("Speichern als", "A", "de", "Speichern &als"),
        ("Beenden", "n", "de", "Bee&nden"),
        ("Fichier", "F", "fr_CA", "&Fichier"),
        ("文件", "F", "zh", "文件(&F)"),
        ("另存为...", "a", "zh-TW", "另存为(&A)..."),
        ("名前：", "n", "ja", "名前(&N)："),
        ("那只狗很累。", "d", "zh", "那只狗很累(&D)。"),
        ("Файл", "F", "ru", "&Файл"),
        ("123", "F", None, "&123"),
        ("%s", "F", "de", "%s(&F)"),
        ("%s Seiten", "s", "de", "%s &Seiten"),
    ],
)
def test_it_is_put_back_as_the_language_does_it(translation, letter, language, expected) -> None:
    assert with_accelerator(segment(translation), "&", letter, language) == segment(expected)


def test_codes_of_the_file_stay_codes() -> None:
    code = Code("<b>", "&lt;b&gt;")
    source = segment("Save ", code, "&all")
    assert bare(source, "&") == (segment("Save ", code, "all"), "a")
    done = with_accelerator(segment(code, "保存"), "&", "a", "zh")
    assert done == segment(code, "保存(&A)")


@pytest.mark.parametrize("language", ["de", "zh"])
@pytest.mark.parametrize("text", ["Datei", "另存为...", "%s 名", "R&D"])
def test_a_translation_is_judged_without_it(text, language) -> None:
    marked = with_accelerator(segment(text), "&", "x", language)
    assert marked.text != text
    assert unmarked(marked, "&").text == text
    assert unmarked(marked, "") == marked


@given(st.text(st.sampled_from("aFé中 .:%s&"), max_size=8))
def test_one_mark_is_added_and_nothing_else_changes(text) -> None:
    done = with_accelerator(segment(text), "&", "f", "de").text
    assert done.replace("(&F)", "", 1) == text or any(
        done == text[:n] + "&" + text[n:] for n in range(len(text))
    )


def test_a_file_has_them_by_its_kind_or_by_many_of_its_texts() -> None:
    menu = [segment(f"&{word}") for word in ("File", "Edit", "View")]
    plain = [segment(f"some text {n}") for n in range(50)]
    assert sign_of(".ts", plain) == "&"
    assert sign_of(".po", menu + plain) == "&"
    assert sign_of(".po", menu[:2] + plain) == ""
    assert sign_of(".po", menu + plain + plain) == ""
    assert sign_of(".po", [segment("_Open"), segment("_Save"), segment("E_xit")]) == "_"
    assert sign_of(".json", menu) == ""
    assert sign_of(".po", []) == ""
