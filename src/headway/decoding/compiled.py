"""The door to the compiled engine: what it can do is done there, everything else in torch."""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

import torch
from torch import Tensor, nn

from headway.decoding.begun import unbegun
from headway.decoding.hypothesis import Hypothesis, Rules, diverged, length_limits, ranked, scored
from headway.decoding.settings import DecodingSettings
from headway.decoding.shortlist import opened
from headway.errors import ConfigError
from headway.models.interfaces import StepDecoder
from headway.models.transformer import Transformer, TransformerConfig
from headway.native.building import NoEngineError, engine
from headway.native.matrices import Precision
from headway.native.packing import Packed
from headway.native.translating import Found, Search, translate
from headway.nn.attention import MultiHeadAttention
from headway.nn.dropout import Dropout
from headway.nn.embedding import SinusoidalPositions, TokenEmbedding
from headway.nn.layers import ACTIVATIONS, FeedForward, Layer, Residual, Stack
from headway.nn.positions import LearnedPositions, NoPositions
from headway.runtime import EngineName
from headway.text.subwords import SpecialIds

PACKED = "packed"
EXAMINED = "examined"
"""The model that was packed, as it was then."""
ELSEWHERE = "elsewhere"
"""Another program that searches with this model."""
SAY = "say"
"""What hears, once, that products of fewer bits were asked for where torch searches."""
MOST_BEAM = 64
"""What `workspace.h` says; a wider one searches in torch."""


class Asked(NamedTuple):
    """What is wanted of a search for many outputs; see `headway.decoding.search.decode_all`."""

    special: SpecialIds
    settings: DecodingSettings
    device: torch.device
    threads: int
    want_scores: bool
    want_attention: bool
    done: Callable[[int], None]


@runtime_checkable
class Elsewhere(Protocol):
    """Another program that has the model's weights."""

    def __call__(
        self, decoder: StepDecoder, sources: Sequence[Any], asked: Asked
    ) -> list[list[Hypothesis]] | None:
        """What `decode_all` gives; None where it must be torch's. Raises ConfigError for what the
        other program is not for."""
        ...


def compiled_search(
    decoder: StepDecoder,
    sources: Sequence[Any],
    asked: Asked,
    name: EngineName,
    precision: Precision,
    kept: dict[str, Any] | None,
) -> list[list[Hypothesis]]:
    """What `decode_all` gives, by the compiled engine; of a source that is left to torch nothing.

    Weights as the engine reads them are found in `kept`, or put there; so is what stands for the
    name of another program. Raises ConfigError where an engine is asked for by its name and there
    is none for this model, machine or kind of search.
    """
    kept = {} if kept is None else kept
    results: list[list[Hypothesis]] = [[] for _ in sources]
    if name == "ctranslate2":
        elsewhere: Elsewhere = kept[ELSEWHERE]
        return elsewhere(decoder, sources, asked) or results
    plain, beginning = unbegun(decoder)
    plain, shortlist = opened(plain)
    reason = unpacked(plain, asked.device, precision, kept) or beyond(asked.settings)
    if reason and name == "native":
        raise ConfigError(
            f"runtime.engine native is for what it can do; {reason}. Use --runtime.engine auto."
        )
    if reason:
        if precision != "fp32" and SAY in kept:
            products = f"{precision} products are the compiled engine's"
            kept.pop(SAY)(f"headway: torch translates, in fp32: {products}; {reason}")
        return results
    rows = [[*map(int, ids), asked.special.end] for ids in sources]
    limits = length_limits(
        torch.tensor(list(map(len, rows)), dtype=torch.long),
        asked.settings.max_extra_length,
        plain.longest,
    )
    packed: Packed = kept[PACKED]
    lengths = limits.tolist()
    left = {i for i, row in enumerate(rows) if max(len(row), lengths[i] + 1) > packed.longest}
    some = [i for i in range(len(rows)) if i not in left]
    search = sought(asked, beginning)
    try:
        found = translate(
            packed,
            [rows[i] for i in some],
            [lengths[i] for i in some],
            search,
            None if shortlist is None else [shortlist.tokens(sources[i]) for i in some],
            threads=asked.threads,
            done=asked.done,
        )
    except MemoryError:  # it sets memory apart for the longest output; torch's grows with it
        return results
    if not all(found):
        raise diverged()
    rules = Rules(asked.settings, search.end, limits, want_scores=search.want_scores)
    for i, each in zip(some, found, strict=True):
        results[i] = ranked(
            scored(one.tokens[:-1], one.log_probs, rules, look(one)) for one in each
        )
    return results


def unpacked(
    decoder: StepDecoder, device: torch.device, precision: Precision, kept: dict[str, Any]
) -> str:
    """Have `kept` hold the weights as they are now; else says why the engine cannot."""
    examined: Examined | None = kept.get(EXAMINED)
    if examined and kept[PACKED].precision == precision and examined.still_is(decoder, device):
        return ""
    if reason := unfit(decoder, device):
        return reason
    model = cast(Transformer, decoder)
    try:
        kept |= {PACKED: Packed(model, engine(), precision), EXAMINED: Examined(model)}
    except NoEngineError as error:
        return str(error)
    return ""


