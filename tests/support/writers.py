"""Random models of every kind that writes token by token, each with something to write."""

from typing import Any

import torch
from torch import Tensor

from headway.core.subwords import SpecialIds
from headway.inspection.inspected_model import DecodingInput
from headway.language_models.decoder_only import DecoderOnly, DecoderOnlyConfig
from headway.models import MODELS

SPECIAL = SpecialIds()
BEGIN, END, N_WORDS = 2, 3, 13
SIZES: dict[str, dict[str, Any]] = {
    "transformer": {
        "encoder_layers": 1, "decoder_layers": 2, "d_model": 8, "d_ff": 16, "heads": 2
    },
    "recurrent": {"d_embedding": 6, "d_model": 8},
    "convolutional": {"encoder_layers": 1, "decoder_layers": 2, "d_model": 8},
    "bytenet": {"encoder_layers": 2, "decoder_layers": 2, "d_model": 8, "max_dilation": 2},
}  # fmt: skip


def writing(kind: str, seed: int = 1, *, limit: int = 6, sharpness: float = 3.0) -> DecodingInput:
    """A random model with a source of its own, or a language model, which has none."""
    torch.manual_seed(seed)
    if kind == "language":
        config = DecoderOnlyConfig(layers=1, d_model=8, d_ff=16, heads=2)
        model: Any = DecoderOnly(config, vocabulary_size=N_WORDS)
    else:
        settings, build = MODELS[kind]
        model = build(settings(**SIZES[kind]), vocabulary_size=N_WORDS, padding=0)
    model.eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
        model.output_weight.mul_(sharpness)
    source = [] if kind == "language" else [*torch.randint(4, N_WORDS, (5,)).tolist(), END]
    return DecodingInput(model, source, SPECIAL, limit, torch.device("cpu"))


KINDS = [*SIZES, "language"]


def next_log_probs(one: DecodingInput, ids: list[int]) -> Tensor:
    """By forcing the prefix, which no search does."""
    fed = torch.tensor([[BEGIN, *ids]])
    source = torch.tensor([one.source]) if one.source else None
    state = one.decoder.start(source, fed[:, :-1])
    with torch.no_grad():
        return one.decoder.step(state, fed[:, -1]).logits[0].log_softmax(-1)
