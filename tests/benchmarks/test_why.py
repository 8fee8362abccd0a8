"""What the page of reasons rests on: cells that are kept, verdicts from figures, two pages."""

import json
import re
import signal
import subprocess
import sys
import time
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from statistics import mean

import pytest
import torch
import why
from whys import cells as whys_cells
from whys import norms
from whys.cells import Cell, Left, do, do_all, found
from whys.lessons import LESSONS, opened_lesson
from whys.measures import removed, tensors, without
from whys.norms import convolutional
from whys.page import PAGES, answered, facts, write_pages
from whys.plots import bars
from whys.probes import of_scores
from whys.question import (
    BLEU,
    Question,
    Text,
    above,
    all_within,
    as_good,
    both,
    probed,
    table,
    trainings,
    values,
    verdict,
    within,
)
from whys.questions import QUESTIONS, depth, recipe
from whys.training import built, denormals_flushed, learned, usual_figures

import headway

pytestmark = pytest.mark.usefixtures("torch_settings_restored")

ROOT = Path(__file__).parents[2]
SMALL = {"d_model": 8, "d_ff": 8, "heads": 2, "encoder_layers": 1, "decoder_layers": 1}
SHORT = {"max_steps": 2, "warmup_steps": 1, "batch_tokens": 64}
SAYS = both("one is above the other")
OF = both("BLEU")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def drill(width: int, seeds: tuple[int, ...] = (1, 2)) -> list[Cell]:
    """Trainings of a second or less."""
    return trainings("drill", model={**SMALL, "d_ff": width}, training=SHORT, seeds=seeds)


def micro(name: str = "micro") -> Question:
    """A question of the smallest trainings, with a claim that may go either way."""

    def claims(figures):
        return [above(SAYS, values(figures, "a", *BLEU.path), [50.0, 51.0], margin=1, of=OF)]

    def draw(figures, figure):
        bars(figure.subplots(), {"a": values(figures, "a", *BLEU.path)}, title="", unit="BLEU")

    return Question(
        name=name,
        title=Text("Why so small?", "为什么这么小？"),
        notes=Text("They say so (000).", "笔记如此说（000）。"),
        experiment=Text("2 updates.", "2 次更新。"),
        cells={"a": drill(8), "b": drill(16)},
        claims=claims,
        tables=lambda figures: [
            table(figures, both("x"), {"a": both("a"), "b": both("b")}, [BLEU])
        ],
        draw=draw,
        caption=both("BLEU."),
    )


def every(question: Question) -> list[Cell]:
    return [cell for some in question.cells.values() for cell in some]


# -- cells ------------------------------------------------------------------------------------


def test_a_runner_that_is_killed_loses_one_cell_at_most_and_goes_on(tmp_path: Path) -> None:
    cells = probed("scores", d_k=512, seeds=(1, 2, 3, 4))
    program = (
        "import sys; sys.path.append(sys.argv[1])\n"
        "from pathlib import Path\n"
        "from whys.cells import Cell, do_all\n"
        "import json\n"
        "cells = [Cell('scores', one) for one in json.loads(sys.argv[3])]\n"
        "do_all(cells, Path(sys.argv[2]), jobs=1, threads=1)\n"
    )
    settings = json.dumps([cell.settings for cell in cells])
    command = [sys.executable, "-c", program, str(ROOT / "benchmarks"), str(tmp_path), settings]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while not cells[0].file(tmp_path).exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    files = [cell.file(tmp_path) for cell in cells if found(cell, tmp_path) is not None]
    kept = {file: file.read_text(encoding="utf-8") for file in files}
    assert cells[0].file(tmp_path) in kept
    said: list[str] = []
    assert do_all(cells, tmp_path, jobs=1, threads=1, say=said.append) == Left(0, 0)
    assert said[0].startswith(f"{len(cells) - len(kept)} of {len(cells)} ")
    assert all(found(cell, tmp_path) is not None for cell in cells)
    assert all(file.read_text(encoding="utf-8") == text for file, text in kept.items())


def test_a_cell_of_other_settings_is_another_and_a_damaged_one_is_not_done(tmp_path: Path) -> None:
    first, second = probed("scores", d_k=4)[:2]
    assert first.key != second.key
    assert first.key == Cell("scores", {"seed": 1, "d_k": 4}).key
    do(first, tmp_path, 1)
    assert found(first, tmp_path) is not None
    first.file(tmp_path).write_text('{"figures": ')
    assert found(first, tmp_path) is None


def test_cells_that_two_questions_share_are_measured_once(tmp_path: Path) -> None:
    said: list[str] = []
    cells = probed("scores", d_k=4)
    do_all([*cells, *cells], tmp_path, jobs=1, threads=1, say=said.append)
    assert said[0].startswith("3 of 3 ")