def beyond(settings: DecodingSettings) -> str:
    """Why the engine cannot search so; nothing if it can."""
    if settings.draws:
        return "it draws no samples"
    return f"its widest beam is {MOST_BEAM}" if settings.rows > MOST_BEAM else ""


def sought(asked: Asked, beginning: Sequence[int]) -> Search:
    """The same in the engine's words."""
    return Search(
        begin=asked.special.decoder_begin,
        end=asked.special.end,
        forbidden=asked.special.unwritten,
        beam=asked.settings.rows,
        n_best=asked.settings.n_best,
        length_penalty=asked.settings.length_penalty,
        want_scores=asked.want_scores or asked.settings.method == "beam",
        want_attention=asked.want_attention,
        beginning=beginning,
    )


def look(found: Found) -> Tensor | None:
    """Its weights on the source, where they were wanted."""
    return None if found.looked is None else torch.from_numpy(found.looked)


class Examined:
    """A model that was found fit; whether it still is what it was takes some microseconds."""

    def __init__(self, model: Transformer) -> None:
        """As it is now."""
        self.modules: list[Any] = list(model.modules())
        self.variables = list(map(vars, self.modules))
        names = told(model)
        self.told = [(own, name) for own in self.variables for name in names if name in own]
        self.children = [one._modules for one in self.modules if one._modules]
        self.own_parameters = [one._parameters for one in self.modules if one._parameters]
        self.hooks = [module._forward_hooks for module in self.modules]
        self.hooks += [module._forward_pre_hooks for module in self.modules]
        self.parameters = self._parameters()  # held, so that no other takes its address
        self.counted = not any(map(Tensor.is_inference, self.parameters))
        """Whether torch counts how often they are written to."""
        self.state = self._state()
        self.versions = self._versions() if self.counted else []

    def still_is(self, decoder: StepDecoder, device: torch.device) -> bool:
        """Whether no weight was written to or exchanged, no module, method or hook is new, and each
        is of the type that it was and told what it was."""
        return (
            device.type == "cpu"
            and decoder is self.modules[0]
            and self.counted
            and not cast(nn.Module, decoder).training
            and not any(self.hooks)
            and self._state() == self.state
            and self._versions() == self.versions
        )

    def _parameters(self) -> list[nn.Parameter]:
        each = chain.from_iterable(map(dict.values, self.own_parameters))
        return [parameter for parameter in each if parameter is not None]

    def _state(self) -> list[Any]:
        return [
            list(map(id, chain.from_iterable(map(dict.values, self.children)))),
            list(map(type, self.modules)),
            list(map(len, self.variables)),
            [own.get(name) for own, name in self.told],
            list(map(id, self._parameters())),
        ]

    def _versions(self) -> list[Any]:
        return [(one.data_ptr(), one._version) for one in self.parameters]


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
    if exchanged(decoder):
        return "parts of it were exchanged"
    if any(map(Tensor.is_inference, decoder.parameters())):
        return "it was loaded in inference mode, where nobody counts what is written to its weights"
    return ""


def changed(module: nn.Module) -> bool:
    """Whether it has hooks, or methods of its own in the place of its class's: whoever switches
    parts off works so, and the engine would know nothing of it."""
    own = (name for name in vars(module) if callable(getattr(type(module), name, None)))
    return bool(module._forward_hooks or module._forward_pre_hooks or any(own))


def exchanged(model: Transformer) -> bool:
    """Whether a part is not the one that stands there when a Transformer is built by its config, or
    was told something else: whatever it computes, the engine would compute the usual."""
    parts = list(model.modules())
    if list(map(type, parts)) != built(model.config):
        return True
    if any(one is None for part in parts for one in part._parameters.values()):
        return True  # such as a product without its bias
    usual = told(model).items()
    return any(vars(part).get(name, value) != value for part in parts for name, value in usual)


def built(config: TransformerConfig) -> list[type]:
    """The types of a Transformer's parts, in the order of `modules()`."""
    attention: list[type] = [MultiHeadAttention, *[nn.Linear] * 4, Dropout]
    n_products = 3 if config.activation == "swiglu" else 2
    feed_forward: list[type] = [FeedForward, *[nn.Linear] * n_products, Dropout]
    residual: list[type] = [Residual, nn.LayerNorm, Dropout]
    encoder = [Layer, *attention, *feed_forward, *residual * 2]
    decoder = [Layer, *attention * 2, *feed_forward, *residual * 3]
    adding: dict[str, type] = {"sinusoidal": SinusoidalPositions, "learned": LearnedPositions}
    positions = [adding.get(config.positions, NoPositions)] * 2
    return [
        Transformer, *[TokenEmbedding] * (1 if config.tied else 2), *positions, Dropout,
        Stack, *encoder * config.encoder_layers,
        Stack, *decoder * config.decoder_layers,
        *[nn.Identity if config.norm == "post" else nn.LayerNorm] * 2,
    ]  # fmt: skip


def told(model: Transformer) -> dict[str, Any]:
    """What its parts were told beside their sizes, under the names that they keep it by."""
    config = model.config
    return {
        "activate": ACTIVATIONS[config.activation],
        "heads": config.heads,
        "rotary": False,
        "norm_first": config.norm == "pre",
        "eps": config.layer_norm_epsilon,
        "scale": model.target_embedding.scale,
    }
