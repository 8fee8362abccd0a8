"""Masks where a corpus has codes to learn them from, and nowhere else."""

from pathlib import Path

import pytest

from headway.data.cleaned import CleanedCorpus, clean_corpus
from headway.data.coded import handling_of_codes
from headway.data.prepared import DataSettings, prepare_corpus
from headway.errors import ConfigError
from headway.text.cleaning import CleaningSettings
from headway.text.codes import PLACEHOLDERS
from headway.text.corpora import Corpus
from headway.text.subwords import Subwords, TextSettings


def corpus_of(folder: Path, n_coded: int, n_plain: int) -> Corpus:
    lines = [(f"copy %s to place {n}", f"kopiere %s an Ort {n}") for n in range(n_coded)]
    lines += [(f"the number {n} is here", f"die Zahl {n} ist hier") for n in range(n_plain)]
    file = folder / "pairs.tsv"
    file.write_text("".join(f"{s}\t{t}\n" for s, t in lines), encoding="utf-8")
    return Corpus((), (), (file,))


def cleaned_of(folder: Path, n_coded: int, n_plain: int) -> CleanedCorpus:
    corpus = corpus_of(folder, n_coded, n_plain)
    return clean_corpus(corpus, CleaningSettings(), folder / "cache", hold_out=0)


def subwords(placeholders: tuple[str, ...]) -> Subwords:
    return Subwords.train(
        ["some text to learn"] * 3, vocabulary_size=400, placeholders=placeholders
    )


@pytest.mark.parametrize(
    ("n_coded", "n_plain", "expected"),
    [(150, 1000, "mask"), (50, 200, "keep"), (120, 8000, "keep"), (0, 200, "keep")],
)
def test_auto_asks_for_a_share_and_a_number_of_pairs_with_codes(
    tmp_path, n_coded, n_plain, expected
):
    said: list[str] = []
    cleaned = cleaned_of(tmp_path, n_coded, n_plain)
    for _ in range(2):  # the second time it is known
        found = handling_of_codes(cleaned, "auto", None, tmp_path / "cache", said.append)
        assert found == expected
    assert bool(said) == bool(n_coded)


def test_sub_words_that_are_given_say_what_their_model_knows(tmp_path):
    cleaned = cleaned_of(tmp_path, 150, 0)
    masking, plain = subwords(PLACEHOLDERS), subwords(())

    def handling(wanted: str, known: Subwords) -> str:
        return handling_of_codes(cleaned, wanted, known, tmp_path / "cache", print)

    assert handling("auto", masking) == handling("mask", masking) == "mask"
    assert handling("auto", plain) == handling("keep", masking) == "keep"
    with pytest.raises(ConfigError, match="Leave --text.codes out"):
        handling("mask", plain)


def test_masked_and_kept_corpora_are_kept_apart(tmp_path):
    corpus = corpus_of(tmp_path, 200, 0)
    prepared = {
        codes: prepare_corpus(
            corpus,
            DataSettings(),
            TextSettings(vocabulary_size=400, codes=codes),
            root=tmp_path / "cache",
        )
        for codes in ("auto", "mask", "keep")
    }
    assert prepared["auto"].train.directory == prepared["mask"].train.directory
    for codes, written in (("mask", PLACEHOLDERS), ("keep", ("%s",))):
        of = prepared[codes]
        assert of.codes == codes
        decoded = [of.subwords.decode(of.train.source(i)) for i in range(len(of.train))]
        assert all(any(code in text for code in written) for text in decoded)
        assert all("%s" in text for pair in of.valid_texts for text in pair)
