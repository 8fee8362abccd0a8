"""A tag reaches the ids of the source and nothing else."""

from pathlib import Path

import numpy as np
import pytest

from headway.data.prepared import DataSettings, Prepared, prepare_corpus
from headway.data.reading import Reading
from headway.text.cleaning import Pair
from headway.text.corpora import Corpus
from headway.text.everyday import generate
from headway.text.mixing import Use
from headway.text.subwords import TextSettings

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
        Corpus(pairs=files(folder), uses=uses), DataSettings(), TextSettings(vocabulary_size=2000),
        valid=valid, hold_out=10, root=folder / "cache",
    )  # fmt: skip


def shown(found: Prepared, split: str) -> set[tuple[str, str, str]]:
    """File, and both sides as they were encoded."""
    store = getattr(found, split)
    return {
        (
            Path(store.content["files"][store.file_numbers[i]]).stem,
            found.subwords.decode(store.source(i)),
            found.subwords.decode(store.target(i)),
        )
        for i in range(len(store))
    }


@pytest.mark.parametrize("codes", ["keep", "mask"])
def test_the_tag_comes_in_front_of_the_source_after_codes_were_masked(codes) -> None:
    pair = Pair("See <b>this</b>", "Siehe <b>das</b>", "mine.tsv", 1)
    plain = Reading(codes, {})(pair)
    assert Reading(codes, {"mine.tsv": "mine"})(pair) == (f"<mine> {plain[0]}", plain[1])
    assert Reading(codes, {"other.tsv": "mine"})(pair) == plain
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
    names = [Path(name).stem for name in found.train.content["files"]]
    expected = [{"a": 0.5, "b": 3.0}[names[number]] for number in found.train.file_numbers]
    assert found.weights is not None
    assert found.weights.tolist() == expected
    assert np.unique(found.weights).tolist() == [0.5, 3.0]
