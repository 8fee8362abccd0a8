import gzip
import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.cli import main
from headway.core.cleaning import LEAST_PAIRS
from headway.corpora.cleaned import clean_corpus
from headway.corpora.reasons import MENDED, NOTICED, REASONS
from headway.demo import generate
from headway.translation.pairs import TranslationData

SOURCE = "one house\ntwo houses\n\nthree\x00 houses\none house\nyes\nfour houses\n"
TARGET = "ein Haus\nzwei Häuser\nx\ndrei Häuser\nein Haus\n" + "nein " * 90 + "\nvier Häuser\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "a.en").write_bytes(SOURCE.encode())
    (tmp_path / "a.de.gz").write_bytes(gzip.compress(TARGET.encode()))
    return str(tmp_path / "a.en"), str(tmp_path / "a.de.gz")


def prepare(*arguments: str) -> int:
    return main(["prepare", *arguments])


def found(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The one object on standard output."""
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    return printed


def test_json_is_one_object_with_all_counts(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert prepare("--source", files[0], "--target", files[1], "--json") == 0
    report = found(capsys)
    assert report["read"] == 7
    assert report["kept"] == 4
    assert report["dropped"] == {"blank_side": 1, "duplicate": 1, "length_ratio": 1}
    assert report["mended"] == {"nul": 1, "outer_space": 1}
    assert (report["source_language"], report["target_language"]) == ("en", "de")
    example = report["examples"]["duplicate"][0]
    assert (example["file"], example["line"]) == (files[0], 5)
    assert report["lengths"]["source_words"] == {
        "mean": 2, "low_1": 2, "median": 2, "high_99": 2, "longest": 2
    }  # fmt: skip
    assert "at least 20 usable pairs" in report["problems"][0]


@pytest.mark.parametrize(("n_pairs", "valid_size"), [(38, 0), (39, 0), (24, 5), (25, 5)])
def test_it_says_that_train_would_refuse_what_is_too_few_when_some_are_held_out(
    n_pairs: int, valid_size: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.tsv"
    file.write_text("".join(f"question {n}\tFrage {n}\n" for n in range(n_pairs)), "utf-8")
    data = TranslationData(pairs=(str(file),), valid_size=valid_size)
    hold_out = data.valid_size or None
    split = clean_corpus(data.corpus(), data.cleaning(), tmp_path / "cache", hold_out=hold_out)
    left = split.reports["train"].kept
    assert prepare("--pairs", str(file), "--data.valid-size", str(valid_size), "--json") == 0
    problems = found(capsys)["problems"]
    assert len(problems) == (left < LEAST_PAIRS)
    assert all(f"{left} of {n_pairs} were kept" in problem for problem in problems)


def test_the_report_for_people_names_reason_file_and_line(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert prepare("--source", files[0], "--target", files[1]) == 0
    printed = capsys.readouterr().out
    assert "read 7 pairs, kept 4 (57.14%)" in printed
    for reason, line in (("blank_side", 3), ("duplicate", 5), ("length_ratio", 6)):
        assert f"1  14.29%  {reason}: {REASONS[reason]}" in printed
        assert f"{files[0]}:{line}" in printed
    assert MENDED["nul"] in printed
    assert "train would refuse this" in printed


def test_a_second_look_says_the_same(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    reports = []
    for _ in range(2):
        assert prepare("--source", files[0], "--target", files[1], "--json") == 0
        reports.append(found(capsys))
    assert reports[0] == reports[1]


def test_out_writes_the_clean_pairs_as_two_files(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "deep" / "out"
    assert prepare("--source", files[0], "--target", files[1], "--out", str(out), "--json") == 0
    assert sorted(path.name for path in out.iterdir()) == ["train.de", "train.en"]
    assert (out / "train.en").read_bytes() == (
        b"one house\ntwo houses\nthree houses\nfour houses\n"
    )
    assert (out / "train.de").read_text(encoding="utf-8").splitlines()[2] == "drei Häuser"
    assert found(capsys)["kept"] == 4


def test_out_never_overwrites_what_was_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for suffix in ("en", "de"):
        (tmp_path / f"train.{suffix}").write_text(f"text {suffix}\n", encoding="utf-8")
    files = ["--source", str(tmp_path / "train.en"), "--target", str(tmp_path / "train.de")]
    assert prepare(*files, "--out", str(tmp_path)) == 2
    assert "must not overwrite" in capsys.readouterr().err
    assert (tmp_path / "train.en").read_text(encoding="utf-8") == "text en\n"


def test_leakage_into_validation_is_dropped_and_counted(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "v.en").write_text("two houses\nother\n", encoding="utf-8")
    (tmp_path / "v.de").write_text("anders\nvier Häuser\n", encoding="utf-8")
    valid = ["--valid-source", str(tmp_path / "v.en"), "--valid-target", str(tmp_path / "v.de")]
    assert prepare("--source", files[0], "--target", files[1], *valid, "--json") == 0
    report = found(capsys)
    assert report["dropped"]["leakage"] == 2
    assert report["read"] == report["kept"] + sum(report["dropped"].values())
    assert report["valid"]["kept"] == 2


def test_validation_may_be_a_file_of_pairs(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "v.tsv").write_text("two houses\tanders\n", encoding="utf-8")
    valid = ["--valid-pairs", str(tmp_path / "v.tsv")]
    assert prepare("--source", files[0], "--target", files[1], *valid, "--json") == 0
    assert found(capsys)["dropped"]["leakage"] == 1
    assert prepare("--source", files[0], "--target", files[1], "--valid-source", files[0]) == 2
    assert "each --source file needs its --target" in capsys.readouterr().err


def test_several_files_follow_one_flag_or_repeat_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = []
    for i in range(3):
        paths.append(tmp_path / f"{i}.tsv")
        paths[-1].write_text(f"source {i}\ttarget {i}\n", encoding="utf-8")
    one, two, three = map(str, paths)
    for arguments in (
        ["--pairs", one, two, three, "--json"],
        ["--pairs", one, "--pairs", two, "--json", "--pairs", three],
    ):
        assert prepare(*arguments) == 0
        assert found(capsys)["read"] == 3


def test_settings_of_data_are_flags(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    both = ["--source", files[0], "--target", files[1], "--json"]
    assert prepare(*both, "--data.max-ratio", "0", "--no-data.deduplicate") == 0
    assert found(capsys)["dropped"] == {"blank_side": 1}
    assert prepare(*both, "--data.max-rato", "0") == 2
    assert "did you mean 'max_ratio'" in capsys.readouterr().err
    assert prepare(*both, "--model.heads", "2") == 2
    assert "settings in [data] only" in capsys.readouterr().err


def test_languages_choose_the_sides_of_a_jsonl(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"en": "I love learning", "zh": "我爱学习"}\n', encoding="utf-8")
    out = tmp_path / "out"
    languages = ["--source-language", "zh", "--target-language", "en"]
    assert prepare("--pairs", str(path), *languages, "--out", str(out), "--json") == 0
    report = found(capsys)
    assert (report["source_language"], report["target_language"]) == ("zh", "en")
    assert (out / "train.zh").read_text(encoding="utf-8") == "我爱学习\n"


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (b"a\nb\n", b"x\n", "has 2 lines and"),
        (b"a\n\xe9\n", b"x\ny\n", "line 2, byte 1: 0xe9"),
        (b"", b"x\n", "is empty"),
        (None, b"x\n", "no such file"),
    ],
)
def test_unusable_files_are_the_users_mistake(
    source: bytes | None,
    target: bytes,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if source is not None:
        (tmp_path / "a.en").write_bytes(source)
    (tmp_path / "a.de").write_bytes(target)
    status = prepare("--source", str(tmp_path / "a.en"), "--target", str(tmp_path / "a.de"))
    printed = capsys.readouterr()
    assert status == 2
    assert message in printed.err
    assert "Traceback" not in printed.err
    assert printed.out == ""


def test_one_side_without_the_other_is_refused(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert prepare("--source", files[0]) == 2
    assert "each --source file needs its --target file" in capsys.readouterr().err
    assert prepare() == 2
    assert "--source F --target F, or --pairs F" in capsys.readouterr().err


odd = st.sampled_from(
    ["\x00", "\r", "\r\n", "\n", "\x85", "\u2028", "\ufeff", "\t", "é", "a", "我 "]
)


@settings(max_examples=30)
@given(st.lists(odd, min_size=1, max_size=40).map("".join))
def test_whatever_is_read_is_kept_or_dropped_for_a_known_reason(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.tsv"
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        printed: list[str] = []
        patch.setattr("builtins.print", lambda line, **_where: printed.append(line))
        assert prepare("--pairs", str(path), "--json") == 0
    report = json.loads(printed[0])
    assert report["read"] == report["kept"] + sum(report["dropped"].values())
    assert report["read"] == len(text.removesuffix("\n").split("\n"))
    assert set(report["dropped"]) <= set(REASONS)
    assert set(report["mended"]) <= set(MENDED)
    assert set(report["noticed"]) <= set(NOTICED)


@pytest.fixture
def everyday(tmp_path: Path) -> tuple[str, str]:
    """300 clean pairs, but line 100 has another number and line 200 a lost character."""
    pairs = [list(pair) for pair in generate(300, 1)]
    pairs[99] = ["He was born in 1990.", "他出生于1991年。"]
    pairs[199][1] += "\ufffd"
    paths = tmp_path / "e.en", tmp_path / "e.zh"
    for n, path in enumerate(paths):
        path.write_text("".join(f"{pair[n]}\n" for pair in pairs), encoding="utf-8")
    return str(paths[0]), str(paths[1])


def test_findings_say_where_how_many_and_what_to_do(
    everyday: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert prepare("--source", everyday[0], "--target", everyday[1], "--json") == 0
    report = found(capsys)
    findings = {finding["name"]: finding for finding in report["findings"]}
    for name, line in (("numbers_differ", 100), ("replacement_character", 200)):
        finding = findings[name]
        assert (finding["n"], finding["of"], finding["severity"]) == (1, 300, "look")
        assert (finding["examples"][0]["file"], finding["examples"][0]["line"]) == (
            everyday[0],
            line,
        )
        assert finding["meaning"]
        assert finding["remedy"]
    assert report["scripts"]["target"]["HAN"] > 0.9
    assert report["languages"]["source"] == {"en": 1.0}
    assert f"headway train --source {everyday[0]} --target {everyday[1]} --out" in report["next"]


def test_the_next_command_repeats_all_that_was_said_of_the_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a@2.tsv", "b.tsv", "v.tsv"):
        rows = (f"{name} {n}\tso {name} {n}\n" for n in range(30))
        (tmp_path / name).write_text("".join(rows), encoding="utf-8")
    said = ["--pairs", f"{tmp_path}/a@2.tsv@0.5", f"{tmp_path}/b.tsv@8:tag=mine"]
    said += ["--valid-pairs", f"{tmp_path}/v.tsv"]
    said += ["--source-language", "en", "--target-language", "de"]
    assert prepare(*said, "--json") == 0
    assert found(capsys)["next"].endswith(f"headway train {shlex.join(said)} --out RUN")


def test_every_file_is_judged_by_its_own_languages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model of several directions: nothing is exchanged, nothing in a wrong script."""
    for name, way, seed, n_pairs in (("a.tsv", 1, 1, 500), ("b.tsv", -1, 2, 200)):
        rows = ("\t".join(pair[::way]) + "\n" for pair in generate(n_pairs, seed))
        (tmp_path / name).write_text("".join(rows), encoding="utf-8")
    there = f"{tmp_path}/a.tsv:source=en:target=zh"

    def urgent(back: str) -> set[str]:
        assert prepare("--pairs", there, f"{tmp_path}/b.tsv:{back}", "--json") == 0
        findings = found(capsys)["findings"]
        return {finding["name"] for finding in findings if finding["severity"] == "look"}

    assert urgent("source=zh:target=en") == set()
    assert "wrong_script" in urgent("source=en:target=zh")


def test_the_page_is_one_file_and_suspects_are_all_listed(
    everyday: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, suspects = tmp_path / "page.html", tmp_path / "suspects.tsv"
    files = ["--source", everyday[0], "--target", everyday[1]]
    assert prepare(*files, "--page", str(page), "--suspects", str(suspects)) == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "1990 against 1991" in text
    rows = [row.split("\t") for row in suspects.read_text(encoding="utf-8").splitlines()]
    assert rows[0] == ["symptom", "file", "line", "source", "target", "detail"]
    assert ["numbers_differ", everyday[0], "100"] in [row[:3] for row in rows]
    assert ["replacement_character", everyday[0], "200"] in [row[:3] for row in rows]
    assert "Look at this" in capsys.readouterr().out


def test_page_and_suspects_never_overwrite_what_was_read(
    everyday: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = Path(everyday[0]).read_bytes()
    for flag in ("--page", "--suspects"):
        assert prepare("--source", everyday[0], "--target", everyday[1], flag, everyday[0]) == 2
        assert "must not overwrite" in capsys.readouterr().err
    assert Path(everyday[0]).read_bytes() == before


def test_a_page_that_cannot_be_written_is_the_users_mistake(
    everyday: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = str(tmp_path / "no" / "page.html")
    assert prepare("--source", everyday[0], "--target", everyday[1], "--page", nowhere) == 2
    assert "Make it, or name another" in capsys.readouterr().err


def test_files_of_pairs_may_say_how_they_are_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.tsv").write_text("one\teins\n", encoding="utf-8")
    assert prepare("--pairs", f"{tmp_path / 'a.tsv'}@8:tag=mine:source=en:target=de", "--json") == 0
    report = found(capsys)
    assert (report["source_language"], report["target_language"]) == ("en", "de")
