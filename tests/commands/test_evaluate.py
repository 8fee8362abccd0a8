"""`headway evaluate`, through the command line."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import get_args

import pytest
from sacrebleu.metrics.bleu import BLEU

from headway.cli import main
from headway.commands.evaluate_options import Tokenizer
from headway.core.hypothesis import DecodingSettings
from headway.core.run_folder import RunFolder
from headway.metrics.tokenizers import TOKENIZERS

REFERENCES = ["the cat sat on the mat .", "a dog runs fast .", "we go home now .", "so it is ."]
GOOD = ["the cat sat on a mat .", "a dog runs fast .", "we go home now .", "so it was ."]
POOR = ["cat on mat .", "dogs run .", "we go home .", "it is so ."]


@pytest.fixture
def files(tmp_path):
    def write(name, lines):
        path = tmp_path / name
        path.write_bytes("".join(line + "\n" for line in lines).encode())
        return str(path)

    return write


@pytest.fixture
def run_that_translates(monkeypatch):
    """A stand-in for the translator: it knows the right translations and its language."""

    class Translator:
        @staticmethod
        def load(run, **_):
            assert str(run) == "runs/x"
            data = SimpleNamespace(tags=(), glossary="", source_language="zh", target_language="en")
            return SimpleNamespace(
                translate_fully=lambda texts, **_: [
                    SimpleNamespace(target=GOOD[int(text.split()[1])], n_cut=len(text.split()) - 2)
                    for text in texts
                ],
                longest=2,
                model=None,
                plain=SimpleNamespace(),
                settings=SimpleNamespace(data=data),
                decoding=lambda given: DecodingSettings(**given),
            )

    module = ModuleType("headway.translator")
    module.Translator = Translator
    monkeypatch.setitem(sys.modules, "headway.translator", module)

    class WithoutSettings(RunFolder):
        below_use = ""

        def settings(self):
            return {}

    monkeypatch.setattr(RunFolder, "open", lambda _: WithoutSettings(Path("none")))


def evaluate(*arguments):
    return main(["evaluate", *arguments])


def test_json_is_one_object_of_the_scores_of_sacrebleu(files, capsys):
    hypothesis, reference = files("good.en", GOOD), files("test.en", REFERENCES)
    assert evaluate("--hypothesis", hypothesis, "--reference", reference, "--json") == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["sentences"] == 4
    assert found["system"] == "good.en"
    assert found["bleu"]["score"] == pytest.approx(BLEU().corpus_score(GOOD, [REFERENCES]).score)
    for metric in ("bleu", "chrf", "ter"):
        assert set(found[metric]) == {"score", "low", "high", "signature"}
        assert found[metric]["low"] <= found[metric]["score"] <= found[metric]["high"]
    assert sum(bucket["sentences"] for bucket in found["by_length"]) == 4
    assert found["exact_match"] == 50.0
    assert err == ""


def test_two_systems_are_compared(files, capsys):
    first, second = files("poor.en", POOR), files("good.en", GOOD)
    reference = files("test.en", REFERENCES)
    repeated = ["--hypothesis", first, "--hypothesis", second]
    assert evaluate(*repeated, "--reference", reference, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["second"]["system"] == "good.en"
    change = found["difference"]["bleu"]
    assert change["difference"] == pytest.approx(
        found["second"]["bleu"]["score"] - found["bleu"]["score"]
    )
    assert 0 < change["p_value"] <= 1
    assert evaluate("--hypothesis", first, second, "--reference", reference, "--json") == 0
    assert json.loads(capsys.readouterr().out) == found


def test_a_run_translates_the_source_and_is_scored(files, capsys, run_that_translates):
    source = files("test.xx", [f"source {i}" for i in range(4)])
    reference = files("right.txt", REFERENCES)
    assert evaluate("runs/x", "--source", source, "--reference", reference, "--json") == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["bleu"]["score"] == pytest.approx(BLEU().corpus_score(GOOD, [REFERENCES]).score)
    assert found["cut"] == 0
    assert err == "headway: translating 4 lines with runs/x\n"


def test_lengths_of_sources_are_counted_as_the_runs_language_is_written(
    files, capsys, run_that_translates
):
    source = files("test.src", [f"{'我' * 12} {i}" for i in range(4)])
    reference = files("right.txt", REFERENCES)
    arguments = ("runs/x", "--source", source, "--reference", reference, "--json")
    for more, longest in (([], 15), (["--source-language", "en"], 5)):
        assert evaluate(*arguments, *more) == 0
        [bucket] = json.loads(capsys.readouterr().out)["by_length"]
        assert bucket["longest"] == longest


def test_sources_that_a_run_cuts_are_counted(files, capsys, run_that_translates):
    source = files("test.xx", [f"source {i}{' more' * (i % 3)}" for i in range(4)])
    reference = files("right.txt", REFERENCES)
    assert evaluate("runs/x", "--source", source, "--reference", reference, "--json") == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["cut"] == 2
    assert "2 of the lines were longer than the 2 sub-words" in err
    assert evaluate("--hypothesis", reference, "--reference", reference, "--json") == 0
    assert "cut" not in json.loads(capsys.readouterr().out)


def test_a_run_may_stand_behind_the_references(
    files, capsys, run_that_translates, tmp_path, monkeypatch
):
    (tmp_path / "runs" / "x").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    source = files("test.xx", [f"source {i}" for i in range(4)])
    reference = files("right.txt", REFERENCES)
    assert evaluate("--source", source, "--reference", reference, "runs/x", "--json") == 0
    assert json.loads(capsys.readouterr().out)["system"] == "runs/x"


def test_the_table_shows_scores_intervals_lengths_and_signatures(files, capsys):
    files_given = ["--hypothesis", files("[a].en", GOOD), "--reference", files("t.en", REFERENCES)]
    assert evaluate(*files_given, "--source", files("t.de", POOR)) == 0
    out = capsys.readouterr().out
    score = BLEU().corpus_score(GOOD, [REFERENCES]).score
    assert f"{score:.2f} [" in out
    assert "[a].en" in out
    assert "BLEU by length of the sources" in out
    assert "BLEU: nrefs:1|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|" in out
    assert evaluate(*files_given, "--hypothesis", files("b.en", POOR)) == 0
    out = capsys.readouterr().out
    assert "difference" in out
    assert "references" in out


def test_several_references_are_scored_together(files, capsys):
    given = [
        "--hypothesis",
        files("a.en", GOOD),
        "--json",
        "--reference",
        files("b.en", REFERENCES),
    ]
    assert evaluate(*given, files("c.en", POOR)) == 0
    found = json.loads(capsys.readouterr().out)
    expected = BLEU().corpus_score(GOOD, [REFERENCES, POOR]).score
    assert found["bleu"]["score"] == pytest.approx(expected)
    assert "nrefs:2|" in found["bleu"]["signature"]
    short = files("short.en", POOR[:3])
    assert evaluate(*given, short) == 2
    assert f"{short} has 3 and" in capsys.readouterr().err
    assert evaluate(*given, given[-1]) == 2
    assert f"got {given[-1]} twice" in capsys.readouterr().err


def test_two_systems_stand_side_by_side_by_the_lengths_of_the_first_reference(files, capsys):
    """Each is the length of another reference."""
    near, far = ([" ".join("a" * n) for n in lengths] for lengths in ((3, 5, 8, 12), (8, 9, 9, 9)))
    given = ["--hypothesis", files("a.en", near), files("b.en", far)]
    given += ["--reference", files("c.en", near), files("d.en", far)]
    assert evaluate(*given, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    for system in (found, found["second"]):
        buckets = [(bucket["longest"], bucket["sentences"]) for bucket in system["by_length"]]
        assert buckets == [(5, 2), (10, 1), (15, 1)]
    assert evaluate(*given) == 0
    assert "BLEU: nrefs:2|" in capsys.readouterr().out


def test_the_score_card_has_every_convention_with_what_it_compares_to(files, capsys):
    given = ["--hypothesis", files("a.en", GOOD), "--reference", files("b.en", REFERENCES)]
    assert evaluate(*given, "--score-card", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    rows = {row["name"]: row for row in found["score_card"]}
    assert rows["13a"]["score"] == pytest.approx(found["bleu"]["score"])
    assert rows["13a"]["signature"] == found["bleu"]["signature"]
    assert rows["TER"]["score"] == pytest.approx(found["ter"]["score"])
    assert set(rows["intl"]) == {
        "name", "metric", "compares_to", "score", "low", "high", "signature"
    }  # fmt: skip
    assert {"name": "zh", "reason": "not for this language"} in found["left_out"]
    assert evaluate(*given, "--json") == 0
    assert "score_card" not in json.loads(capsys.readouterr().out)

    assert evaluate(*given, "--score-card") == 0
    out = capsys.readouterr().out
    for row in rows.values():
        assert f"{row['name']}: {row['signature']}" in out
        assert f"{row['score']:.2f} [{row['low']:.2f}, {row['high']:.2f}]" in out
    assert "Left out: zh, ja-mecab, ko-mecab, char (not for this language)" in out


def test_cards_of_two_systems_share_a_table_though_their_rows_differ(files, capsys):
    lines = ["so it is, I say.", "a rich-text format"]
    given = ["--reference", files("c.en", ["so it is, I say.", "a rich text format"])]
    plain = [line.replace("-", " ") for line in lines]
    first, second = files("a.en", plain), files("b.en", lines)
    assert evaluate("--hypothesis", first, second, *given, "--score-card") == 0
    [row] = [line for line in capsys.readouterr().out.splitlines() if "BLEU moses-split" in line]
    assert row.split()[2] == "-"
    assert float(row.split()[3]) > 0


def test_what_may_be_wrong_is_said_and_nothing_where_nothing_is(files, capsys):
    reference, source = files("b.en", REFERENCES * 5), files("s.de", ["das ist so ."] * 20)
    blank = files("a.en", ["", *(REFERENCES * 5)[1:]])
    given = ["--reference", reference, "--source", source]
    assert evaluate("--hypothesis", blank, *given) == 0
    out = capsys.readouterr().out
    assert "What may be wrong with a.en" in out
    assert "1 of 20 lines of the output are blank. Look at line 1." in out
    assert evaluate("--hypothesis", blank, *given, "--json") == 0
    [note] = json.loads(capsys.readouterr().out)["notes"]
    assert (note["fault"], note["lines"]) == ("blank output", [1])
    assert evaluate("--hypothesis", reference, *given) == 0
    assert "What may be wrong" not in capsys.readouterr().out


def test_the_command_takes_every_tokenizer_that_there_is():
    assert get_args(Tokenizer) == TOKENIZERS


def test_chinese_is_scored_by_character_as_the_suffix_says(files, capsys):
    lines = ["我爱学习。", "他在这里。"]
    given = ["--hypothesis", files("a.zh", lines), "--reference", files("b.zh", lines), "--json"]
    assert evaluate(*given) == 0
    found = json.loads(capsys.readouterr().out)
    assert "tok:zh" in found["bleu"]["signature"]
    assert found["hypothesis_length"] == 10


def test_ter_of_characters_is_slow_and_only_counted_where_asked_for(files, capsys):
    chinese = [
        "--hypothesis",
        files("a.zh", ["我爱学习。"]),
        "--reference",
        files("b.zh", ["我爱他。"]),
    ]
    assert evaluate(*chinese, "--score-card", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ter"] is None
    assert {"name": "TER", "reason": "not asked for: --ter"} in found["left_out"]
    assert evaluate(*chinese, "--ter", "--json") == 0
    assert "asian:yes" in json.loads(capsys.readouterr().out)["ter"]["signature"]
    assert evaluate(*chinese) == 0
    assert "TER: not counted" in capsys.readouterr().out
    systems = [files("a.en", GOOD), files("c.en", POOR)]
    english = ["--hypothesis", *systems, "--reference", files("b.en", REFERENCES)]
    assert evaluate(*english, "--no-ter", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ter"] is None
    assert set(found["difference"]) == {"bleu", "chrf"}
    assert evaluate(*english, "--no-ter") == 0
    assert "TER (lower is better)" not in capsys.readouterr().out


def test_an_unknown_language_is_said_aloud_unless_a_tokenizer_is_named(files, capsys):
    given = ["--hypothesis", files("a.txt", GOOD), "--reference", files("b.txt", REFERENCES)]
    assert evaluate(*given, "--json") == 0
    assert "target language is not known" in capsys.readouterr().err
    assert evaluate(*given, "--tokenize", "none", "--lowercase", "--json") == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "case:lc|eff:no|tok:none" in json.loads(out)["bleu"]["signature"]


def test_only_line_feeds_end_a_line(files, capsys):
    odd = ["a\x0bb\x85c\u2028d e f g h", "x\x0cy\x1cz z z z"]
    given = ["--hypothesis", files("a.en", odd), "--reference", files("b.en", odd), "--json"]
    assert evaluate(*given) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["sentences"] == 2
    assert found["bleu"]["score"] == pytest.approx(100.0)


def test_blank_translations_are_scored_not_skipped(files, capsys):
    blank = ["", *GOOD[1:]]
    given = ["--hypothesis", files("a.en", blank), "--reference", files("b.en", REFERENCES)]
    assert evaluate(*given, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["bleu"]["score"] == pytest.approx(BLEU().corpus_score(blank, [REFERENCES]).score)


def test_unequal_files_are_refused_by_name_and_count(files, capsys):
    short, reference = files("short.en", GOOD[:3]), files("test.en", REFERENCES)
    assert evaluate("--hypothesis", short, "--reference", reference) == 2
    assert f"{short} has 3 and {reference} has 4" in capsys.readouterr().err
    given = ["--hypothesis", files("good.en", GOOD), "--reference", reference]
    assert evaluate(*given, "--source", short) == 2
    assert f"{short} has 3 and {reference} has 4" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (None, "no such file"),
        (b"caf\xe9\n", "must be UTF-8"),
        (b"x" * (1 << 20) + b"y\n", "line 1 of"),
    ],
)
def test_files_that_cannot_be_read_are_refused(files, tmp_path, capsys, content, said):
    bad = tmp_path / "bad.en"
    if content is not None:
        bad.write_bytes(content)
    reference = files("test.en", REFERENCES)
    assert evaluate("--hypothesis", str(bad), "--reference", reference) == 2
    error = capsys.readouterr().err
    assert said in error
    assert str(bad) in error
    assert "Traceback" not in error


def test_a_folder_is_refused(files, tmp_path, capsys):
    assert evaluate("--hypothesis", str(tmp_path), "--reference", files("r.en", GOOD)) == 2
    assert "is a directory" in capsys.readouterr().err


@pytest.mark.usefixtures("run_that_translates")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "got 0 --hypothesis and no run"),
        (["--hypothesis", "{r}", "{r}", "{r}"], "got 3 --hypothesis"),
        (["runs/x"], "got no --source"),
        (["--hypothesis", "{r}", "--tag", "mine"], "got 'mine' without a run"),
        (["runs/x", "--source", "{r}", "--hypothesis", "{r}"], "got --hypothesis as well"),
    ],
)
def test_systems_that_do_not_fit_together_are_refused(files, capsys, arguments, said):
    reference = files("r.en", GOOD)
    given = [argument.format(r=reference) for argument in arguments]
    assert evaluate(*given, "--reference", reference) == 2
    assert said in capsys.readouterr().err


def test_texts_in_another_language_than_their_files_say_are_warned_of(files, capsys):
    hypothesis, reference = files("a.txt", GOOD * 2), files("test.zh", REFERENCES * 2)
    assert evaluate("--hypothesis", hypothesis, "--reference", reference, "--json") == 0
    err = capsys.readouterr().err
    for path in (hypothesis, reference):
        said = f"texts of {path} should be in zh, but 8 of 8 that tell seem to be in Latin letters"
        assert f"headway: WARNING: {said}\n" in err
