"""YAML: texts are filled in the style that they were written in; all else stays."""

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.core.errors import DataError
from headway.localization.formats.keyed import texts_of
from headway.localization.formats.yaml_files import open_document
from headway.localization.placeholders.segments import Segment

FILE = """\
# a comment
en:
  hello: I love cats.
  "quoted": "He said \\"no\\".\\nShe sings." # trailing
  single: 'It''s cold today.'
  n: 12
  yes_: true
  none: ~
  nested: &anch
    deep: "I love %{name}."
    list:
      - The dog is tired.
      - {a: I love dogs., b: "Big, red"}
  alias: *anch
  lit: |
    I love cats.

    The dog is tired.

  fold: >-
    I love cats
    and dogs.

    The dog is tired.
  tagged: !!str 12 cats
  cats:
    one: a cat
    other: "%{count} cats"
  long: a text
    over two lines
"""


def shouted(value):
    if isinstance(value, dict):
        return {key: shouted(one) for key, one in value.items()}
    if isinstance(value, list):
        return [shouted(one) for one in value]
    return value.upper() if isinstance(value, str) else value


def filled(path, language=None):
    document = open_document(path, None, language, False)
    return document, document.filled([Segment((gap.source.text.upper(),)) for gap in document.gaps])


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_only_texts_change_and_another_reader_sees_the_same_structure(tmp_path, newline):
    path = tmp_path / "en.yml"
    path.write_bytes(FILE.replace("\n", newline).encode())
    document, after = filled(path)
    assert yaml.safe_load(after) == {"en": shouted(yaml.safe_load(FILE)["en"])}
    assert document.source_language == "en"
    lines = after.decode().split(newline)
    assert lines[:3] == ["# a comment", "en:", "  hello: I LOVE CATS."]
    assert lines[3] == '  "quoted": "HE SAID \\"NO\\".\\nSHE SINGS." # trailing'
    assert "  single: 'IT''S COLD TODAY.'" in lines
    assert "  alias: *anch" in lines
    assert document.filled([None] * len(document.gaps)) == path.read_bytes()
    assert document.filled([gap.source for gap in document.gaps]) == path.read_bytes()


def test_the_language_at_the_root_becomes_that_of_the_target_with_its_plural_forms(tmp_path):
    path = tmp_path / "app.yml"
    path.write_text(FILE)
    _, after = filled(path, "pl")
    found = yaml.safe_load(after)
    assert list(found) == ["pl"]
    cats = found["pl"]["cats"]
    assert set(cats) == {"one", "few", "many", "other"}
    assert cats["few"] == cats["other"] == "%{COUNT} CATS"
    (tmp_path / "pl.yml").write_bytes(after)
    assert {text.key for text in texts_of(path)} < {
        text.key for text in texts_of(tmp_path / "pl.yml")
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(
        st.characters(codec="utf-8", exclude_categories=["Cc"]) | st.just("\n"), min_size=1
    ),
    style=st.sampled_from(['"v"', "v", "'v'", "{a: v}", "[v]", "|\n    v", ">-\n    v"]),
)
def test_what_was_filled_in_is_read_back_whatever_it_is(tmp_path, text, style):
    path = tmp_path / "a.yml"
    path.write_text(f"k:\n  x: {style}\nz: 1\n")
    before = yaml.safe_load(path.read_text())
    path.write_bytes(open_document(path, None, None, False).filled([Segment((text,))]))
    after = yaml.safe_load(path.read_bytes().decode())
    assert after["z"] == 1
    value = after["k"]["x"]
    value = (
        value["a"] if isinstance(value, dict) else value[0] if isinstance(value, list) else value
    )
    assert isinstance(before["k"]["x"], type(after["k"]["x"]))
    if style[0] in "|>":
        text, value = " ".join(text.split()), " ".join(value.split())
    assert value == text


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("a: !!python/object/apply:os.system [ls]", "object"),
        ("a: !!python/name:os.system x", "object"),
        ("a: " + "[" * 500 + "]" * 500, "100 levels"),
        ("a: 'b", "YAML"),
        ("? {a: b}\n: c", "key"),
        ("a: b\n\tc: d", "YAML"),
        ("a: \x01", "YAML"),
    ],
)
def test_what_is_no_file_of_texts_is_refused(tmp_path, data, said):
    path = tmp_path / "a.yml"
    path.write_text(data)
    with pytest.raises(DataError, match=said):
        open_document(path, None, None, False)


def test_aliases_are_never_expanded(tmp_path):
    lines = ['a0: &a0 "lol"'] + [
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40)
    ]
    path = tmp_path / "a.yml"
    path.write_text("\n".join(lines))
    document, after = filled(path)
    assert len(document.gaps) == 1
    assert after.decode() == "\n".join(lines).replace("lol", "LOL")


@pytest.mark.parametrize("text", ["?q", "x\x85y", "x\u2028y", "x\x7fy", "-q", ":q"])
@pytest.mark.parametrize("place", ["a: {k1: hello}\n", "a: |\n  hello\n", "a: [hello]\n"])
def test_what_would_end_a_flow_or_a_block_is_quoted(tmp_path, place, text):
    path = tmp_path / "a.yml"
    path.write_text(place)
    path.write_bytes(open_document(path, None, None, False).filled([Segment((text,))]))
    assert [one.text for one in texts_of(path)] == [text]
