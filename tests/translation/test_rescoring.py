"""Runs with several vocabularies as one: what is written is what brute force over all of their
translations finds, each scored by a model that is simply fed."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from headway.core.errors import ConfigError
from headway.core.run_folder import RunFolder
from headway.operations.shipped import place_of
from headway.translation.rescoring import ScoringSystem
from headway.translator import Translator

TEXTS = ["A cat sleeps.", "", "The dog that runs is black.", "Seven of us will have been there."]

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


@pytest.fixture(scope="module")
def first_run() -> Path:
    """The one that comes with headway, which has learned something."""
    return place_of(Path("demo"))


def saved(translator: Translator, tokenizer: dict, out: Path) -> Path:
    """A run of these weights and sub-words."""
    folder = RunFolder(translator.save(out))
    folder.tokenizer.write_text(json.dumps(tokenizer), encoding="utf-8")
    folder.write_settings(folder.settings(), [folder.tokenizer])  # and its seal
    return out


@pytest.fixture(scope="module")
def renumbered(first_run, tmp_path_factory) -> Path:
    """The same model, whose sub-words have other numbers."""
    tokenizer = json.loads((first_run / "tokenizer.json").read_text(encoding="utf-8"))
    pieces = tokenizer["model"]["vocab"]
    numbers = list(range(4, len(pieces)))
    random.Random(1).shuffle(numbers)
    new = [*range(4), *numbers]
    tokenizer["model"]["vocab"] = {piece: new[i] for piece, i in pieces.items()}
    translator = Translator.load(first_run, device="cpu")
    old = torch.tensor(new).argsort()
    with torch.no_grad():
        for weight in translator.model.parameters():
            if weight.shape[0] == len(pieces):
                weight.copy_(weight[old].clone())
    return saved(translator, tokenizer, tmp_path_factory.mktemp("renumbered") / "run")


@pytest.fixture(scope="module")
def shorter(first_run, tmp_path_factory) -> Path:
    """Other weights, and sub-words that were joined less often."""
    tokenizer = json.loads((first_run / "tokenizer.json").read_text(encoding="utf-8"))
    merges = tokenizer["model"]["merges"]
    tokenizer["model"]["merges"] = merges[: len(merges) * 9 // 10]
    translator = Translator.load(first_run, device="cpu")
    torch.manual_seed(3)
    with torch.no_grad():
        for weight in translator.model.parameters():
            weight.add_(0.2 * weight.std() * torch.randn_like(weight))
    return saved(translator, tokenizer, tmp_path_factory.mktemp("shorter") / "run")


def fed(translator, text, target):
    """The log-probabilities of a target's tokens and its end, by the definition."""
    special = translator.subwords.special
    source = [*translator.subwords.encode(text), special.end]
    ids = [*translator.subwords.encode_targets([target])[0], special.end]
    logits = translator.model(torch.tensor([source]), torch.tensor([[special.begin, *ids[:-1]]]))
    return logits.double().log_softmax(-1)[0].gather(1, torch.tensor(ids)[:, None])[:, 0].tolist()


def written(translator, text):
    """What it finds by itself, with the log-probabilities that it tells; of like texts the best."""
    found = translator.translate_fully(text, beam=5, n_best=5, length_penalty=1.0).n_best
    return {one.target: one.token_log_probs for one in reversed(found)}


@pytest.mark.parametrize("shares", [(1, 1), (1, 2)])
@torch.inference_mode()
def test_what_is_written_is_what_brute_force_finds(first_run, shorter, shares):
    runs = (first_run, shorter)
    alone = [Translator.load(run, device="cpu") for run in runs]
    together = Translator.load([run for run, n in zip(runs, shares, strict=True) for _ in range(n)])
    changed = 0
    for text in filter(None, TEXTS):
        own = [written(one, text) for one in alone]
        scores = {}
        for target in {**own[0], **own[1]}:
            each = [
                its.get(target) or fed(one, text, target)
                for its, one in zip(own, alone, strict=True)
            ]
            given = [
                n * sum(its) / ((5 + len(its)) / 6) for n, its in zip(shares, each, strict=True)
            ]
            scores[target] = sum(given) / sum(shares)
        best = together.translate_fully(text, beam=5, length_penalty=1.0)
        assert best.n_best[0].score == pytest.approx(max(scores.values()), abs=2e-3)
        assert scores[best.target] == pytest.approx(max(scores.values()), abs=2e-3)
        changed += best.target != [*own[0]][-1]
    assert changed