def test_no_cell_is_begun_once_the_budget_is_spent(tmp_path: Path) -> None:
    left = do_all(probed("scores", d_k=4), tmp_path, jobs=1, threads=1, budget_s=-1, say=str)
    assert left == Left(failed=0, waiting=3)


def test_a_cell_that_cannot_be_done_is_said_and_the_others_are_done(tmp_path: Path) -> None:
    said: list[str] = []
    cells = [Cell("scores", {"seed": 1}), *probed("scores", d_k=4, seeds=(1,))]
    left = do_all(cells, tmp_path, jobs=1, threads=1, say=said.append)
    assert left == Left(failed=1, waiting=0)
    assert "failed: KeyError: 'd_k'" in said[1]
    assert [found(cell, tmp_path) is None for cell in cells] == [True, False]


def test_the_command_fails_where_a_cell_did(tmp_path: Path, capsys) -> None:
    asked = Namespace(cache=tmp_path, docs=tmp_path, jobs=1, threads=1, budget="", write_only=False)
    for settings, status in (({"seed": 1}, 1), ({"seed": 1, "d_k": 4}, 0)):
        question = replace(micro(), cells={"a": [Cell("scores", settings)]})
        assert why.run([question], asked) == status
        assert ("1 cell failed" in capsys.readouterr().err) == bool(status)


def test_every_cell_of_the_page_is_of_known_work_and_can_be_written_down() -> None:
    for question in QUESTIONS:
        for cell in every(question):
            assert cell.work in whys_cells.WORK
            assert json.loads(json.dumps(cell.settings)) == cell.settings
            assert cell.settings.get("lesson", "drill") in LESSONS


# -- verdicts ---------------------------------------------------------------------------------


def test_a_verdict_flips_when_the_figures_flip() -> None:
    high, low = [30.0, 31.0, 30.5], [20.0, 21.0, 20.5]
    assert above(SAYS, high, low, margin=1, of=OF).outcome == "holds"
    assert above(SAYS, low, high, margin=1, of=OF).outcome == "fails"
    assert as_good(SAYS, high, low, margin=1, of=OF).outcome == "holds"
    assert as_good(SAYS, low, high, margin=1, of=OF).outcome == "fails"
    heads = next(question for question in QUESTIONS if question.name == "heads")

    def figures(bleu):
        return [{"written": {"test": {"bleu": one}}} for one in bleu]

    up = heads.claims({"1": figures(low), "4": figures(high), "8": figures(high)})
    down = heads.claims({"1": figures(high), "4": figures(low), "8": figures(high)})
    assert [claim.outcome for claim in up] == ["holds", "fails"]
    assert [claim.outcome for claim in down] == ["fails", "holds"]
    assert verdict(up) == verdict(down) != verdict([*up, *up[:1]])


def test_what_the_seeds_do_not_tell_apart_stays_open() -> None:
    wide, other = [20.0, 30.0, 40.0], [15.0, 25.0, 35.0]
    assert above(SAYS, wide, other, margin=1, of=OF).outcome == "open"
    assert above(SAYS, wide, [], margin=1, of=OF).outcome == "missing"
    assert verdict([above(SAYS, [], [], margin=1, of=OF)]).en == "not measured yet"


def test_a_difference_below_the_margin_does_not_hold() -> None:
    a, b = [20.5, 20.6, 20.4], [20.0, 20.1, 19.9]
    assert above(SAYS, a, b, margin=1, of=OF).outcome == "fails"
    assert above(SAYS, a, b, margin=0.2, of=OF).outcome == "holds"


def test_a_range_is_asked_of_the_mean_with_twice_its_standard_error() -> None:
    some = [0.4, 0.5, 0.6]  # 0.5, and twice 0.1 / sqrt(3) to either side: 0.38 to 0.62
    for low, high, outcome in (
        (0.38, 0.62, "holds"), (0.38, 9.0, "holds"), (0.39, 9.0, "open"), (0.0, 0.61, "open"),
        (0.61, 9.0, "open"), (0.62, 9.0, "fails"), (0.0, 0.38, "fails"),
    ):  # fmt: skip
        assert within(SAYS, some, low=low, high=high, of=OF).outcome == outcome
    assert "at least 0.2 was asked" in within(SAYS, some, low=0.2, of=OF).figures.en
    assert "at most 0.9 was asked" in within(SAYS, some, high=0.9, of=OF).figures.en


