"""What is prepared into shards is what a corpus in memory is."""

from pathlib import Path
from typing import Any

import pytest
from shard_cases import WORDS, ids, in_shards, messy_pairs, same, usual, written

from headway.corpora.cache_place import silent
from headway.corpora.pieces import unseen
from headway.corpora.settings import TranslationText
from headway.large_corpora import held_out, plan, repeated_pairs
from headway.large_corpora.learn_subwords import sampled
from headway.large_corpora.plan import ShardPlan
from headway.large_corpora.stages import prepare_shards
from headway.translation.pairs import TranslationData


@pytest.fixture
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is cut up as if the corpus was large."""
    monkeypatch.setattr(repeated_pairs, "RANGE_PAIRS", 300)
    monkeypatch.setattr("headway.large_corpora.clean_units.SORTED_ROWS", 100)
    monkeypatch.setattr("headway.corpora.many_pieces.PIECE_PAIRS", 200)
    monkeypatch.setattr(held_out, "POOL", 16)


@pytest.mark.parametrize("seed", range(2))
def test_the_same_pairs_are_kept_and_held_out_as_of_a_corpus_in_memory(
    tmp_path: Path, small_ranges: None, seed: int
) -> None:
    data = TranslationData(pairs=written(tmp_path, 3, 500, seed), workers=1)
    same(in_shards(tmp_path / "shards", data), usual(data))


def test_so_are_those_of_two_text_files_with_files_to_validate_on_parted_in_stripes(
    tmp_path: Path, small_ranges: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "STRIPE_BYTES", 20_000)
    sides: list[Any] = []
    for name, n, seed in (("train", 700, 5), ("valid", 60, 6)):
        for place, suffix in enumerate(("en", "de")):
            lines = [pair[place].replace("\n", " ") for pair in messy_pairs(n, seed)]
            lines[9:12] = [pair[place] for pair in messy_pairs(3, 5)]  # leaks
            (tmp_path / f"{name}.{suffix}").write_text("\n".join(lines) + "\n", encoding="utf-8")
            sides.append((tmp_path / f"{name}.{suffix}",))
    source, target, valid_source, valid_target = sides
    data = TranslationData(
        source=source,
        target=target,
        valid_source=valid_source,
        valid_target=valid_target,
        workers=1,
    )
    text = TranslationText(vocabulary_size=300)
    found, expected = in_shards(tmp_path / "shards", data, text), usual(data, text)
    assert len(ShardPlan(tmp_path / "shards", data, text).units) > 2
    assert found.report.dropped == expected.report.dropped
    assert found.report.dropped["leakage"] > 2
    assert found.valid_texts == expected.valid_texts
    assert found.corpus.source_language == "en"
    decoded = [[one.subwords.decode_batch(side) for side in zip(*ids(one.train), strict=True)]
               for one in (found, expected)]  # fmt: skip
    assert sorted(zip(*decoded[0], strict=True)) == sorted(zip(*decoded[1], strict=True))


def test_sub_words_are_learned_from_a_sample_that_is_fair_to_all_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = []
    for name in "ab":
        lines = [f"{name} {WORDS[i % 9]} {i}\t{i} {name}\n" for i in range(800)]
        files.append(tmp_path / f"{name}.tsv")
        files[-1].write_text("".join(lines), encoding="utf-8")
    text = TranslationText(vocabulary_size=300, sample_lines=800)
    data = TranslationData(pairs=tuple(map(str, files)), workers=1)
    shards = ShardPlan(tmp_path / "shards", data, text)
    shards.begin()
    for name in ("clean", "repeats", "split", "sample"):
        prepare_shards(shards, silent, unseen, only=name)
    drawn = [pair.source for pair in sampled(shards).pairs("train")]
    n_first = sum(source.startswith("a") for source in drawn)
    assert 380 <= len(drawn) <= 460  # of 1,520; four deviations of chance
    assert 160 <= n_first <= 260


def test_the_sample_of_a_repetitive_corpus_is_as_large_as_that_of_its_different_pairs(
    tmp_path: Path,
) -> None:
    lines = [f"{WORDS[i % 9]} {i}\t{i}\n" for i in range(800)]
    sizes = []
    for times in (1, 20):
        file = tmp_path / f"{times}.tsv"
        file.write_text("".join(lines * times), encoding="utf-8")
        data = TranslationData(pairs=(str(file),), workers=1)
        text = TranslationText(vocabulary_size=300, sample_lines=1_600)
        shards = ShardPlan(tmp_path / f"shards-{times}", data, text)
        shards.begin()
        for name in ("clean", "repeats", "split", "sample"):
            prepare_shards(shards, silent, unseen, only=name)
        cleaned = sampled(shards)
        assert len(list(cleaned.pairs("train"))) == cleaned.reports["train"].kept
        sizes.append(tuple(len(list(cleaned.pairs(split))) for split in ("train", "valid")))
    assert sizes == [(760, 40), (760, 40)]
