import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.core.dedup_split import held_out_size
from headway.core.disk import DAY_S, clear_asides
from headway.core.errors import DataError
from headway.corpora.cleaned import CleanedCorpus, clean_corpus
from headway.corpora.corpus import Corpus
from headway.corpora.in_memory import PairsInMemory
from headway.corpora.mixing import Use
from headway.corpora.settings import DataSettings, NotedCleaning

Texts = list[tuple[str, str]]
FEW = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("wxyz")), max_size=12)


def corpus_of(folder: Path, name: str, texts: Texts) -> Corpus:
    path = folder / f"{name}.tsv"
    path.write_text("".join(f"{s}\t{t}\n" for s, t in texts) + "\n", encoding="utf-8")
    return Corpus(pairs=(path,))


def cleaned_of(
    folder: Path, train: Texts, valid: Texts | None = None, **more: int
) -> CleanedCorpus:
    return clean_corpus(
        corpus_of(folder, "train", train),
        NotedCleaning(),
        folder / "cache",
        valid=None if valid is None else corpus_of(folder, "valid", valid),
        **more,
    )


def texts_of(cleaned: CleanedCorpus, split: str) -> Texts:
    return [(pair.source, pair.target) for pair in cleaned.pairs(split)]  # type: ignore[arg-type]


@settings(max_examples=40)
@given(FEW, FEW)
def test_duplicates_and_leaks_are_those_found_by_hand(
    tmp_path_factory: pytest.TempPathFactory, train: Texts, valid: Texts
) -> None:
    folder = tmp_path_factory.mktemp("any")
    cleaned = cleaned_of(folder, train, valid)
    no_leaks = [
        pair
        for pair in train
        if pair[0] not in {s for s, _ in valid} and pair[1] not in {t for _, t in valid}
    ]
    expected = list(dict.fromkeys(no_leaks))
    report = cleaned.reports["train"]
    assert texts_of(cleaned, "train") == expected
    assert texts_of(cleaned, "valid") == valid
    assert report.dropped["leakage"] == len(train) - len(no_leaks)
    assert report.dropped["duplicate"] == len(no_leaks) - len(expected)
    assert report.read == len(train) + 1 == report.kept + report.dropped.total()
    assert cleaned.n_characters == 2 * len(expected)
    assert list(cleaned.train_lines()) == [text for pair in expected for text in pair]


