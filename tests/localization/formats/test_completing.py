"""A target file is completed: its texts are kept, and those that it lacks are gaps."""

from pathlib import Path

import pytest

from headway.core.errors import ConfigError, DataError
from headway.localization.formats.documents import Document
from headway.localization.formats.file_kinds import opener_of
from headway.localization.formats.keyed import completed
from headway.localization.placeholders.segments import Segment


def opened(file: Path, onto: Path) -> Document:
    document = completed(opener_of(file)(file, "en", "pl", False), file, onto)
    assert isinstance(document, Document)
    return document


def test_known_texts_are_kept_and_the_others_are_gaps(tmp_path):
    source, target = tmp_path / "en.json", tmp_path / "pl.json"
    source.write_text('{"a": "one", "n_one": "x", "n_other": "xs", "b": "two", "c": "--"}')
    target.write_text('{"b": "two", "n_few": "iksy", "a": "jeden", "old": "stary", "e": ""}')
    document = opened(source, target)
    assert [gap.key for gap in document.gaps] == ["n_one", "n_other", "n_many", "b"]
    assert document.counts.left == {"translated": 2, "blank_side": 1, "only_in_target": 1}
    new = [Segment((text,)) for text in ("iks", "iksa", "iksow", "dwa")]
    for percents in ((), (None, 100, None, 90)):
        assert document.filled(new, percents).decode() == (
            '{"a": "jeden", "n_one": "iks", "n_other": "iksa", "n_few": "iksy", "n_many": "iksow",'
            ' "b": "dwa", "c": "--"}'
        )


def test_the_cues_of_a_sentence_are_kept_one_by_one(tmp_path):
    def written(name: str, *texts: str) -> Path:
        cues = [f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{text}\n" for n, text in enumerate(texts)]
        path = tmp_path / name
        path.write_text("\n".join(cues))
        return path

    source = written("en.srt", "The old man went", "to the market", "and bought", "a fish.")
    begun = written("de.srt", "Der alte Mann ging", "zum Markt", "and bought")
    document = opened(source, begun)
    assert [gap.source.text for gap in document.gaps] == ["and bought a fish."]
    assert document.counts.left == {"translated": 2}
    after = document.filled([Segment(("und kaufte Fisch.",))])
    whole = written("whole.srt", "Der alte Mann ging", "zum Markt", "und kaufte", "Fisch.")
    assert after == whole.read_bytes()
    assert not opened(source, whole).gaps


def test_only_files_of_one_language_are_completed(tmp_path):
    for name, text in (("a.json", "{}"), ("a.tsv", "a\t\n"), ("b.resx", "<root/>")):
        (tmp_path / name).write_text(text)
    for one, other in (("a.tsv", "a.tsv"), ("a.json", "b.resx")):
        with pytest.raises(ConfigError, match="--onto"):
            opened(tmp_path / one, tmp_path / other)
    (tmp_path / "b.json").write_text("[")
    with pytest.raises(DataError, match=r"b\.json"):
        opened(tmp_path / "a.json", tmp_path / "b.json")
