"""Validation sources of several sentences are translated as `headway translate` does."""

import json
from pathlib import Path

import numpy as np
import pytest
from everyday_run import FLAGS, command

from headway.core.run_folder import RunFolder
from headway.corpora.prepared import Prepared
from headway.demo import generate
from headway.translation.corpus_task import CorpusTask
from headway.translation.run_data import settings_of
from headway.translation.spec import read
from headway.translator import Translator

pytestmark = pytest.mark.usefixtures("torch_settings_restored")

ALL = "--training.valid-sentences=100"
SINGLE = generate(300, seed=1)
OTHERS = generate(24, seed=2)
SEVERAL = [
    *OTHERS[:8],
    *((f"{one}. {two}.", f"{left}。{right}。") for (one, left), (two, right) in
      zip(OTHERS[8:16], OTHERS[16:], strict=True)),
]  # fmt: skip


def trained(folder: Path, valid: list[tuple[str, str]]) -> Path:
    """A run that learned from single sentences, validated on these."""
    names = []
    for name, pairs in (("train", SINGLE), ("valid", valid)):
        for side, language in enumerate(("en", "zh")):
            names.append(folder / f"{name}.{language}")
            text = "".join(f"{pair[side]}\n" for pair in pairs)
            names[-1].write_text(text, encoding="utf-8")
    given = ("--source", "--target", "--valid-source", "--valid-target")
    files = [part for flag, name in zip(given, names, strict=True) for part in (flag, str(name))]
    done = command(
        "train", *files, "--out", str(folder / "run"), *FLAGS, "--training.valid-sentences=100"
    )
    assert done.status == 0, done.err
    return folder / "run"


def opened(run: Path) -> tuple[Translator, CorpusTask, Prepared]:
    translator = Translator.load(run)
    settings = settings_of(RunFolder(run))
    prepared = read(settings, translator.subwords, lambda _: None).prepared
    rows = np.arange(len(prepared.valid))
    how = {"valid_rows": rows, "seed": 1, "device": translator.device}
    return translator, CorpusTask(prepared, settings.training, **how), prepared


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(tmp_path_factory.mktemp("several"), SEVERAL)


def test_the_score_of_a_card_is_that_of_what_translate_writes(run):
    translator, task, _ = opened(run)
    sources = task.valid_sources
    assert sum(len(translator.processors.portions().of_text(one)) > 1 for one in sources) > 4
    for length_penalty in (0.6, 1.4):
        settings = translator.decoding({"length_penalty": length_penalty})
        written = task.translate(translator.plain.model, settings)
        assert written == translator.translate(sources, length_penalty=length_penalty)
    card = (run / "README.md").read_text(encoding="utf-8")
    score = task.bleu(translator.plain.model, translator.settings.decoding).score()
    assert f"| BLEU | {score:.2f} |" in card


def test_each_text_is_judged_by_its_least_sure_sentence(run):
    translator, task, _ = opened(run)
    settings = translator.settings.decoding
    readings = task.readings(task.search(translator.plain.model, settings, evidence=True))
    assert {len(one) for one in readings} == {1, 2}
    fully = translator.translate_fully(task.valid_sources, want_alignment=True)
    for parts, one in zip(readings, fully, strict=True):
        assert len(parts) == len(one.parts or (one,))
        for part, of_text in zip(parts, one.parts or (one,), strict=True):
            assert part.source_tokens == of_text.source_tokens
            assert part.log_probs == pytest.approx(of_text.n_best[0].token_log_probs, abs=1e-4)


def test_single_sentences_are_searched_as_they_are(tmp_path):
    _, task, prepared = opened(trained(tmp_path, OTHERS))
    assert task.portions is None
    assert [ids.tolist() for ids in task.sources] == [
        prepared.valid["source"][i].tolist() for i in range(len(OTHERS))
    ]
    assert json.loads((tmp_path / "run" / "checks.json").read_text("utf-8"))["trust"]
