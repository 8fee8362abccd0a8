"""How a training ends: the choice of a length penalty, and that a kill changes no choice."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from everyday_run import SETTINGS, write_corpus
from torch import nn

import headway
from headway.core.bleu import SentenceStatistics, bleu_statistics
from headway.core.config import merge
from headway.core.errors import ConfigError
from headway.core.hypothesis import DecodingSettings
from headway.core.trainer import Trainer
from headway.translation import spec as kind
from headway.translation.corpus_task import CorpusTask
from headway.translation.spec import PRIOR, PlannedTranslation, choose_length_penalty


@cache
def right_and_wrong() -> tuple[SentenceStatistics, SentenceStatistics]:
    """Counts of a thousand translations that are the reference, and of as many that are not."""
    references = [f"the child number {i} reads a long book" for i in range(1000)]
    wrong = [f"the child number {i} reads" for i in range(1000)]
    return bleu_statistics(references, references), bleu_statistics(wrong, references)


def with_right(n: int, of: int = 60) -> SentenceStatistics:
    """Counts of `of` translations, the first `n` of them word for word the reference."""
    right, wrong = right_and_wrong()
    return replace(right, counts=np.concatenate([right.counts[:n], wrong.counts[n:of]]))


def test_the_usual_length_penalty_stays_unless_another_wins_more_than_its_prior():
    surely = {0.6: with_right(20), 1.0: with_right(30), 1.4: with_right(50)}
    assert choose_length_penalty(surely)[0] == 1.4
    down = {0.6: with_right(50), 1.0: with_right(30), 1.4: with_right(20)}
    assert choose_length_penalty(down)[0] == 0.6
    most = PRIOR * 0.4
    for n in range(200, 230):  # of a thousand sentences, each won is about 0.1 BLEU
        found = {0.6: with_right(190, 1000), 1.0: with_right(200, 1000), 1.4: with_right(n, 1000)}
        best, why = choose_length_penalty(found)
        assert (best == 1.4) == (found[1.4].score() - found[1.0].score() > most)
        assert all(f"{one.score():.2f} with {penalty}" in why for penalty, one in found.items())


def test_the_usual_length_penalty_stays_among_equals():
    same = dict.fromkeys((0.6, 1.0, 1.4), with_right(30))
    assert choose_length_penalty(same)[0] == 1.0


# -- a kill -----------------------------------------------------------------------------------


class KilledError(BaseException):
    """What no `except Exception` stops."""


class Scored(NamedTuple):
    value: float

    def score(self) -> float:
        return self.value

    def noise(self) -> float:
        return 0.0


def bleu(task: CorpusTask, model: nn.Module, settings: DecodingSettings) -> Any:
    """Weights that a beam with the usual length penalty finds best are worst in all else."""
    total = sum(float(parameter.double().sum()) for parameter in model.parameters())
    usual = settings.method == "beam" and settings.length_penalty == 1.0
    return Scored(-total if usual else total)


def killing(at: int, *, after: bool, places: list[Path]) -> Callable[[Any, Any], None]:
    """`os.replace`, but the process ends before or after call number `at`; -1 for never."""
    replace = os.replace

    def replace_or_die(aside: Any, final: Any) -> None:
        places.append(Path(final))
        if len(places) - 1 == at and not after:
            raise KilledError
        replace(aside, final)
        if len(places) - 1 == at:
            raise KilledError

    return replace_or_die


@pytest.fixture
def trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run whose updates are all made, and of which nothing is chosen yet."""
    settings = merge(
        SETTINGS,
        {
            "text": {"vocabulary_size": 400},
            "data": {"source_language": "en", "valid_size": 5},
            "training": {"max_steps": 6, "checkpoint_every": 2, "valid_sentences": 3},
        },
    )
    del settings["decoding"]["length_penalty"]  # it is to be chosen
    monkeypatch.setattr(CorpusTask, "bleu", bleu)
    monkeypatch.setattr(kind, "choose_length_penalty", lambda found: (0.6, "it is so"))

    def die(*_: Any) -> str:
        raise KilledError

    source, target = write_corpus(tmp_path, 60)
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "choose", die)
        with pytest.raises(KilledError):
            headway.train(source=source, target=target, out=tmp_path / "trained", settings=settings)
    return tmp_path / "trained"


@pytest.mark.usefixtures("torch_settings_restored")
def test_a_run_killed_at_any_write_of_its_ending_makes_the_same_choices_when_resumed(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(name: str, at: int, *, after: bool) -> tuple[list[str], list[bytes]]:
        """Where it wrote before it was killed, and what it left when it had gone on."""
        run, places = tmp_path / name, list[Path]()
        shutil.copytree(trained, run)
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", killing(at, after=after, places=places))
            if at < 0:
                headway.train(out=run, resume=True)
            else:
                with pytest.raises(KilledError):
                    headway.train(out=run, resume=True)
        headway.train(out=run, resume=True)
        left = [
            (run / one).read_bytes() for one in ("config.toml", "checks.json", "model.safetensors")
        ]
        return [place.name for place in places], left

    end("first", -1, after=False)  # the cache is filled
    places, expected = end("whole", -1, after=False)
    assert places[-4:] == ["model.safetensors", "checks.json", "README.md", "config.toml"]
    assert b"length_penalty = 0.6" in expected[0]
    assert expected[2] != (trained / "model.safetensors").read_bytes()
    for at in range(len(places)):
        for after in (False, True):
            assert end(f"killed {at} {after}", at, after=after)[1] == expected, (places[at], after)


@pytest.mark.parametrize(("given", "words"), [(-1.0, "at least 0; got -1"), (101.0, "at most 100")])
def test_what_may_be_forgotten_is_bleu(given: float, words: str) -> None:
    with pytest.raises(ConfigError, match=f"forget_at_most must be {words}"):
        PlannedTranslation(forget_at_most=given)
