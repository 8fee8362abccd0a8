import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headway.core.errors import ConfigError
from headway.core.subwords import Subwords
from headway.corpora.corpus import Corpus
from headway.corpora.prepared import Prepared, prepare_corpus
from headway.corpora.settings import DataSettings, TranslationText
from headway.tokenizers.learners import train_wordpiece

TEXTS = [(f"the number {i} is here", f"die Zahl {i} ist hier") for i in range(200)]
TRAIN = [pair for i, pair in enumerate(TEXTS) if i % 10]
VALID = TEXTS[::10]


class Case:
    """A corpus on disk, and what is needed to prepare it again with one thing changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: list[str] = []
        self.files = {name: folder / name for name in ("a.en", "a.de", "v.en", "v.de")}
        for name, path in self.files.items():
            texts = TRAIN if name.startswith("a") else VALID
            lines = [pair[name.endswith("de")] for pair in texts]
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def prepare(self, text: TranslationText | None = None, **changed: Any) -> Prepared:
        arguments: dict[str, Any] = {
            "valid": Corpus((self.files["v.en"],), (self.files["v.de"],)),
            "data": DataSettings(),
            "text": text or TranslationText(vocabulary_size=400),
            "root": self.folder / "cache",
            "say": self.said.append,
        } | changed
        corpus = Corpus((self.files["a.en"],), (self.files["a.de"],))
        return prepare_corpus(corpus, **arguments)


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    """A corpus that counts as large: it goes through the cache."""
    monkeypatch.setattr("headway.corpora.prepared.IN_MEMORY", 0)
    return Case(tmp_path)


def texts(prepared: Prepared) -> list[tuple[str, str]]:
    store, decode = prepared.train, prepared.subwords.decode
    return [(decode(store["source"][i]), decode(store["target"][i])) for i in range(len(store))]


def test_the_stores_hold_the_text_of_the_files(case: Case) -> None:
    prepared = case.prepare()
    assert texts(prepared) == TRAIN
    assert prepared.valid_texts == VALID
    decoded = [prepared.subwords.decode(prepared.valid["target"][i]) for i in range(20)]
    assert decoded == [target for _, target in VALID]
    assert len(prepared.subwords) <= 400
    assert set(prepared.checksums) == {str(path) for path in case.files.values()}
    assert prepared.report.read == prepared.report.kept == 180


def test_nothing_is_done_twice(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    first = case.prepare()
    times = {path: path.stat().st_mtime_ns for path in (case.folder / "cache").rglob("*")}

    def never(*_arguments: object, **_named: object) -> None:
        raise AssertionError("done twice")

    monkeypatch.setattr("headway.corpora.cleaned.write_store", never)
    monkeypatch.setattr(Subwords, "train", never)
    monkeypatch.setattr("headway.corpora.many_pieces.read_pairs", never)
    again = case.prepare()
    assert texts(again) == texts(first)
    assert again.report == first.report
    assert again.subwords.fingerprint() == first.subwords.fingerprint()
    assert {path: path.stat().st_mtime_ns for path in (case.folder / "cache").rglob("*")} == times


def store_of(case: Case, **changed: Any) -> Path:
    return case.prepare(**changed).train.directory


def test_whatever_changes_it_is_done_again(case: Case) -> None:
    folders = [store_of(case)]
    folders.append(store_of(case, data=DataSettings(max_length=20)))
    folders.append(store_of(case, data=DataSettings(max_ratio=4.0)))
    folders.append(store_of(case, text=TranslationText(vocabulary_size=270)))
    folders.append(store_of(case, valid=None))
    folders.append(store_of(case, valid=None, hold_out=7))
    folders.append(store_of(case, valid=None, hold_out=7, seed=2))
    folders.append(store_of(case, subwords=Subwords.train([], vocabulary_size=260)))
    case.files["v.de"].write_text("anders\n" * 20, encoding="utf-8")
    folders.append(store_of(case))
    case.files["a.de"].write_text("anders\n" * 180, encoding="utf-8")
    folders.append(store_of(case))
    assert len(set(folders)) == len(folders)


def test_a_touched_file_with_the_same_text_is_not_a_change(case: Case) -> None:
    before = store_of(case)
    os.utime(case.files["a.en"], (1, 1))
    assert store_of(case) == before


@pytest.mark.parametrize("kind", ["cleaned", "subwords", "encoded"])
def test_a_damaged_cache_is_said_and_made_anew(case: Case, kind: str) -> None:
    expected = texts(case.prepare())
    for folder in (case.folder / "cache").glob(f"{kind}-*"):
        largest = max(folder.iterdir(), key=lambda path: path.stat().st_size)
        os.truncate(largest, largest.stat().st_size // 2)
    case.said.clear()
    assert texts(case.prepare()) == expected
    assert any("damaged" in message or "cannot be read" in message for message in case.said)
    case.said.clear()
    case.prepare()
    assert case.said == []


def test_pairs_with_too_many_tokens_are_dropped_with_their_place(case: Case) -> None:
    # the number 7 is here: digits are pieces of their own, so 6 pieces allow two of them
    prepared = case.prepare(data=DataSettings(max_length=6))
    report = prepared.report
    assert report.dropped == {"too_many_tokens": 90}
    assert report.read == report.kept + 90 == len(prepared.train) + 90 == 180
    assert max(lengths.max() for lengths in prepared.train.lengths.values()) == 6
    example = report.examples["too_many_tokens"][0]
    assert example.file == str(case.files["a.en"])
    assert TRAIN[example.line - 1][0] in example.text
    assert prepared.valid_texts == VALID[:10]
    for i, (source, _) in enumerate(prepared.valid_texts):
        assert prepared.subwords.decode(prepared.valid["source"][i]) == source


def test_no_doubtful_note_counts_of_pairs_with_too_many_tokens(tmp_path: Path) -> None:
    rows = "".join(f"{'very ' * (i % 3)}long {i},lang {i},not OK\n" for i in range(60))
    (tmp_path / "a.csv").write_text(f"en,de,notes\n{rows}", encoding="utf-8")
    report = prepare_corpus(
        Corpus(pairs=(tmp_path / "a.csv",)),
        DataSettings(max_length=12),
        TranslationText(),
        subwords=Subwords.train([], vocabulary_size=260),
        hold_out=0,
        root=tmp_path / "cache",
    ).report
    assert report.dropped["too_many_tokens"] == 20
    assert report.noticed["doubtful_note"] == report.kept == 40


def test_held_out_pairs_are_validated_on(case: Case) -> None:
    prepared = case.prepare(valid=None)
    assert len(prepared.valid) == len(prepared.valid_texts) == 20
    assert not set(prepared.valid_texts) & set(texts(prepared))
    assert prepared.report.dropped == {"held_out": 20}
    assert (prepared.valid_report.read, prepared.valid_report.kept) == (20, 20)


def test_a_fitted_vocabulary_is_said_with_its_reason(case: Case) -> None:
    case.prepare(text=TranslationText())
    assert any("fitted to" in message and "180 pairs" in message for message in case.said)


def test_sampling_is_said_also_when_it_was_done_before(case: Case) -> None:
    settings = TranslationText(vocabulary_size=300, sample_lines=50)
    for _ in range(2):
        case.said.clear()
        case.prepare(text=settings)
        assert case.said == [
            "the sub-words are learned from 50 of 360 lines, drawn at random with seed 1"
        ]


def test_unknown_subwords_are_counted_and_said(case: Case) -> None:
    wordpiece = Subwords.train(
        ["the number", "die Zahl"], vocabulary_size=40, learn=train_wordpiece
    )
    case.prepare(subwords=wordpiece)
    assert any("sub-words are unknown (train)" in message for message in case.said)


def test_given_subwords_are_used_as_they_are(case: Case) -> None:
    subwords = Subwords.train([], vocabulary_size=260)
    prepared = case.prepare(subwords=subwords)
    assert prepared.subwords is subwords
    assert texts(prepared) == TRAIN


@pytest.mark.parametrize(
    ("suffixes", "languages"), [(("src", "tgt"), ("en", "de")), (("src", "fr"), ("en", "fr"))]
)
def test_validation_files_that_say_no_language_have_that_of_training(case, suffixes, languages):
    files = [case.folder / f"other.{suffix}" for suffix in suffixes]
    for file, of in zip(files, ("v.en", "v.de"), strict=True):
        file.write_bytes(case.files[of].read_bytes())
    prepared = case.prepare(valid=Corpus((files[0],), (files[1],)))
    said = {(use.source_language, use.target_language) for use in prepared.valid_uses}
    assert said == {languages}


def test_settings_of_cleaning_are_a_part_of_the_settings_of_data() -> None:
    data = DataSettings(max_ratio=3.0, max_characters=9, deduplicate=False, max_length=4)
    cleaning = data.cleaning()
    assert (cleaning.max_ratio, cleaning.max_characters, cleaning.deduplicate) == (3.0, 9, False)
    assert replace(data, max_length=5).cleaning() == cleaning
    with pytest.raises(ConfigError, match="max_length"):
        DataSettings(max_length=-1)
