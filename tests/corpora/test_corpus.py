import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.cleaning import CleaningSettings, Pair, Report, clean, clean_pairs
from headway.core.errors import ConfigError, DataError
from headway.core.lines import MAX_LINE_BYTES
from headway.corpora.corpus import Corpus, languages, read_pairs
from headway.corpora.mixing import Use
from headway.corpora.reasons import REASONS


def written(path: Path, content: str | bytes) -> Path:
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def sides(pairs: list[Pair]) -> list[tuple[str, str]]:
    return [(pair.source, pair.target) for pair in pairs]


def read(corpus: Corpus) -> tuple[list[Pair], Report]:
    report = Report()
    return list(read_pairs(corpus, report)), report


def two_files(folder: Path, source: str | bytes, target: str | bytes) -> Corpus:
    return Corpus((written(folder / "a.en", source),), (written(folder / "a.de", target),))


def test_line_n_goes_with_line_n(tmp_path: Path) -> None:
    pairs, report = read(two_files(tmp_path, "a\nb\n\n", "x\ny\nz"))
    assert sides(pairs) == [("a", "x"), ("b", "y"), ("", "z")]
    assert [pair.origin for pair in pairs] == [f"{tmp_path}/a.en:{n}" for n in (1, 2, 3)]
    assert (report.read, report.dropped) == (3, {})


def test_several_files_are_read_in_their_order(tmp_path: Path) -> None:
    sources = tuple(written(tmp_path / f"{i}.en", f"s{i}\n") for i in range(2))
    targets = tuple(written(tmp_path / f"{i}.de.gz", f"t{i}\n") for i in range(2))
    more = written(tmp_path / "c.tsv", "s2\tt2\n")
    pairs, report = read(Corpus(sources, targets, (more,)))
    assert sides(pairs) == [("s0", "t0"), ("s1", "t1"), ("s2", "t2")]
    assert report.read == 3


@pytest.mark.parametrize(("n_source", "n_target"), [(3, 2), (2, 3), (1, 1_000)])
def test_unequal_numbers_of_lines_are_refused_with_both(
    n_source: int, n_target: int, tmp_path: Path
) -> None:
    corpus = two_files(tmp_path, "a\n" * n_source, "b\n" * n_target)
    expected = rf"a\.en has {n_source:,} lines and .*a\.de has {n_target:,}\. Find the line"
    with pytest.raises(DataError, match=expected):
        read(corpus)


def test_where_a_line_is_missing_is_said(tmp_path: Path) -> None:
    lines = ["x" * (5 + i * 37 % 90) for i in range(3_000)]
    corpus = two_files(tmp_path, "\n".join(lines), "\n".join(lines[:1_234] + lines[1_235:]))
    with pytest.raises(DataError, match="has 3,000 lines .*between lines 1,215 and 1,255"):
        read(corpus)


def test_an_overlong_line_drops_its_pair_and_shifts_nothing(tmp_path: Path) -> None:
    long = "y" * (MAX_LINE_BYTES + 1)
    pairs, report = read(two_files(tmp_path, f"a\n{long}\nc\nd", f"x\ny\nz\n{long}"))
    assert sides(pairs) == [("a", "x"), ("c", "z")]
    assert (report.read, report.dropped) == (4, {"line_too_long": 2})
    places = [(Path(e.file).name, e.line) for e in report.examples["line_too_long"]]
    assert places == [("a.en", 2), ("a.de", 4)]


def test_tsv_takes_two_columns(tmp_path: Path) -> None:
    content = 'a "q\tx\nb\ty\tCC-BY\n\nalone\n\tz\nc\t\n'
    pairs, report = read(Corpus(pairs=(written(tmp_path / "a.tsv", content),)))
    assert sides(pairs) == [('a "q', "x"), ("b", "y"), ("", "z"), ("c", "")]
    assert report.read == 6
    assert report.dropped == {"blank_side": 1, "one_column": 1}
    assert report.noticed == {"extra_columns": 1}
    assert report.examples["one_column"][0].line == 4


@pytest.mark.parametrize(
    ("first", "header"),
    [
        ("source\ttarget", True),
        ("Source\tTarget", True),
        ("en\tzh-Hans", True),
        ("en\tde\tnote", True),
        ("hi\tja\t2", False),
        ("hi\tja\tCC-BY", False),
        ("Hi\tha", False),
        ("en\ten", False),
        ("go\tgehen", False),
        ("EN\tDE", True),
        ("eng\tdeu", True),
        ("eng_Latn\tzho_Hans", True),
        ("en\tjp", True),
        ("\nEN\tDE", True),
        ("OK\tNO", False),
        ("NO\tno", False),
        ("the\tder", False),
    ],
)
def test_a_header_is_a_row_of_column_names(first: str, header: bool, tmp_path: Path) -> None:
    corpus = Corpus(pairs=(written(tmp_path / "a.tsv.gz", f"{first}\na\tb\n{first}\n"),))
    pairs, report = read(corpus)
    assert len(pairs) == 3 - header
    dropped = {"header": int(header), "blank_side": first.count("\n") * 2}
    assert report.dropped == {reason: n for reason, n in dropped.items() if n}