def test_one_seed_leaves_a_claim_open_but_what_is_counted_needs_none() -> None:
    many, one = [30.0, 31.0], [20.0]
    assert above(SAYS, many, one, margin=1, of=OF).outcome == "open"
    assert above(SAYS, one, many, margin=1, of=OF).outcome == "open"
    assert as_good(SAYS, many, one, margin=1, of=OF).outcome == "open"
    assert within(SAYS, one, low=10, of=OF).outcome == "open"
    assert all_within(SAYS, one, low=10, high=30, of=OF).outcome == "holds"
    assert all_within(SAYS, [20.0, 31.0], low=10, high=30, of=OF).outcome == "fails"


def test_a_gradient_beyond_all_numbers_is_said_to_be_so() -> None:
    normed = [{"norm": 3.0}, {"norm": 4.0}]
    figures = {"no norm, 12 drawn": [{"norm": None}] * 2, "pre, 12 drawn": normed}
    claim = depth.explosion(SAYS, figures)
    assert claim.outcome == "holds"
    assert "not finite in 2 of 2 models" in claim.figures.en
    figures["no norm, 12 drawn"] = [{"norm": 30.0}, {"norm": 40.0}]
    assert depth.explosion(SAYS, figures).outcome == "fails"


def test_what_token_frequencies_alone_give_is_the_entropy_of_the_training_targets(
    tmp_path: Path,
) -> None:
    lesson = opened_lesson("few sentences", tmp_path)
    vocabulary = lesson.prepared.subwords
    targets = [target for _, target in LESSONS["few sentences"]().train]
    ids = [i for row in vocabulary.encode_batch(targets) for i in (*row, vocabulary.special.end)]
    shares = torch.bincount(torch.tensor(ids)).double() / len(ids)
    entropy = torch.special.entr(shares).sum().item()
    assert entropy == pytest.approx(recipe.FREQUENCIES_ALONE, abs=0.05)  # of an earlier grammar


def test_what_learned_too_little_tells_nothing_of_overfitting() -> None:
    fitted = [{"train_loss": 1.0, "valid_loss": 1.6}, {"train_loss": 1.1, "valid_loss": 1.7}]
    nothing = [{"train_loss": 5.0, "valid_loss": 5.1}] * 2
    claim = recipe.without_residuals(SAYS, {"all": fitted, "no residual": nothing})
    assert claim.outcome == "open"
    assert "training loss 5.00" in claim.figures.en
    assert (
        recipe.without_residuals(SAYS, {"all": nothing, "no residual": fitted}).outcome == "holds"
    )


# -- pages ------------------------------------------------------------------------------------


def numbers(text: str) -> list[str]:
    """Of a page, but for those in names of its files."""
    return sorted(NUMBER.findall(re.sub(r"\]\(\S+\)", "", text)))


def test_both_pages_of_stored_figures_name_the_same_numbers(tmp_path: Path) -> None:
    question, cache, docs = micro(), tmp_path / "cache", tmp_path / "docs"
    do_all(every(question), cache, jobs=1, threads=1, say=str)
    written = write_pages([question], cache, docs)
    english, chinese = (page.read_text(encoding="utf-8") for page in written)
    assert [page.name for page in written] == list(PAGES)
    assert numbers(english) == numbers(chinese)
    bleu = values(answered(question, cache).found, "a", *BLEU.path)
    assert f"{mean(bleu):.1f} ± " in english
    assert (docs / "why" / "micro.png").stat().st_size > 1000
    assert "does not hold" in english
    assert "不成立" in chinese


def test_each_cell_says_where_and_by_what_it_was_measured(tmp_path: Path) -> None:
    cells = probed("scores", d_k=4)
    do_all(cells, tmp_path, jobs=1, threads=1, say=str)
    earlier = cells[0].file(tmp_path)
    kept = json.loads(earlier.read_text(encoding="utf-8"))
    here = facts(cells, tmp_path, 0)["places"]
    assert here == facts(cells, tmp_path, 1)["places"]
    assert kept["machine"]["cpu"] in here
    assert f"headway {headway.__version__} {kept['versions']['revision']}".rstrip() in here
    del kept["machine"], kept["versions"]
    earlier.write_text(json.dumps(kept), encoding="utf-8")
    assert facts(cells, tmp_path, 0)["places"] == f"not recorded (1); {here.replace('(3)', '(2)')}"
    assert facts(cells, tmp_path, 1)["places"].startswith("没有记录 (1); ")


def test_the_pages_of_all_questions_have_the_same_numbers_before_anything_is_measured(
    tmp_path: Path,
) -> None:
    english, chinese = (
        page.read_text(encoding="utf-8") for page in write_pages(QUESTIONS, tmp_path, tmp_path)
    )
    for question in QUESTIONS:
        assert f"## {question.title.en}\n" in english
        assert f"## {question.title.zh}\n" in chinese
        for text in (question.notes, question.experiment, question.title, question.caption):
            assert numbers(text.en) == numbers(text.zh), question.name
    assert english.count("not measured yet") == chinese.count("尚未测完") > len(QUESTIONS)