@settings(max_examples=40)
@given(FEW, st.integers(0, 12), st.integers(0, 2))
def test_held_out_pairs_share_no_side_with_training(
    tmp_path_factory: pytest.TempPathFactory, train: Texts, hold_out: int, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("any")
    cleaned = cleaned_of(folder, train, hold_out=hold_out, seed=seed)
    kept, held_out = texts_of(cleaned, "train"), texts_of(cleaned, "valid")
    assert not {s for s, _ in kept} & {s for s, _ in held_out}
    assert not {t for _, t in kept} & {t for _, t in held_out}
    assert set(kept) | set(held_out) <= set(train)
    assert len(held_out) == min(hold_out, len(set(train)) // 2)
    report = cleaned.reports["train"]
    assert report.dropped["held_out"] == cleaned.reports["valid"].kept == len(held_out)
    assert report.read == report.kept + report.dropped.total()


def test_what_is_held_out_costs_nothing_else_where_sides_occur_once(tmp_path: Path) -> None:
    common = [(f"question {i}", "yes") for i in range(50)]
    single = [(f"source {i}", f"target {i}") for i in range(50)]
    cleaned = cleaned_of(tmp_path, common + single, hold_out=10)
    assert cleaned.reports["train"].dropped == {"held_out": 10, "blank_side": 1}
    assert set(texts_of(cleaned, "valid")) <= set(single)


def test_how_much_is_held_out() -> None:
    sizes = {0: 0, 1: 0, 30: 15, 300: 20, 2_000: 100, 29_000: 1_000, 5_000_000: 1_000}
    assert {n_pairs: held_out_size(n_pairs) for n_pairs in sizes} == sizes


def test_how_much_is_held_out_is_of_pairs_that_are_no_repeats(tmp_path: Path) -> None:
    texts = numbered("a", 1_000) * 5
    held_out = cleaned_of(tmp_path, texts).reports["valid"].kept
    assert held_out == held_out_size(1_000)
    corpus = corpus_of(tmp_path, "train", texts)
    in_memory = PairsInMemory(corpus, DataSettings(), valid=None, hold_out=None, seed=1)
    assert in_memory.reports["valid"].kept == held_out
    repeats_stay = NotedCleaning(deduplicate=False)
    assert clean_corpus(corpus, repeats_stay, tmp_path / "cache").reports["valid"].kept == 250


def test_the_seed_chooses_what_is_held_out(tmp_path: Path) -> None:
    texts = [(f"s{i}", f"t{i}") for i in range(100)]
    chosen = [
        texts_of(cleaned_of(tmp_path, texts, hold_out=10, seed=seed), "valid") for seed in (1, 1, 2)
    ]
    assert chosen[0] == chosen[1] != chosen[2]


def test_examples_of_every_reason_name_file_and_line(tmp_path: Path) -> None:
    train = [("a", "w"), ("", "x"), ("a", "w"), ("b", "y"), ("c", "x" * 999)]
    cleaned = cleaned_of(tmp_path, train, [("b", "z")])
    examples = cleaned.reports["train"].examples
    lines = {reason: [(e.file, e.line) for e in es] for reason, es in examples.items()}
    file = str(tmp_path / "train.tsv")
    assert lines == {
        "blank_side": [(file, 2), (file, 6)],
        "duplicate": [(file, 3)],
        "leakage": [(file, 4)],
        "length_ratio": [(file, 5)],
    }
    assert next(cleaned.pairs("train")).origin == f"{file}:1"


def test_duplicates_are_kept_on_request(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, "train", [("a", "w")] * 3)
    settings = NotedCleaning(deduplicate=False)
    cleaned = clean_corpus(corpus, settings, tmp_path / "cache", hold_out=0)
    assert cleaned.reports["train"].kept == 3


def test_copies_are_counted_after_everything_else_was_dropped(tmp_path: Path) -> None:
    cleaned = cleaned_of(tmp_path, [("a", "a"), ("a", "a"), ("b", "b"), ("c", "d")], [("b", "z")])
    assert cleaned.reports["train"].noticed == {"copy": 1}


def test_a_shifted_corpus_is_suspicious(tmp_path: Path) -> None:
    texts = [("x" * (5 + i * 37 % 90), "y" * (5 + i * 37 % 90) + str(i)) for i in range(600)]
    shifted = [(s, t) for (s, _), (_, t) in zip(texts[1:], texts, strict=False)]
    assert cleaned_of(tmp_path, texts, hold_out=0).reports["train"].suspicions == []
    (suspicion,) = cleaned_of(tmp_path, shifted, hold_out=0).reports["train"].suspicions
    assert "1 line(s) before" in suspicion


def test_misaligned_files_leave_nothing_in_the_cache(tmp_path: Path) -> None:
    for name, n_lines in (("a.en", 3), ("a.de", 2)):
        (tmp_path / name).write_text("text\n" * n_lines, encoding="utf-8")
    corpus = Corpus((tmp_path / "a.en",), (tmp_path / "a.de",))
    with pytest.raises(DataError, match="has 3 lines"):
        clean_corpus(corpus, NotedCleaning(), tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def mixed(folder: Path, uses: tuple[Use, ...], *texts: Texts) -> Corpus:
    """Files a.tsv, b.tsv, .. with these uses."""
    paths = [
        corpus_of(folder, name, some).pairs[0] for name, some in zip("abc", texts, strict=False)
    ]
    return Corpus(pairs=tuple(paths), uses=uses)


def numbered(name: str, n: int) -> Texts:
    return [(f"{name} {i}", f"{name.upper()} {i}") for i in range(n)]


def test_of_copies_in_several_files_the_heaviest_is_kept_and_of_equals_the_first(
    tmp_path: Path,
) -> None:
    texts = [("one", "eins"), ("two", "zwei")]
    for weights, kept in (((1.0, 8.0, 2.0), "b"), ((3.0, 3.0, 3.0), "a"), ((0.5, 1.0, 1.0), "b")):
        corpus = mixed(tmp_path, tuple(map(Use, weights)), texts, texts, texts)
        cleaned = clean_corpus(corpus, NotedCleaning(), tmp_path / "cache", hold_out=0)
        assert {Path(pair.file).stem for pair in cleaned.pairs("train")} == {kept}
        assert cleaned.reports["train"].dropped["duplicate"] == 4


def test_validation_pairs_are_drawn_from_the_heaviest_files(tmp_path: Path) -> None:
    texts = numbered("a", 2_000), numbered("b", 500), numbered("c", 450)
    for weights, drawn_from, n_held_out in (
        ((1.0, 4.0, 2.0), {"b"}, 25),
        ((1.0, 4.0, 4.0), {"b", "c"}, 47),
        ((1.0, 1.0, 1.0), {"a", "b", "c"}, 147),
        ((3.0, 1.0, 1.0), {"a"}, 100),
    ):
        corpus = mixed(tmp_path, tuple(map(Use, weights)), *texts)
        cleaned = clean_corpus(corpus, NotedCleaning(), tmp_path / "cache")
        held_out = [Path(pair.file).stem for pair in cleaned.pairs("valid")]
        assert (set(held_out), len(held_out)) == (drawn_from, n_held_out)


def test_lighter_files_join_where_the_heaviest_is_too_small_to_measure_on(tmp_path: Path) -> None:
    corpus = mixed(tmp_path, (Use(), Use(20.0)), numbered("a", 3_000), numbered("b", 30))
    cleaned = clean_corpus(corpus, NotedCleaning(), tmp_path / "cache")
    held_out = [Path(pair.file).stem for pair in cleaned.pairs("valid")]
    assert len(held_out) == held_out_size(3_030)
    assert held_out.count("b") < 15, "most of a small file is trained on"
    many = clean_corpus(
        mixed(tmp_path, (Use(), Use(2.0)), numbered("a", 3_000), numbered("b", 500)),
        NotedCleaning(), tmp_path / "cache", hold_out=400,
    )  # fmt: skip
    assert {Path(pair.file).stem for pair in many.pairs("valid")} == {"a", "b"}
    assert many.reports["valid"].kept == 400


@pytest.mark.parametrize("said_by", ["keys", "headers"])
def test_where_a_corpus_is_read_both_ways_no_text_of_the_validation_set_is_on_either_side(
    said_by: str, tmp_path: Path
) -> None:
    there, turned = tmp_path / "a.tsv", tmp_path / "b.tsv"
    texts = "".join(f"one {i}\teins {i}\n" for i in range(100))
    there.write_text(f"en\tde\n{texts}", encoding="utf-8")
    texts = "".join(f"eins {i}\tone {i}\n" for i in range(100))
    turned.write_text(f"de\ten\n{texts}", encoding="utf-8")
    languages = ("en", "de") if said_by == "keys" else (None, None)
    uses = tuple(map(Use, (1.0, 1.0), ("de", "en"), languages))
    pairs = (there, there if said_by == "keys" else turned)
    cleaned = clean_corpus(Corpus(pairs=pairs, uses=uses), NotedCleaning(), tmp_path / "cache")
    sides = {
        split: {t for pair in texts_of(cleaned, split) for t in pair}
        for split in ("train", "valid")
    }
    assert not sides["train"] & sides["valid"]
    assert len(sides["train"] | sides["valid"]) == 200


def test_languages_that_are_given_count_where_they_say_whether_it_is_read_both_ways(
    tmp_path: Path,
) -> None:
    files = {name: tmp_path / name for name in ("x.en", "x.de", "y.de", "y.en")}
    for name, path in files.items():
        path.write_text("".join(f"{name[2:]} {i}\n" for i in range(100)), encoding="utf-8")
    said = Corpus((files["x.en"], files["y.de"]), (files["x.de"], files["y.en"]))
    given = replace(said, source_language="en", target_language="de")
    assert said.both_ways
    assert not given.both_ways
    folders = {
        clean_corpus(one, NotedCleaning(), tmp_path / "cache").directory for one in (said, given)
    }
    assert len(folders) == 2


def test_what_other_readers_read_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = []
    for version in (1, 2):
        monkeypatch.setattr("headway.corpora.cleaned.CLEANING_VERSION", version)
        folders.append(cleaned_of(tmp_path, [("a", "w")], hold_out=0).directory)
    assert folders[0] != folders[1]


@pytest.mark.parametrize("held_out", [0, 4])
def test_doubtful_notes_count_where_their_pairs_are_used(held_out: int, tmp_path: Path) -> None:
    texts = [(f"s{i}", f"t{i}", "not OK" if i % 2 else "fine") for i in range(12)]
    texts += [*texts[:4], ("s5", "other", "wrong"), ("s6", "another", "wrong")]
    rows = "".join(",".join(row) + "\n" for row in texts)
    (tmp_path / "a.csv").write_text(f"en,de,notes\n{rows}", encoding="utf-8")
    cleaned = clean_corpus(
        Corpus(pairs=(tmp_path / "a.csv",)),
        NotedCleaning(),
        tmp_path / "cache",
        valid=None if held_out else corpus_of(tmp_path, "valid", [("s5", "x"), ("y", "t1")]),
        hold_out=held_out,
        workers=1,
    )
    doubted = {(source, target) for source, target, note in texts if note != "fine"}
    for split, report in cleaned.reports.items():
        used = texts_of(cleaned, split)
        assert report.noticed["doubtful_note"] == sum(pair in doubted for pair in used)
    assert cleaned.reports["train"].noticed["doubtful_note"] > 0


def test_what_takes_days_loses_nothing_to_another_command_that_sweeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headway.corpora.many_pieces.PIECE_PAIRS", 2)
    root = tmp_path / "cache"

    def days_later(stage: str, _done: int, _total: int | None) -> None:
        for left in root.glob(".*.part") if stage == "reading" else ():
            os.utime(left, (0, 0))
        clear_asides(root, idle_s=DAY_S)

    train = numbered("a", 9)
    corpus = corpus_of(tmp_path, "train", train)
    cleaned = clean_corpus(
        corpus, NotedCleaning(), root, hold_out=0, workers=1, progress=days_later
    )
    assert texts_of(cleaned, "train") == train
