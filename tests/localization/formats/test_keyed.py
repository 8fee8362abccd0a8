"""Two files of one language each become pairs by their keys."""

import gzip
import json
from pathlib import Path

import pytest

from headway.core.cleaning import Report
from headway.core.errors import DataError
from headway.corpora.corpus import Corpus, languages, read_pairs
from headway.languages.codes import LanguagePair
from headway.languages.path_languages import named_language
from headway.localization.memory.building import memory_of


def test_texts_with_the_same_key_are_pairs(tmp_path):
    (tmp_path / "en.json").write_text('{"a": {"b": "one"}, "c": "two", "d": "three", "e": ""}')
    packed = gzip.compress(b'{"d": "", "a": {"b": "eins"}, "x": "y", "e": ""}')
    (tmp_path / "de.json.gz").write_bytes(packed)
    corpus = Corpus((tmp_path / "en.json",), (tmp_path / "de.json.gz",))
    report = Report()
    assert [pair[:2] for pair in read_pairs(corpus, report)] == [("one", "eins")]
    assert report.dropped == {"missing_language": 1, "untranslated": 1, "blank_side": 1}
    assert report.read == 4
    assert languages(corpus) == ("en", "de")


def test_cues_of_the_same_time_are_pairs_and_comments_come_along(tmp_path):
    cue = "1\n00:00:01,000 --> 00:00:02,000\n{}\n"
    (tmp_path / "a.en.srt").write_text(cue.format("Hi\nthere"))
    (tmp_path / "a.fr.srt").write_text(cue.format("Salut"))
    corpus = Corpus((tmp_path / "a.en.srt",), (tmp_path / "a.fr.srt",))
    assert [pair[:2] for pair in read_pairs(corpus, Report())] == [("Hi there", "Salut")]
    (tmp_path / "en.properties").write_text("# not OK\na=b\n")
    (tmp_path / "fr.properties").write_text("a=c\n")
    corpus = Corpus((tmp_path / "en.properties",), (tmp_path / "fr.properties",))
    assert [pair.remarks for pair in read_pairs(corpus, Report())] == [("source comment: not OK",)]


def test_arb_files_say_their_languages_and_what_describes_a_text_is_none(tmp_path):
    files = tmp_path / "app.arb", tmp_path / "app_fr.arb"
    texts = {"en": "Hello, {name}!", "de": "Hallo, {name}!"}
    for file, (language, text) in zip(files, texts.items(), strict=True):
        about = {"description": language, "placeholders": {"name": {"example": language}}}
        file.write_text(json.dumps({"@hi": about, "hi": text, "@@locale": language}))
    corpus, report = Corpus(files[:1], files[1:]), Report()
    assert [pair[:2] for pair in read_pairs(corpus, report)] == [tuple(texts.values())]
    assert report.read == 1
    assert languages(corpus) == ("en", "de")
    assert len(memory_of(files, LanguagePair())) == 1


def test_two_kinds_do_not_go_together(tmp_path):
    for name in ("a.json", "b.txt"):
        (tmp_path / name).write_text('{"a": "b"}')
    with pytest.raises(DataError, match=r"b\.txt"):
        list(read_pairs(Corpus((tmp_path / "a.json",), (tmp_path / "b.txt",)), Report()))


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("en.json", "en"), ("app_pt_BR.properties", "pt_BR"), ("a.zh-Hans.resx.gz", "zh-Hans"),
        ("en.lproj/x.strings", "en"), ("locales/de/common.json", "de"), ("ui.json", None),
        ("film.en.srt", "en"), ("common.json", None),
        ("values-pt-rBR/strings.xml", "pt-BR"), ("values-in/strings.xml", "id"),
        ("values-iw-rIL/strings.xml", "he-IL"), ("values-b+sr+Latn/strings.xml", "sr-Latn"),
        ("values-land/strings.xml", None), ("plug-in.json", None),
    ],
)  # fmt: skip
def test_the_language_is_in_the_name_of_a_file_or_folder(name, language):
    assert named_language(Path(name)) == language