def jsonl(*entries: object) -> str:
    return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)


def test_jsonl_with_source_and_target(tmp_path: Path) -> None:
    content = jsonl({"source": "a", "target": "x", "id": 3}, {"target": "y", "source": "b"})
    pairs, _ = read(Corpus(pairs=(written(tmp_path / "a.jsonl", content),)))
    assert sides(pairs) == [("a", "x"), ("b", "y")]


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        (None, None, ("a", "x")),
        ("en", "zh", ("a", "x")),
        ("zh", "en", ("x", "a")),
        ("ZH-hans", None, ("x", "a")),
        (None, "EN", ("x", "a")),
    ],
)
def test_jsonl_with_language_codes_follows_the_languages(
    source: str | None, target: str | None, expected: tuple[str, str], tmp_path: Path
) -> None:
    path = written(tmp_path / "a.jsonl.gz", jsonl({"en": "a", "zh-Hans": "x"}))
    pairs, _ = read(Corpus((), (), (path,), source, target))
    assert sides(pairs) == [expected]


def test_jsonl_lines_that_hold_no_pair_are_counted(tmp_path: Path) -> None:
    content = (
        jsonl({"en": "a", "de": "x"}, {"en": "a"}, {"en": 1, "de": "x"}, {"en": None, "de": "x"})
        + '\n[1]\n"text"\n{"en": \n' + "[" * 100_000 + "\n" + '{"en": "\\ud800b", "de": "y"}\n'
    )  # fmt: skip
    pairs, report = read(Corpus(pairs=(written(tmp_path / "a.jsonl", content),)))
    assert sides(pairs) == [("a", "x"), ("\ud800b", "y")]
    assert report.read == 10
    assert report.dropped == {"missing_language": 3, "blank_side": 1, "not_json": 4}


@pytest.mark.parametrize(
    "keys", [["en"], ["en", "de", "fr"], ["question", "answer"], ["src", "tgt"]]
)
def test_jsonl_with_other_keys_is_refused_with_the_rule(keys: list[str], tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", jsonl(dict.fromkeys(keys, "a")))
    with pytest.raises(DataError, match=rf"exactly two language codes.*a\.jsonl:1 has '{keys[0]}'"):
        read(Corpus(pairs=(path,)))


def test_files_that_cannot_be_pairs_are_refused(tmp_path: Path) -> None:
    text = written(tmp_path / "a.txt", "a\n")
    with pytest.raises(DataError, match=r"one of \.po, .*\.csv.*a\.txt.*--source and --target"):
        read(Corpus(pairs=(text,)))
    with pytest.raises(ConfigError, match="pairs of texts are needed"):
        read(Corpus())
    with pytest.raises(ConfigError, match=r"got 2 and 1\. Name them in the same order"):
        read(Corpus((text, text), (text,)))
    with pytest.raises(DataError, match="no such file"):
        read(Corpus((text,), (tmp_path / "missing",)))


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("a.en", "a.de", ("en", "de")),
        ("train.en.gz", "train.zh-Hans.gz", ("en", "zh-Hans")),
        ("en.txt", "de.txt", (None, None)),
        ("train", "b.src", (None, None)),
    ],
)
def test_languages_come_from_the_suffix(
    source: str, target: str, expected: tuple[str | None, str | None], tmp_path: Path
) -> None:
    corpus = Corpus((tmp_path / source,), (tmp_path / target,))
    assert languages(corpus) == expected
    assert languages(corpus, "fr", "it") == ("fr", "it")


def test_languages_come_from_the_header_or_the_keys(tmp_path: Path) -> None:
    header = written(tmp_path / "a.tsv", "en\tzh\na\tb\n")
    keys = written(tmp_path / "a.jsonl", jsonl({"en": "a", "zh": "b"}))
    plain = written(tmp_path / "b.tsv", "source\ttarget\n")
    assert languages(Corpus(pairs=(header,))) == ("en", "zh")
    assert languages(Corpus(pairs=(keys,))) == ("en", "zh")
    assert languages(Corpus((), (), (keys,), "zh")) == ("zh", "en")
    assert languages(Corpus(pairs=(plain,))) == (None, None)


