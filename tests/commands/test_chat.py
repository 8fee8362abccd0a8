"""`headway chat`: what is read for each answer, and pairs of one language."""

import io
import json
from itertools import pairwise
from pathlib import Path

import pytest
from everyday_run import Finished, command

from headway.core.run_folder import RunFolder
from headway.translation.pairs import TranslationData

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


def chat(monkeypatch: pytest.MonkeyPatch, run: Path, text: str, *flags: str) -> Finished:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    return command("chat", str(run), *flags, "--runtime.threads=1", "--runtime.device=cpu")


def test_the_last_turns_of_both_are_read_and_an_empty_line_forgets_them(everyday_run, monkeypatch):
    talk = "I love cats.\nHe sings.\n\nShe runs.\n"
    finished = chat(monkeypatch, everyday_run, talk, "--turns", "3", "--json")
    assert finished.status == 0, finished.err
    one, two, three = json.loads(finished.out)["turns"]
    assert one["read"] == "I love cats."
    assert two["read"] == f"I love cats. ¶ {one['answer']} ¶ He sings."
    assert three["read"] == "She runs."


def test_the_same_seed_gives_the_same_answers_and_greedy_is_what_translate_says(
    everyday_run, monkeypatch, tmp_path
):
    talk = "I love cats.\nHe sings.\n"
    found = [chat(monkeypatch, everyday_run, talk, "--seed", "3").out for _ in range(2)]
    assert found[0] == found[1]
    assert found[0].count("\n") == 2  # what was not trained may well write a form feed
    other = chat(monkeypatch, everyday_run, talk, "--seed", "4").out
    assert chat(monkeypatch, everyday_run, talk, "--decoding.seed", "4").out == other != found[0]
    greedy = chat(monkeypatch, everyday_run, talk, "--method", "greedy")
    file = tmp_path / "talk.en"
    file.write_text(talk, encoding="utf-8")
    translated = command(
        "translate", str(everyday_run), str(file), "--method", "greedy", "--runtime.threads=1"
    )
    assert greedy.out == translated.out


def test_what_it_cannot_do_is_refused(everyday_run, monkeypatch):
    refused = chat(monkeypatch, everyday_run, "", "--turns", "0")
    assert refused.status == 2
    assert "--turns is a number of turns; got 0" in refused.err
    refused = chat(monkeypatch, everyday_run, "", "hello")
    assert refused.status == 2
    assert "reads standard input" in refused.err


# -- pairs of one language --------------------------------------------------------------------


def answers(n: int = 80) -> str:
    """Each line answers the one before it, as in a talk: the sides are shifted by a line."""
    turns = [f"{'word ' * (1 + i * i % 41)}number {i}" for i in range(n + 1)]
    return "".join(f"{one}\t{other}\n" for one, other in pairwise(turns))


ONE_LANGUAGE = ("--source-language", "en", "--target-language", "en")


def test_pairs_of_one_language_need_not_be_alike(tmp_path):
    file = tmp_path / "talk.tsv"
    file.write_text(answers() + f"yes\t{'a long answer ' * 30}\n", encoding="utf-8")
    found = {}
    for languages in ((), ONE_LANGUAGE):
        finished = command("prepare", "--pairs", str(file), *languages, "--json")
        assert finished.status == 0, finished.err
        found[languages] = json.loads(finished.out)
    whole = {name: {one["name"] for one in of["findings"]} for name, of in found.items()}
    assert "misaligned" in whole[()]
    assert "length_ratio" in found[()]["dropped"]
    assert not {"misaligned", "length_ratio"} & whole[ONE_LANGUAGE]
    assert found[ONE_LANGUAGE]["kept"] == 81
    assert TranslationData(source_language="en", target_language="de").max_ratio == 5


def test_a_run_of_one_language_is_not_told_to_be_no_translator(tmp_path):
    file, run = tmp_path / "talk.tsv", tmp_path / "run"
    file.write_text(answers(200), encoding="utf-8")
    small = (
        "--model.d-model=16", "--model.d-ff=32", "--model.heads=2", "--model.encoder-layers=1",
        "--model.decoder-layers=1", "--training.max-steps=4", "--training.checkpoint-every=2",
        "--text.vocabulary-size=300", "--runtime.threads=1", "--decoding.max-extra-length=0",
    )  # fmt: skip
    finished = command("train", "--pairs", str(file), *ONE_LANGUAGE, "--out", str(run), *small)
    assert finished.status == 0, finished.err
    assert "WARNING" not in finished.err
    assert "BELOW USE" not in finished.err
    assert not RunFolder(run).settings()["run"].get("below_use")
