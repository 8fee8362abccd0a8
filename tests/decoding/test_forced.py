"""Where a decoder looks while it writes what is known."""

import pytest
import torch

from headway import Translator
from headway.decoding.forced import attention_over, log_probs_over

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


def test_it_is_where_the_search_looked_that_wrote_it(everyday_run) -> None:
    translator = Translator.load(everyday_run, device="cpu")
    texts = ["The dog is tired.", "I love cats and they love me.", "He sings."]
    found = translator.translate_fully(texts, want_alignment=True, beam=3)
    sources = translator.subwords.encode_batch(texts)
    targets = [one.n_best[0].ids for one in found]
    with torch.inference_mode():
        maps = attention_over(
            translator.model, sources, targets, translator.subwords.special, translator.device
        )
    for ids, looked, one in zip(sources, maps, found, strict=True):
        assert looked is not None
        at = looked[:, : len(ids)].argmax(-1).tolist()
        assert [(s, t) for t, s in enumerate(at)] == one.n_best[0].alignment


def test_nothing_in_nothing_out(everyday_run) -> None:
    translator = Translator.load(everyday_run, device="cpu")
    subwords = translator.subwords
    assert attention_over(translator.model, [], [], subwords.special, translator.device) == []


def test_forced_log_probabilities_are_those_of_the_search_that_wrote_it(everyday_run) -> None:
    translator = Translator.load(everyday_run, device="cpu")
    texts = ["The dog is tired.", "I love cats and they love me.", "He sings."]
    found = translator.translate_fully(texts, beam=3)
    subwords = translator.subwords
    sources = [*subwords.encode_batch(texts), [5]]
    targets = [*(one.n_best[0].ids for one in found), []]
    log_probs = log_probs_over(
        translator.model, sources, targets, subwords.special, translator.device
    )
    assert log_probs[-1] == []
    for some, one in zip(log_probs, found, strict=False):
        assert some == pytest.approx(one.n_best[0].token_log_probs[:-1], abs=1e-4)
