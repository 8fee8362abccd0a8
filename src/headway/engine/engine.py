"""The compiled engine as search asks for it: prepared once, with a copy of the weights."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from headway.core.hypothesis import (
    DecodingSettings,
    Hypothesis,
    Ids,
    SearchRequest,
    diverged,
    length_limits,
)
from headway.core.interfaces import StepDecoder
from headway.core.runtime import ProductPrecision, available_cores
from headway.core.search import METHODS
from headway.core.transformer import Transformer
from headway.corpora.cache_place import silent
from headway.decoding.ensemble import EnsembleDecoder
from headway.decoding.forced import without_prefix
from headway.engine.building import engine_library
from headway.engine.compiling import NoEngineError
from headway.engine.ensembles import PackedEnsemble
from headway.engine.packing import Packed
from headway.engine.shortlist import Shortlist, opened
from headway.engine.translating import translate

MOST_BEAM = 64
"""What `model.h` says; a wider one searches in torch."""
CHANGED = "parts of it are not as they were built, or something looks into them"


class NativeEngine:
    """Searches with a copy of a model's weights; a `headway.translation.decoding.Engine`."""

    def __init__(
        self, model: StepDecoder, packed: Packed, leave: Callable[[str], None] = silent
    ) -> None:
        """`leave` hears why searches are left to torch; it may refuse that."""
        self.model, self.packed, self.leave, self.left = model, packed, leave, ""
        parts = (part for one in getattr(model, "members", [model]) for part in one.modules())
        self.hooks = [d for one in parts for d in (one._forward_hooks, one._forward_pre_hooks)]

    def search(
        self, decoder: StepDecoder, sources: Sequence[Ids], request: SearchRequest
    ) -> list[list[Hypothesis]]:
        """See `Engine`. Of a decoder that is another, or has a hook by now, nothing is found."""
        results: list[list[Hypothesis]] = [[] for _ in sources]
        plain, beginning, shortlist = unwrapped(decoder)
        if reason := self.foreign(plain, shortlist) or beyond(request.settings):
            if reason != self.left:
                self.leave(reason)
            self.left = reason
            return results
        rows = [[*map(int, ids), request.special.end] for ids in sources]
        n_read = torch.tensor(list(map(len, rows)), dtype=torch.long)
        limits = length_limits(n_read, request.settings.max_extra_length, plain.longest)
        lengths, longest = limits.tolist(), self.packed.longest
        some = [i for i, row in enumerate(rows) if max(len(row), lengths[i] + 1) <= longest]
        allowed = None if shortlist is None else [shortlist.tokens(sources[i]) for i in some]
        try:
            found = translate(
                self.packed,
                [rows[i] for i in some],
                [lengths[i] for i in some],
                request,
                [beginning] * len(some) if beginning else (),
                allowed,
                threads=min(torch.get_num_threads(), available_cores() if sources[1:] else 1),
            )
        except MemoryError:  # it sets memory apart for the longest output; torch's grows with it
            return results
        if not all(found):
            raise diverged()
        for i, each in zip(some, found, strict=True):
            results[i] = each
        return results

    def foreign(self, decoder: StepDecoder, shortlist: Shortlist | None) -> str:
        """Why this decoder is left to torch; nothing if it is not."""
        if decoder is not self.model:
            return "the model is another than was prepared"
        if shortlist is not None and type(decoder) is EnsembleDecoder:
            return "an ensemble has no shortlist"
        return CHANGED if any(self.hooks) else ""


def prepare(
    decoder: StepDecoder,
    device: torch.device,
    precision: ProductPrecision = "fp32",
    leave: Callable[[str], None] = silent,
) -> NativeEngine | str:
    """The engine with the weights as they are now, of products in `precision`; else why there is
    none for this model or machine. `leave` is that of `NativeEngine`."""
    plain = unwrapped(decoder)[0]
    if reason := unsupported(plain, device):
        return reason
    try:
        pack: Any = Packed if type(plain) is Transformer else PackedEnsemble
        return NativeEngine(plain, pack(plain, engine_library(), precision), leave)
    except NoEngineError as error:
        return str(error)


def unsupported(decoder: StepDecoder, device: torch.device, *, training: bool = False) -> str:
    """Why the engine cannot do this model, or cannot go on `training` it; nothing if it can."""
    if device.type != "cpu":
        return f"the model is on {device.type}"
    if type(decoder) is EnsembleDecoder:
        return next((why for one in decoder.members if (why := unsupported(one, device))), "")
    if type(decoder) is not Transformer:
        return f"{type(decoder).__name__} is no plain Transformer"
    config = decoder.config
    if window := getattr(config, "window", 0):
        return f"its self-attention has a window of {window}"
    if str(config.positions) in ("relative", "rotary"):
        return f"its positions are {config.positions}"
    exact = {one.dtype for one in decoder.parameters()} == {torch.float32}
    if not exact or (decoder.training and not training):
        return "its weights are not float32" if training else "it is being trained"
    least = replace(config, d_model=config.heads, d_k=1, d_v=1, d_ff=1, max_length=1)
    with torch.random.fork_rng(devices=[]):
        usual = Transformer(least, vocabulary_size=1)
    parts, usual_parts = (list(map(described, one.modules())) for one in (decoder, usual))
    same_scale = decoder.source_embedding.scale == decoder.target_embedding.scale
    return "" if same_scale and parts == usual_parts else CHANGED


def described(part: nn.Module) -> list[Any]:
    """What a part is and was told beside its sizes: whoever exchanges parts or switches them off
    (by hooks, by methods of its own in the place of its class's) changes that, and the engine,
    which knows weights alone, would compute the usual."""
    told = [vars(part).get(name) for name in ("activate", "heads", "norm_first", "eps")]
    own = [name for name in vars(part) if callable(getattr(type(part), name, None))]
    absent = [one is None for one in part._parameters.values()]
    return [type(part), told, own, absent, bool(part._forward_hooks or part._forward_pre_hooks)]


def unwrapped(decoder: StepDecoder) -> tuple[StepDecoder, list[int], Shortlist | None]:
    """A model, and what its outputs were to begin with and to be written with, if anything."""
    if type(decoder) is Transformer:
        return decoder, [], None
    plain, beginning = without_prefix(decoder)
    plain, shortlist = opened(plain)
    return plain, beginning, shortlist


def beyond(settings: DecodingSettings) -> str:
    """Why the engine cannot search so; nothing if it can."""
    if settings.method not in METHODS:
        return "it draws no samples"
    return f"its widest beam is {MOST_BEAM}" if settings.rows > MOST_BEAM else ""
