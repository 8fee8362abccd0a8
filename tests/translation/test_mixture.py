"""What each file gives to a pass."""

from pathlib import Path

import pytest

from headway.core.batching import TokenBatches
from headway.corpora.corpus import Corpus
from headway.corpora.mixing import Use
from headway.corpora.prepared import Prepared, prepare_corpus
from headway.corpora.settings import DataSettings, TranslationText
from headway.corpora.weighted import WeightedRounds
from headway.demo import generate
from headway.translation.mixture import mixture, shares, tags_seen, valid_files


def prepared(folder: Path, *uses: Use) -> Prepared:
    paths = []
    for seed, _ in enumerate(uses, start=1):
        paths.append(folder / f"{seed}.tsv")
        text = "".join(f"{s} {seed}\t{t} {seed}\n" for s, t in generate(40 * seed, seed))
        paths[-1].write_text(text, encoding="utf-8")
    return prepare_corpus(
        Corpus(pairs=tuple(paths), uses=uses), DataSettings(), TranslationText(vocabulary_size=500),
        hold_out=10, root=folder / "cache",
    )  # fmt: skip


def test_shares_are_what_the_batches_of_a_pass_hold(tmp_path: Path) -> None:
    found = prepared(tmp_path, Use(), Use(3.0, "mine"), Use(2.0))
    store = found.train
    batches = TokenBatches(
        list(store.lengths.values()), batch_tokens=100, seed=1, rounds=WeightedRounds(found.weights)
    )
    tokens = dict.fromkeys(store.files, 0)
    for i in (i for batch in batches.epoch(0) for i in batch.tolist()):
        tokens[store.files[store.file_numbers[i]]] += int(store.lengths["target"][i]) + 1
    for share in shares(found):
        assert share.share == pytest.approx(tokens[share.file] / sum(tokens.values()))
        assert share.n_pairs > 0
    assert sum(share.share for share in shares(found)) == pytest.approx(1)
    assert [share.use.weight for share in shares(found)] == [3, 2, 1]


def test_each_file_is_told_with_weight_and_tag_and_a_plain_one_is_not(tmp_path: Path) -> None:
    heavy, plain = mixture(prepared(tmp_path, Use(), Use(3.0, "mine")))
    assert "2.tsv" in heavy
    assert heavy.endswith(" pairs, each 3 times, tag <mine>")
    assert plain.endswith(" pairs")
    assert mixture(prepared(tmp_path, Use())) == []
    assert len(mixture(prepared(tmp_path, Use(tag="mine")))) == 1


def test_validation_pairs_tell_their_files(tmp_path: Path) -> None:
    assert [Path(name).name for name in valid_files(prepared(tmp_path, Use()))] == ["1.tsv"]


def test_a_tag_of_which_no_pair_is_left_is_said_and_not_learned(tmp_path: Path) -> None:
    """The same file under two tags: all pairs of the second are duplicates."""
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"{s}\t{t}\n" for s, t in generate(60, 1)), encoding="utf-8")
    found = prepare_corpus(
        Corpus(pairs=(path, path), uses=(Use(tag="one"), Use(tag="two"))),
        DataSettings(), TranslationText(vocabulary_size=500), hold_out=10, root=tmp_path / "cache",
    )  # fmt: skip
    assert tags_seen(found, ()) == ("one",)
    assert tags_seen(found, ("two",)) == ("two", "one")
    assert "0 pairs left (see what was dropped)" in mixture(found)[1]
