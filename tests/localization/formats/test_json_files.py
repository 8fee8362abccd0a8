"""JSON of one language: every text is filled, and Python's own reader agrees on the rest."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.core.errors import DataError
from headway.localization.formats import json_files
from headway.localization.formats.documents import Document
from headway.localization.formats.json_files import open_arb, open_document
from headway.localization.formats.keyed import texts_of
from headway.localization.formats.spans import read_decoded
from headway.localization.placeholders.segments import Segment


def filled(path: Path, data: str, language: str | None = "de") -> str:
    path.write_text(data, newline="")
    document = open_document(path, "en", language, False)
    assert isinstance(document, Document)
    assert document.filled([None] * len(document.gaps)) == data.encode()
    return document.filled([Segment((f"<{gap.source.text}>",)) for gap in document.gaps]).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a": "b"}', '{"a": "<b>"}'),
        ('\n{\t"a" :"b" ,\r\n"c": {"d": [ "e", 1.5e3, null ,true]} }\r\n',
         '\n{\t"a" :"<b>" ,\r\n"c": {"d": [ "<e>", 1.5e3, null ,true]} }\r\n'),
        ('{"a": "q \\"x\\" \\n \\u00e4 ü"}', '{"a": "<q \\"x\\" \\n ä ü>"}'),
        ('{"a": "\\u00e4 \\ud83d\\ude00 z"}', '{"a": "<\\u00e4 \\ud83d\\ude00 z>"}'),
        ('{"a": "cut \\ud83d off"}', '{"a": "<cut \\ufffd off>"}'),
        ('{"a": "one \\/ two"}', '{"a": "<one / two>"}'),
        ('{"@@locale": "en", "@a": {"description": "x"}, "$schema": "y", "a": "", "b": "--"}',) * 2,
        ('"alone"', '"<alone>"'),
        ("{}", "{}"),
    ],
)  # fmt: skip
def test_texts_are_filled_and_the_rest_stays(tmp_path, before, after):
    assert filled(tmp_path / "a.json", before) == after


def test_plural_forms_of_the_target_language_are_added(tmp_path):
    source = '{\n  "n_one": "{{count}} cat",\n  "n_other": "{{count}} cats",\n  "x_other": "y"\n}'
    after = json.loads(filled(tmp_path / "a.json", source, "pl"))
    assert after == {
        "n_one": "<{{count}} cat>", "n_other": "<{{count}} cats>", "n_few": "<{{count}} cats>",
        "n_many": "<{{count}} cats>", "x_other": "<y>",
    }  # fmt: skip
    assert filled(tmp_path / "a.json", source, "de") == source.replace('": "', '": "<').replace(
        '",\n', '>",\n'
    ).replace('"\n', '>"\n')
    document = open_document(tmp_path / "a.json", "en", "pl", False)
    assert [
        (gap.key, gap.plural and (gap.plural.name, gap.plural.number)) for gap in document.gaps
    ] == [
        ("n_one", ("one", 1)), ("n_other", ("other", 1.5)), ("n_few", ("few", 2)),
        ("n_many", ("many", 5)), ("x_other", ("other", 1.5)),
    ]  # fmt: skip
    borrowed = [gap.key for gap in document.gaps if gap.form]
    assert borrowed == ["n_few", "n_many"]  # a memory's "{{count}} cats" may be of another form


@pytest.mark.parametrize(
    ("language", "more", "one"),
    [
        ("ru", {}, "{{count}} cats"),
        ("fr", {}, "{{count}} cats"),
        ("fr", {"n_zero": "no cat"}, "a cat"),
        ("pl", {}, "a cat"),
    ],
)
def test_what_is_said_of_one_alone_is_not_said_of_21_or_0(tmp_path, language, more, one):
    texts = more | {"n_one": "a cat", "n_other": "{{count}} cats"}
    after = json.loads(filled(tmp_path / "a.json", json.dumps(texts), language))
    assert after["n_one"] == f"<{one}>"
    document = open_document(tmp_path / "a.json", "en", language, False)
    [gap] = [gap for gap in document.gaps if gap.key == "n_one"]
    assert bool(gap.form) == (one != "a cat")  # "{{count}} cats" is the source of other forms, too


def test_of_an_arb_file_messages_and_locale_change_and_what_describes_them_stays(tmp_path):
    before = {
        "hello": "Hello, {name}!",
        "@hello": {"description": "A greeting", "placeholders": {"name": {"example": "Ann"}}},
        "@@locale": "en", "@@author": "me", "n_one": "x", "n_other": "{n, plural, other {#}}",
    }  # fmt: skip
    path = tmp_path / "app_fr.arb"
    path.write_text(json.dumps(before, indent=2))
    assert open_arb(path, None, None, False).filled([None] * 3) == path.read_bytes()
    document = open_arb(path, None, "pt-BR", False)
    assert (document.source_language, document.target_language) == ("en", "pt-BR")
    after = document.filled([Segment((f"<{gap.source.text}>",)) for gap in document.gaps])
    expected = {k: v if k.startswith("@") else f"<{v}>" for k, v in before.items()}
    assert after.decode() == json.dumps(expected | {"@@locale": "pt_BR"}, indent=2)
    path.write_text('{"hello": "Bonjour"}')
    assert open_arb(path, None, "de", False).source_language == "fr"


class Counted(str):
    """A text that counts the characters that are cut out of it or looked through."""

    n_characters = 0

    def __getitem__(self, place: Any) -> str:
        cut = super().__getitem__(place)
        Counted.n_characters += len(cut)
        return cut

    def __contains__(self, sign: object) -> bool:
        Counted.n_characters += len(self)
        return super().__contains__(sign)


def test_a_file_is_not_gone_through_again_for_each_of_its_texts(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    path.write_text(
        json.dumps({f"{n}_{form}": "x" for n in range(50) for form in ("one", "other")})
    )
    decoded = read_decoded(path)
    counted = replace(decoded, text=Counted(decoded.text))
    monkeypatch.setattr(json_files, "read_decoded", lambda _path: counted)
    assert len(open_document(path, "en", "pl", False).gaps) == 200
    assert Counted.n_characters < 5 * len(decoded.text)


@pytest.mark.parametrize(
    "wrong",
    ["", "{", '{"a" "b"}', '{"a": b}', "[1,]", '{"a": "b"} x', '{"a": "b}', "[" * 200, "{,}"],
)  # fmt: skip
def test_what_is_no_json_is_refused(tmp_path, wrong):
    path = tmp_path / "a.json"
    path.write_text(wrong or " ")
    with pytest.raises(DataError, match=r"a\.json:1"):
        open_document(path, None, None, False)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_the_encoding_stays(tmp_path, encoding):
    path = tmp_path / "de.json"
    path.write_bytes('{"a": "ä好"}'.encode(encoding))
    document = open_document(path, "de", "zh", False)
    assert document.source_language == "de"
    assert document.filled([Segment(("好",))]).decode(encoding) == '{"a": "好"}'


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(st.characters(codec="utf-8"))),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text("ab_one", max_size=6), inner)
    ),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=JSON, indent=st.sampled_from([None, 0, 3]), plain=st.booleans())
def test_any_json_comes_out_with_its_texts_replaced(tmp_path, tree, indent, plain):
    def changed(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: changed(one) for name, one in value.items()}
        if isinstance(value, list):
            return [changed(one) for one in value]
        if isinstance(value, str) and any(sign.isalnum() for sign in value):
            return f"<{value}>"
        return value

    data = json.dumps(tree, indent=indent, ensure_ascii=plain)
    assert json.loads(filled(tmp_path / "a.json", data)) == changed(tree)
    assert len(list(texts_of(tmp_path / "a.json"))) == data.count('"') // 2 or '"' in data
