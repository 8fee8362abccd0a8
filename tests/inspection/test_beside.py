"""Side by side: each has its own document, and each judges what the other wrote."""

from itertools import pairwise

import numpy as np
import pytest
import text_run
from axe_playwright_python.sync_playwright import Axe
from browser import PHONE, needs_chromium, opened, seen
from everyday_run import command

from headway.inspection import document
from headway.inspection.beside import side_by_side
from headway.inspection.html_page import html
from headway.inspection.inspected_model import open_subject
from headway.inspection.passage_analysis import ROOM, PassageAnalysis
from headway.inspection.training_curves import training

pytestmark = pytest.mark.usefixtures("torch_settings_restored")
TEXT = "The dog didn't see the cat because it was tired."
RECURRENT = (
    "--model.type=recurrent", "--model.d-model=16", "--model.d-embedding=16",
    "--training.max-steps=4", "--training.checkpoint-every=4", "--training.batch-tokens=400",
    "--text.vocabulary-size=600", "--data.valid-size=10", "--runtime.threads=1",
    "--runtime.device=cpu", "--decoding.beam=2", "--decoding.max-extra-length=4",
)  # fmt: skip


@pytest.fixture(scope="module")
def recurrent(everyday_files, tmp_path_factory):
    """A recurrent translator of another vocabulary, which has learned next to nothing."""
    source, target = map(str, everyday_files)
    run = tmp_path_factory.mktemp("recurrent") / "gru"
    done = command("train", "--source", source, "--target", target, "--out", str(run), *RECURRENT)
    assert done.status == 0, done.err
    return open_subject(run, device="cpu")


@pytest.fixture(scope="module")
def transformer(everyday_run):
    return open_subject(everyday_run, device="cpu")


def test_each_is_looked_at_as_by_itself(transformer, recurrent):
    found = side_by_side(transformer, recurrent, TEXT)
    half = ROOM // 2
    own, theirs = (document.sentence(one, TEXT, room=half) for one in (transformer, recurrent))
    assert {name: found[name] for name in own} == own
    assert {name: found["beside"][name] for name in theirs} == theirs
    assert found["beside"]["run"]["type"] == "recurrent"


def test_a_target_is_followed_by_both(transformer, recurrent):
    found = side_by_side(transformer, recurrent, TEXT, "那只狗。")
    assert found["translation"] == found["beside"]["translation"] == "那只狗。"
    assert found["compared"]["translations"]["written"] == ["那只狗。"] * 2


def test_either_translation_costs_under_either_model_what_its_tokens_cost(transformer, recurrent):
    found = side_by_side(transformer, recurrent, TEXT)["compared"]["translations"]
    for text, row in zip(found["written"], found["nats_per_character"], strict=True):
        for model, nats in zip((transformer, recurrent), row, strict=True):
            log_prob = document.sentence(model, TEXT, text)["tokens"]["log_prob"]
            assert nats == pytest.approx(-log_prob / (len(text) + 1), abs=1e-3)


def test_what_either_lacks_is_said_in_both_languages(transformer, recurrent):
    parts = side_by_side(transformer, recurrent, TEXT)["compared"]["parts"]
    lacking = {one["part"]: one["missing"] for one in parts}
    assert set(lacking) == set(document.PARTS)
    assert [bool(why) for why in lacking["gates"]] == [True, False]
    assert [bool(why) for why in lacking["cells"]] == [False, True]
    assert lacking["tokens"] == lacking["attention"] == [None, None]
    for why in (why for both in lacking.values() for why in both if why):
        assert set(why) == {"en", "zh"}
        assert why["en"].isascii()
        assert not why["zh"].isascii()


def test_a_translator_beside_a_model_of_text_alone(transformer, tmp_path):
    corpus = text_run.write_corpus(tmp_path / "text.txt")
    names = ("--task", "language-model", "--corpus", str(corpus), "--out", str(tmp_path / "ngram"))
    counted = command("train", *names, "--model.type=ngram", "--text.unit=words")
    assert counted.status == 0, counted.err
    by_words = open_subject(tmp_path / "ngram")
    line = corpus.read_text(encoding="utf-8").splitlines()[0]
    tokens = document.sentence(by_words, line, parts=["tokens"])["tokens"]["target"][:-1]
    assert all(one["piece"].startswith("▁") for one in tokens)  # no words run together
    assert len({one["word"] for one in tokens}) == len(tokens) == len(line.split())
    found = side_by_side(transformer, by_words, TEXT, "那只狗。")
    assert found["beside"]["translation"] == TEXT  # the text is what it writes; no target is forced
    assert "A translator and a model" in found["compared"]["translations"]["missing"]["en"]
    had = {one["part"]: one["missing"][1] is None for one in found["compared"]["parts"]}
    assert had["tokens"]
    assert not any(had[part] for part in ("attention", "cells", "gates", "ideas", "shapes"))


def test_gates_are_the_mean_of_what_the_units_let_pass(recurrent):
    analysis = PassageAnalysis(recurrent, recurrent.passage_of(TEXT, "那只狗。"))
    gates = document.sentence(recurrent, TEXT, "那只狗。")["gates"]
    encoder, decoder = gates["stacks"]
    assert (encoder["stack"], decoder["stack"]) == ("encoder", "decoder")
    assert len(encoder["pieces"]) == len(analysis.passage.source)
    for stack in (encoder, decoder):
        for row in stack["rows"]:
            way = f"from_{row['way']}." if row["way"] else ""
            name = f"{stack['stack']}.{row['layer']}.{way}{row['gate']}_gate"
            units = analysis.trace[name]
            assert ((units >= 0) & (units <= 1)).all()
            np.testing.assert_allclose(row["open"], units.mean(1), atol=1e-4)
    ways = [(row["layer"], row["way"]) for row in encoder["rows"]]
    assert {row["gate"] for row in decoder["rows"]} == {"reset", "update"}
    assert all(a <= b for a, b in pairwise(ways))


@pytest.fixture(scope="module")
def page_file(transformer, recurrent, tmp_path_factory):
    found = {
        "run": document.run(transformer),
        "sentences": [side_by_side(transformer, recurrent, TEXT)],
        "training": training([transformer.run, recurrent.run]),
    }
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(html(found), encoding="utf-8")
    return file


@needs_chromium
@pytest.mark.parametrize(("language", "dark"), [("en-US", False), ("zh-CN", True)])
@pytest.mark.parametrize("width", [PHONE, 1280])
def test_the_page_shows_both_fits_the_screen_and_passes_axe(
    chromium, page_file, recurrent, language, dark, width
):
    gates = document.sentence(recurrent, TEXT, parts=["gates"])["gates"]
    with opened(chromium, page_file, width=width, language=language, dark=dark) as page:
        for view in ("compared", "gates", "training"):
            seen(page, view)
        page.locator("#compared .board").nth(1).wait_for()
        assert page.locator("#compared .one-run").count() == 2
        assert page.locator("#compared .lacks").count() >= 2
        n_rows = sum(len(stack["rows"]) for stack in gates["stacks"])
        assert page.locator("#gates tbody tr").count() == n_rows
        assert page.locator("#training .runs tbody tr").count() == 2
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
