"""Beside a GPU small translators are searched by the processors, and what is found is the same."""

from typing import Any

import pytest
import torch
from random_models import needs_engine, small

from headway import Translator, translator
from headway.core.hypothesis import DecodingSettings, SearchRequest
from headway.core.search import decode_all
from headway.core.subwords import SpecialIds
from headway.runs import on_gpu
from headway.runs.loading import LoadedRun, open_run
from headway.runs.on_gpu import SearchBeside, beside
from headway.translation.decoding import decode_anew

pytestmark = needs_engine

CPU, GPU = torch.device("cpu"), torch.device("cuda")
NOTHING: Any = None
SOURCES = [[5, 6, 7], [8, 9], [10, 11, 12, 5]]


@pytest.mark.parametrize(("parameters", "cores", "place"), [(2, 1, GPU), (2, 2, CPU), (8, 2, GPU)])
def test_the_place_is_by_parameters_and_cores(monkeypatch, parameters, cores, place):
    model = small()
    n = sum(one.numel() for one in model.parameters())
    monkeypatch.setattr(on_gpu, "PER_CORE", n / parameters)
    monkeypatch.setattr(on_gpu, "available_cores", lambda: cores)
    assert beside(LoadedRun(NOTHING, NOTHING, model, GPU)).device == place


def test_what_the_engine_does_not_search_stays_on_the_gpu():
    class Own(type(small())):  # type: ignore[misc]
        """Of somebody else."""

    model = small()
    model.__class__ = Own
    assert beside(LoadedRun(NOTHING, NOTHING, model, GPU)).device == GPU


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_search_beside_finds_what_torch_finds(device):
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    model = small().eval().to(device)
    request = SearchRequest(SpecialIds(), DecodingSettings(beam=3), torch.device(device))
    with torch.inference_mode():
        expected = decode_all(model, SOURCES, request)
        found = SearchBeside(decode_anew())(model, SOURCES, request)
    assert [[one.ids for one in each] for each in found] == [
        [one.ids for one in each] for each in expected
    ]
    assert next(model.parameters()).device.type == device
    assert all(one.requires_grad and not one.is_inference() for one in model.parameters())


@pytest.mark.parametrize(
    ("how", "place"), [({}, CPU), ({"engine": "torch"}, GPU), ({"device": "cuda"}, GPU)]
)
def test_a_translator_is_moved_unless_a_device_or_torch_is_asked_for(
    everyday_run, monkeypatch, how, place
):
    def on_gpu_opened(spec, run, *, device, training):
        return open_run(spec, run, device="cpu", training=training)._replace(device=GPU)

    monkeypatch.setattr(translator, "open_run", on_gpu_opened)
    assert Translator.load(everyday_run, **how).device == place
