"""Specifications of pairs files: what is written is what is read, and wrong ones are explained."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.errors import ConfigError
from headway.corpora.mixing import (
    PLAIN,
    Use,
    absolute_pairs_files,
    check_tag,
    chosen_tag,
    format_pairs_file,
    parse_pairs_file,
    tagged,
    tags_read,
)


def nowhere(_path: str) -> bool:
    return False


names = st.text(
    st.sampled_from("ab@:=./\\-_8 tagsourcemin.po"), min_size=1, max_size=25
) | st.sampled_from(["C:\\x.tsv", "a@b.tsv", "a@2", "m.po:tag=x", "a@nan", "@", ":tag=", "x:k=v"])
languages = st.none() | st.sampled_from(["de", "pt_BR", "zh-Hans"])
uses = st.builds(
    Use,
    weight=st.floats(1e-3, 1e3) | st.integers(1, 99).map(float),
    tag=st.sampled_from(["", "mine", "to-de", "医学", "2", "_"]),
    source_language=languages,
    target_language=languages,
)


@given(names, uses)
def test_what_is_stored_is_read_again_wherever_the_files_are_by_then(name: str, use: Use) -> None:
    stored = format_pairs_file(Path(name), use)
    assert parse_pairs_file(stored, nowhere) == (Path(name), use)


@given(names)
def test_a_file_that_exists_under_the_whole_name_wins(name: str) -> None:
    assert parse_pairs_file(name, lambda path: path == name) == (Path(name), PLAIN)
    whole = f"{name}@8:tag=mine"
    assert parse_pairs_file(whole, lambda path: path == name) == (Path(name), Use(8.0, "mine"))


@pytest.mark.parametrize(
    ("text", "path", "use"),
    [
        ("big.tmx@2", "big.tmx", Use(2.0)),
        ("mine.po@8:tag=mine", "mine.po", Use(8.0, "mine")),
        ("a.tsv@0.5", "a.tsv", Use(0.5)),
        ("a.tsv:source=en:target=de:tag=de", "a.tsv", Use(1.0, "de", "en", "de")),
        ("C:\\x.tsv", "C:\\x.tsv", PLAIN),
        ("C:\\x.tsv@3:tag=x", "C:\\x.tsv", Use(3.0, "x")),
        ("a@b.tsv", "a@b.tsv", PLAIN),
        ("me@home/a.tsv", "me@home/a.tsv", PLAIN),
        ("a@b.tsv@2", "a@b.tsv", Use(2.0)),
        ("/data/12:30/a.tsv", "/data/12:30/a.tsv", PLAIN),
    ],
)
def test_a_path_may_be_followed_by_a_weight_and_keys(text: str, path: str, use: Use) -> None:
    assert parse_pairs_file(text, nowhere) == (Path(path), use)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a.tsv:tga=x", "unknown key 'tga' in 'a.tsv:tga=x'; did you mean 'tag'?"),
        ("a.tsv:zz=x", "it may be tag, source, target"),
        ("a.tsv:tag=x:tag=y", "got it twice"),
        ("a.tsv:tag=", "tag= needs a value"),
        ("a.tsv:tag=two words", "a tag is one word .*got 'two words'"),
        ("a.tsv:tag=<b>", "a tag is one word"),
        ("a.tsv:target=german", "by its code, such as en or pt_BR; got 'german'"),
        ("a.tsv@0", "from 0.001 to 1000; got 0"),
        ("a.tsv@-2", "got -2"),
        ("a.tsv@nan", "got nan"),
        ("a.tsv@inf", "got inf"),
        ("@8", "written PATH"),
        ("", "written PATH"),
    ],
)
def test_what_cannot_be_meant_is_explained(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_pairs_file(text, nowhere)


def test_a_weight_that_is_no_number_is_told_where_the_file_is_there(tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    file.write_text("a\tb\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="a weight is a number.*got '8x'"):
        parse_pairs_file(f"{file}@8x")


def test_specifications_are_stored_for_any_folder(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.tsv", "b@2"):
        (tmp_path / name).write_text("a\tb\n", encoding="utf-8")
    stored = absolute_pairs_files(["a.tsv", "a.tsv@3:target=de", "b@2"])
    assert stored == [f"{tmp_path}/a.tsv", f"{tmp_path}/a.tsv@3:target=de", f"{tmp_path}/b@2@1"]
    (tmp_path / "b@2").unlink()
    assert [parse_pairs_file(text)[0].name for text in stored] == ["a.tsv", "a.tsv", "b@2"]


@given(st.text(max_size=20))
def test_a_tag_stands_before_text_and_a_blank_one_stays_blank(text: str) -> None:
    assert tagged(text, "") == text
    assert tagged(text, "mine") == (f"<mine> {text}" if text.strip() else text)


def test_a_tag_is_the_same_however_its_letters_are_composed() -> None:
    assert check_tag("e\u0301") == "\u00e9"
    assert parse_pairs_file("a.tsv:tag=e\u0301", nowhere)[1].tag == "\u00e9"


def test_the_tags_of_a_model_are_those_that_it_read_and_none_is_one_of_them() -> None:
    assert tags_read([Use(), Use(8.0)]) == ()
    assert tags_read([Use(tag="mine"), Use(), Use(tag="mine")]) == ("mine", "")
    assert tags_read([Use(tag="mine")], before=("",)) == ("", "mine")
    assert tags_read([Use()], before=("",)) == ()


@pytest.mark.parametrize(
    ("asked", "known", "chosen"),
    [
        (None, (), ""),
        ("", (), ""),
        (None, ("mine", ""), ""),
        ("", ("mine", ""), ""),
        ("mine", ("mine", ""), "mine"),
        (None, ("mine",), "mine"),
        ("de", ("de", "fr"), "de"),
    ],
)
def test_without_a_word_a_text_is_read_as_in_training(
    asked: str | None, known: tuple[str, ...], chosen: str
) -> None:
    assert chosen_tag(asked, known) == chosen


@pytest.mark.parametrize(
    ("asked", "known", "message"),
    [
        ("mine", (), "got 'mine'. It has none: leave the tag out"),
        ("mien", ("", "mine", "news"), "got 'mien'. Its tags: mine, news"),
        (None, ("de", "fr"), "it must be told which. Its tags: de, fr"),
        ("", ("de",), "it must be told which. Its tags: de"),
        ("<de>", ("de",), "a tag is one word"),
    ],
)
def test_a_tag_that_was_never_read_is_refused(
    asked: str | None, known: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        chosen_tag(asked, known)