def test_a_run_with_other_numbers_for_its_sub_words_changes_nothing(first_run, renumbered):
    alone = Translator.load(first_run, device="cpu").translate_fully(TEXTS, want_alignment=True)
    both = Translator.load([first_run, renumbered], device="cpu")
    assert both.subwords.fingerprint() != Translator.load(renumbered).subwords.fingerprint()
    for one, other in zip(
        alone, both.translate_fully(TEXTS, want_alignment=True), strict=True
    ):  # fmt: skip
        assert one.target == other.target
        for its, same in zip(one.n_best, other.n_best, strict=True):
            assert its.alignment == same.alignment
            assert its.score == pytest.approx(same.score, abs=1e-3)
            assert its.token_log_probs == pytest.approx(same.token_log_probs, abs=1e-3)


def test_the_best_of_many_are_told_best_first_and_each_once(first_run, shorter):
    both = Translator.load([first_run, shorter], device="cpu")
    for one in both.translate_fully([*filter(None, TEXTS)], beam=6, n_best=6):
        scores = [its.score for its in one.n_best]
        assert scores == sorted(scores, reverse=True)
        assert len({its.target for its in one.n_best}) == 6


def test_greedy_search_writes_what_one_of_them_would(first_run, shorter):
    each = [
        Translator.load(run, device="cpu").translate(TEXTS, method="greedy")
        for run in (first_run, shorter, [first_run, shorter])
    ]
    assert all(written in (one, other) for one, other, written in zip(*each, strict=True))


def test_what_one_of_them_cannot_write_is_left_out(first_run, renumbered):
    both = Translator.load([first_run, renumbered], device="cpu")
    usual = both.translate_fully(TEXTS[0], beam=5, n_best=5)
    second = both.plain.decode.systems[1]
    best = usual.n_best[0].target

    class Unable(ScoringSystem):
        def scored(self, sources, texts, own):
            found = super().scored(sources, texts, own)
            return [{text: one for text, one in its.items() if text != best} for its in found]

    second.__class__ = Unable
    assert both.translate(TEXTS[0], beam=5) == usual.n_best[1].target
    second.scored = lambda sources, texts, own: [{} for _ in sources]
    assert both.translate(TEXTS[0], beam=5) == best  # nothing is left: the first's


def test_a_target_with_a_character_that_it_does_not_know_is_none(first_run, renumbered):
    plain = Translator.load(first_run, device="cpu").plain
    system = ScoringSystem(plain)
    sources = system.read(TEXTS[:1])
    some, fewer = ({*ids} for ids in plain.subwords.encode_targets(["黑猫跑。", "猫跑。"]))
    never = min(some - fewer)

    class Knows:
        special = replace(plain.subwords.special, unknown=never)

        def __getattr__(self, name):
            return getattr(plain.subwords, name)

    system.subwords = Knows()
    (found,) = system.scored(sources, [["黑猫跑。", "猫跑。"]], [{}])
    assert [*found] == ["猫跑。"]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"method": "sampling"}, "several vocabularies choose the best .* method sampling"),
        ({"prefixes": ["我"]}, "a beginning is given in sub-words"),
    ],
)
def test_what_does_not_go_with_several_vocabularies_is_refused(first_run, shorter, how, expected):
    both = Translator.load([first_run, shorter], device="cpu")
    with pytest.raises(ConfigError, match=expected):
        both.translate(["He sings."], **how)
