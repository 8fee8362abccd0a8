"""The door to the compiled engine: what it can do is done there, everything else in torch."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from headway.decoding.hypothesis import Hypothesis, Rules, diverged, length_limits, ranked, scored
from headway.decoding.settings import DecodingSettings
from headway.errors import ConfigError
from headway.models.interfaces import StepDecoder
from headway.models.transformer import Transformer
from headway.native.building import NoEngineError, engine
from headway.native.packing import Packed
from headway.native.translating import Found, Search, translate
from headway.text.subwords import SpecialIds

PACKED = "packed"
WEIGHTS = "weights"
"""Where the weights lay that were packed, and how often they had been written to."""
MOST_BEAM = 64
"""What `workspace.h` says; a wider one searches in torch."""


def compiled_search(
    decoder: StepDecoder,
    sources: Sequence[Any],
    special: SpecialIds,
    settings: DecodingSettings,
    device: torch.device,
    threads: int,
    want_scores: bool,
    want_attention: bool,
    done: Callable[[int], None],
    kept: dict[str, Any] | None,
    *,
    by_name: bool,
) -> list[list[Hypothesis]] | None:
    """What `decode_all` gives, by the compiled engine; None where it must be torch's.

    Weights as the engine reads them are found in `kept`, or put there. Raises ConfigError where the
    engine is asked for `by_name` and there is none for this model or machine.
    """
    kept = {} if kept is None else kept
    reason = unfit(decoder, device)
    if not reason:
        model = cast(Transformer, decoder)
        weights = [(one.data_ptr(), one._version) for one in model.parameters()]
        try:
            if kept.get(WEIGHTS) != weights:
                kept |= {PACKED: Packed(model, engine()), WEIGHTS: weights}
        except NoEngineError as error:
            reason = str(error)
    if reason and by_name:
        raise ConfigError(
            f"runtime.engine native is for machines and models that it can do; {reason}. "
            "Use --runtime.engine auto."
        )
    rows = [[*map(int, ids), special.end] for ids in sources]
    read = torch.tensor([len(row) for row in rows], dtype=torch.long)
    limits = length_limits(read, settings.max_extra_length, decoder.longest)
    if reason or settings.draws or settings.beam > MOST_BEAM:
        return None
    packed: Packed = kept[PACKED]
    if rows and max(int(read.max()), int(limits.max()) + 1) > packed.longest:
        return None  # longer than its table of positions
    search = Search(
        begin=special.decoder_begin,
        end=special.end,
        forbidden=special.unwritten,
        beam=settings.rows,
        n_best=settings.n_best,
        length_penalty=settings.length_penalty,
        want_scores=want_scores or settings.method == "beam",
        want_attention=want_attention,
    )
    try:
        found = translate(packed, rows, limits.tolist(), search, threads=threads, done=done)
    except MemoryError:  # it sets memory apart for the longest output; torch's grows with it
        return None
    if not all(found):
        raise diverged()
    rules = Rules(settings, special.end, limits, want_scores=search.want_scores)
    return [
        ranked(scored(one.tokens[:-1], one.log_probs, rules, look(one)) for one in hypotheses)
        for hypotheses in found
    ]


def look(found: Found) -> Tensor | None:
    """Its weights on the source, where they were wanted."""
    return None if found.looked is None else torch.from_numpy(found.looked)


def unfit(decoder: StepDecoder, device: torch.device) -> str:
    """Why the engine cannot do this model; nothing if it can."""
    if device.type != "cpu":
        return f"the model is on {device.type}"
    if type(decoder) is not Transformer:
        return f"{type(decoder).__name__} is no plain Transformer"
    config = decoder.config
    if config.window:
        return f"its self-attention has a window of {config.window}"
    if config.positions in ("relative", "rotary"):
        return f"its positions are {config.positions}"
    if decoder.training or {one.dtype for one in decoder.parameters()} != {torch.float32}:
        return "it is being trained"
    layers = len(decoder.encoder), len(decoder.decoder)
    if layers != (config.encoder_layers, config.decoder_layers):
        return "layers were taken out of it"
    if any(map(changed, decoder.modules())):
        return "something changes it, or looks into it"
    return ""


def changed(module: nn.Module) -> bool:
    """Whether it has hooks, or methods of its own in the place of its class's: whoever switches
    parts off works so, and the engine would know nothing of it."""
    own = (name for name in vars(module) if callable(getattr(type(module), name, None)))
    return bool(module._forward_hooks or module._forward_pre_hooks or any(own))