def test_the_heaviest_file_is_read_first_and_others_as_they_were_named(tmp_path: Path) -> None:
    first = two_files(tmp_path, "a\n", "x\n")
    names = ("light.tsv", "plain.tsv", "heavy.tsv", "heavy-too.tsv")
    paths = tuple(written(tmp_path / name, f"{name}\tx\n") for name in names)
    uses = (Use(0.5), Use(), Use(8.0), Use(8.0, "mine"))
    corpus = Corpus(first.source, first.target, paths, uses=uses)
    pairs, _ = read(corpus)
    assert [pair.source for pair in pairs] == ["heavy.tsv", "heavy-too.tsv", "a", *names[1::-1]]
    assert [part.use.weight for part in corpus.parts] == [8, 8, 1, 1, 0.5]
    assert corpus.files == (paths[2], paths[3], *first.files, paths[1], paths[0])


def test_a_file_in_two_languages_is_read_in_both_and_its_pairs_tell_in_which(
    tmp_path: Path,
) -> None:
    path = written(tmp_path / "a.jsonl", jsonl({"en": "one", "de": "eins"}))
    uses = (Use(tag="de"), Use(tag="en", source_language="de"))
    corpus = Corpus(pairs=(path, path), source_language="en", uses=uses)
    pairs, _ = read(corpus)
    assert sides(pairs) == [("one", "eins"), ("eins", "one")]
    assert [pair.file for pair in pairs] == [f"{path}:tag=de", f"{path}:tag=en:source=de"]
    assert [part.name for part in corpus.parts] == [pair.file for pair in pairs]
    assert languages(corpus) == (None, None), "the files differ"
    assert languages(corpus.alone(corpus.parts[1])) == ("de", "en")


def test_the_columns_of_a_tsv_are_turned_where_its_header_says_so(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", "en\tde\none\teins\n")
    for source, target, expected in (
        ("en", None, ("one", "eins")),
        ("de", None, ("eins", "one")),
        (None, "en", ("eins", "one")),
        ("fr", "it", ("one", "eins")),
    ):
        corpus = Corpus(pairs=(path,), source_language=source, target_language=target)
        assert sides(read(corpus)[0]) == [expected]
    assert languages(Corpus(pairs=(path,), source_language="de")) == ("de", "en")


odd = st.sampled_from(
    ["\x00", "\r", "\r\n", "\n", "\n\n", "\x0b", "\x85", "\u2028", "\ufeff", "\t", "é", "e\u0301",
     "我", " ", "a", '"', "{", '{"source": "a", "target": "b"}', "x" * 3_000, "en\tde\n"]
)  # fmt: skip
mutated = st.lists(
    odd | st.text(st.characters(exclude_categories=["Cs"]), max_size=4), min_size=1, max_size=30
).map(lambda parts: "".join(parts).encode("utf-8"))


def checked(corpus: Corpus) -> list[Pair]:
    """What is kept after cleaning; all that was read is accounted for."""
    report = Report()
    kept = list(clean_pairs(read_pairs(corpus, report), CleaningSettings(), report))
    assert report.read == report.kept + report.dropped.total()
    assert report.kept == len(kept)
    assert set(report.dropped) <= set(REASONS)
    return kept


@given(source=mutated, target=mutated)
def test_whatever_is_in_two_files_no_pair_is_shifted_or_lost(
    tmp_path_factory: pytest.TempPathFactory, source: bytes, target: bytes
) -> None:
    corpus = two_files(tmp_path_factory.getbasetemp(), source, target)
    lines = [data.removesuffix(b"\n").split(b"\n") for data in (source, target)]
    if not source or not target or len(lines[0]) != len(lines[1]):
        with pytest.raises(DataError):
            checked(corpus)
        return
    kept = checked(corpus)
    for pair in kept:
        assert pair.source == clean(lines[0][pair.line - 1].decode())
        assert pair.target == clean(lines[1][pair.line - 1].decode())


@pytest.mark.parametrize("suffix", [".tsv", ".jsonl"])
@given(content=mutated)
def test_whatever_is_in_a_file_of_pairs_everything_is_counted(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, content: bytes
) -> None:
    path = written(tmp_path_factory.getbasetemp() / f"any{suffix}", content)
    try:
        kept = checked(Corpus(pairs=(path,)))
    except DataError:
        return  # empty, or the first object has other keys
    if suffix == ".tsv":
        rows = content.decode().removesuffix("\n").split("\n")
        for pair in kept:
            cells = rows[pair.line - 1].split("\t")
            assert (pair.source, pair.target) == (clean(cells[0]), clean(cells[1]))
