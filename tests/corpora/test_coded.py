"""Masks where a corpus has codes to learn them from; a tag reaches the ids of the source alone."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from headway.core.cleaning import Pair
from headway.core.errors import ConfigError
from headway.core.subword_training import train_bpe
from headway.core.subwords import Subwords
from headway.corpora.cleaned import CleanedCorpus, clean_corpus
from headway.corpora.coded import ShownPairs, handling_of_codes
from headway.corpora.corpus import Corpus
from headway.corpora.mixing import Use
from headway.corpora.prepared import Prepared, prepare_corpus
from headway.corpora.settings import DataSettings, NotedCleaning, TranslationText
from headway.demo import generate
from headway.localization.placeholders.codes import PLACEHOLDERS
from headway.tokenizers.learners import around


def corpus_of(folder: Path, n_coded: int, n_plain: int) -> Corpus:
    lines = [(f"copy %s to place {n}", f"kopiere %s an Ort {n}") for n in range(n_coded)]
    lines += [(f"the number {n} is here", f"die Zahl {n} ist hier") for n in range(n_plain)]
    file = folder / "pairs.tsv"
    file.write_text("".join(f"{s}\t{t}\n" for s, t in lines), encoding="utf-8")
    return Corpus((), (), (file,))


def cleaned_of(folder: Path, n_coded: int, n_plain: int) -> CleanedCorpus:
    corpus = corpus_of(folder, n_coded, n_plain)
    return clean_corpus(corpus, NotedCleaning(), folder / "cache", hold_out=0)


def subwords(placeholders: tuple[str, ...]) -> Subwords:
    learn = around(placeholders, train_bpe) if placeholders else train_bpe
    return Subwords.train(["some text to learn"] * 3, vocabulary_size=400, learn=learn)


@pytest.mark.parametrize(
    ("n_coded", "n_plain", "expected"),
    [(150, 1000, "mask"), (50, 200, "keep"), (120, 8000, "keep"), (0, 200, "keep")],
)
def test_auto_asks_for_a_share_and_a_number_of_pairs_with_codes(
    tmp_path, n_coded, n_plain, expected
):
    said: list[str] = []
    cleaned = cleaned_of(tmp_path, n_coded, n_plain)
    found = handling_of_codes(partial(cleaned.pairs, "train"), "auto", None, said.append)
    assert found == expected
    assert bool(said) == bool(n_coded)


@pytest.mark.parametrize(
    ("weight", "expected"), [(1.0, "keep"), (4.0, "keep"), (12.0, "mask"), (0.5, "keep")]
)
def test_pairs_with_codes_count_as_often_as_they_are_seen(tmp_path, weight, expected):
    """20 of 5,000 are under 2%, and so are 80; 240 are over 4%."""
    coded, plain = tmp_path / "coded.tsv", tmp_path / "plain.tsv"
    coded.write_text("".join(f"copy %s {n}\tkopiere %s {n}\n" for n in range(20)), "utf-8")
    plain.write_text("".join(f"number {n}\tZahl {n}\n" for n in range(5000)), "utf-8")
    corpus = Corpus((), (), (coded, plain), uses=(Use(weight), Use()))
    cleaned = clean_corpus(corpus, NotedCleaning(), tmp_path / "cache", hold_out=0)
    weights, said = {str(coded): weight}, list[str]()
    pairs = partial(cleaned.pairs, "train")
    found = handling_of_codes(pairs, "auto", None, said.append, weights)
    share = 20 * weight / (20 * weight + 5000)
    assert found == expected
    assert f"{share:.1%}" in said[0]
    assert f"({20 * weight:.0f})" in said[0]


def test_sub_words_that_are_given_say_what_their_model_knows(tmp_path):
    cleaned = cleaned_of(tmp_path, 150, 0)
    masking, plain = subwords(PLACEHOLDERS), subwords(())

    def handling(wanted: str, known: Subwords) -> str:
        return handling_of_codes(partial(cleaned.pairs, "train"), wanted, known, print)

    assert handling("auto", masking) == handling("mask", masking) == "mask"
    assert handling("auto", plain) == handling("keep", masking) == "keep"
    with pytest.raises(ConfigError, match="Leave --text.codes out"):
        handling("mask", plain)


def test_masked_and_kept_corpora_are_kept_apart(tmp_path, monkeypatch):
    monkeypatch.setattr("headway.corpora.prepared.IN_MEMORY", 0)
    corpus = corpus_of(tmp_path, 200, 0)
    prepared = {
        codes: prepare_corpus(
            corpus,
            DataSettings(),
            TranslationText(vocabulary_size=400, codes=codes),
            root=tmp_path / "cache",
        )
        for codes in ("auto", "mask", "keep")
    }
    assert prepared["auto"].train.directory == prepared["mask"].train.directory
    for codes, written in (("mask", PLACEHOLDERS), ("keep", ("%s",))):
        of = prepared[codes]
        assert of.codes == codes
        decoded = [of.subwords.decode(of.train["source"][i]) for i in range(len(of.train))]
        assert all(any(code in text for code in written) for text in decoded)
        assert all("%s" in text for pair in of.valid_texts for text in pair)


TEXTS = {name: generate(60, seed) for seed, name in enumerate(("a", "b"), start=1)}


def files(folder: Path) -> tuple[Path, ...]:
    paths = []
    for name, pairs in TEXTS.items():
        path = folder / f"{name}.tsv"
        path.write_text("".join(f"{s}\t{t}\n" for s, t in pairs), encoding="utf-8")
        paths.append(path)
    return tuple(paths)


def prepared(folder: Path, *uses: Use, valid: Corpus | None = None) -> Prepared:
    return prepare_corpus(
        Corpus(pairs=files(folder), uses=uses),
        DataSettings(), TranslationText(vocabulary_size=2000),
        valid=valid, hold_out=10, root=folder / "cache",
    )  # fmt: skip


def shown(found: Prepared, split: str) -> set[tuple[str, str, str]]:
    """File, and both sides as they were encoded."""
    store = getattr(found, split)
    return {
        (
            Path(store.files[store.file_numbers[i]]).stem,
            found.subwords.decode(store["source"][i]),
            found.subwords.decode(store["target"][i]),
        )
        for i in range(len(store))
    }


@pytest.mark.parametrize("codes", ["keep", "mask"])
def test_the_tag_comes_in_front_of_the_source_after_codes_were_masked(codes) -> None:
    pair = Pair("See <b>this</b>", "Siehe <b>das</b>", "mine.tsv", 1)
    plain = ShownPairs(codes, {})(pair)
    assert ShownPairs(codes, {"mine.tsv": "mine"})(pair) == (f"<mine> {plain[0]}", plain[1])
    assert ShownPairs(codes, {"other.tsv": "mine"})(pair) == plain
    assert (plain[0] == pair.source) == (codes == "keep")


def test_tags_reach_the_source_ids_and_nothing_else(tmp_path: Path) -> None:
    found = prepared(tmp_path, Use(), Use(tag="mine"))
    tags = {"a": "", "b": "<mine> "}
    everything = shown(found, "train") | shown(found, "valid")
    assert {(name, source, target) for name, source, target in everything} <= {
        (name, tags[name] + source, target)
        for name, pairs in TEXTS.items()
        for source, target in pairs
    }
    assert any(name == "b" for name, *_ in shown(found, "valid"))
    known = {pair for pairs in TEXTS.values() for pair in pairs}
    assert set(found.valid_texts) <= known, "what is scored is text without tags"


def test_validation_files_have_their_own_tags(tmp_path: Path) -> None:
    path = tmp_path / "valid.tsv"
    path.write_text("".join(f"{s} now\t{t}\n" for s, t in generate(30, 7)), encoding="utf-8")
    valid = Corpus(pairs=(path,), uses=(Use(tag="b"),))
    found = prepared(tmp_path, Use(tag="a"), Use(tag="b"), valid=valid)
    assert all(source.startswith("<b> ") for _, source, _ in shown(found, "valid"))


def test_sub_words_are_learned_with_the_tags_in_their_places(tmp_path: Path) -> None:
    tag = "<extraordinary> "
    with_tags, without = (
        prepared(tmp_path, Use(), Use(tag=name)).subwords for name in ("extraordinary", "")
    )
    assert len(with_tags.encode(tag)) < len(without.encode(tag))


def test_weights_go_with_the_files_of_the_pairs(tmp_path: Path) -> None:
    assert prepared(tmp_path, Use(), Use(tag="b")).weights is None
    found = prepared(tmp_path, Use(0.5), Use(3.0))
    names = [Path(name).stem for name in found.train.files]
    expected = [{"a": 0.5, "b": 3.0}[names[number]] for number in found.train.file_numbers]
    assert found.weights is not None
    assert found.weights.tolist() == expected
    assert np.unique(found.weights).tolist() == [0.5, 3.0]