def test_the_pages_in_docs_name_the_same_numbers() -> None:
    pages = [ROOT / "docs" / name for name in PAGES]
    if not all(page.exists() for page in pages):
        pytest.skip("`make why` has not written them yet")
    english, chinese = (page.read_text(encoding="utf-8") for page in pages)
    assert numbers(english) == numbers(chinese)


# -- what is measured -------------------------------------------------------------------------


def test_rows_beyond_are_longer_than_any_in_training() -> None:
    texts = LESSONS["drill"]()
    longest = max(len(source.split()) for source, _ in texts.train)
    assert min(len(source.split()) for source, _ in texts.tests["beyond"]) == longest + 1
    assert all(source == target for source, target in texts.train)
    turned = LESSONS["reversed"]().train[:9]
    assert all(target.split() == source.split()[::-1] for source, target in turned)


def test_weights_that_vanish_have_no_entropy_where_denormals_are_flushed_too() -> None:
    with denormals_flushed():
        far = of_scores(lambda q, k: 200 * (q @ k.T), torch.ones(2, 1), torch.tensor([[1.0], [-1]]))
        assert far["entropy"] == 0


def test_what_is_measured_after_a_training_has_its_denormals() -> None:
    small = torch.full((1,), 1e-40)
    with denormals_flushed():
        assert (small * 0.5).item() == 0
    assert (small * 0.5).item() > 0


def test_it_is_torch_that_refuses_to_train(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(norms.UPDATES, 1, 10)
    monkeypatch.setattr(norms, "N_TESTED", 10)
    settings = {"net": "lstm", "batch": 1, "seed": 1}
    refused, trained = (
        norms.compare({**settings, "norm": norm}, tmp_path, 1) for norm in ("batch", "layer")
    )
    assert "more than 1 value per channel" in refused["refused"]
    assert trained["refused"] == ""
    assert trained["right"] >= 0


def test_scores_of_one_key_have_no_entropy_and_no_gradient() -> None:
    one = of_scores(lambda q, k: q @ k.T, torch.randn(3, 4), torch.randn(1, 4))
    assert (one["entropy"], one["largest"], one["gradient"]) == (0, 1, 0)
    even = of_scores(lambda q, k: 0 * (q @ k.T), torch.randn(3, 4), torch.randn(5, 4))
    assert even["entropy"] == pytest.approx(torch.tensor(5.0).log().item())
    by_hand = (torch.eye(5) / 5 - torch.ones(5, 5) / 25).norm().item()
    assert even["gradient"] == pytest.approx(by_hand)


def test_a_head_that_is_removed_gives_nothing_and_comes_back(tmp_path: Path) -> None:
    lesson = opened_lesson("drill", tmp_path)
    model = built({"type": "transformer", **SMALL}, lesson, 1).eval()
    source, fed, _ = tensors(lesson, lesson.tests["valid"][:2])
    attention, before = model.encoder[0].self_attention, model(source, fed)
    with torch.no_grad(), removed([(attention, 0), (attention, 1)]):
        x = torch.randn(1, 3, 8)
        torch.testing.assert_close(attention(x, x), attention.to_output.bias.expand(1, 3, 8))
        assert not torch.allclose(model(source, fed), before)
    torch.testing.assert_close(model(source, fed), before)


def test_a_deleted_token_is_gone_and_the_others_stay() -> None:
    source = torch.tensor([[5, 6, 7, 3], [8, 9, 3, 0]])
    assert without(source, [1, 0], 0).tolist() == [[5, 7, 3, 0], [9, 3, 0, 0]]


def empty(folder: Path) -> Path:
    """A new folder."""
    folder.mkdir()
    return folder


def test_the_same_cell_gives_the_same_figures(tmp_path: Path) -> None:
    lesson, settings = opened_lesson("drill", tmp_path), drill(8)[0].settings
    first, second = (
        usual_figures(learned(settings, lesson, empty(tmp_path / name), 1)[0]) for name in "ab"
    )
    assert first == second


def test_batch_norm_is_not_the_norm_of_a_single_image() -> None:
    one, two = torch.randn(2, 1, 1, 16, 16)
    for norm, alone in (("layer", True), ("batch", False)):
        torch.manual_seed(1)
        net = convolutional(norm).train()
        together = net(torch.cat([one, two]))[:1]
        assert torch.allclose(net(one), together, atol=1e-5) == alone
