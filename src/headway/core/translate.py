"""Text in, translations out: to ids, through a search, and back to text; what stands around it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

import torch

from headway.core.cleaning import clean
from headway.core.config import build
from headway.core.errors import RunError
from headway.core.hypothesis import Hypothesis
from headway.core.interfaces import StepDecoder
from headway.core.optimizer import load_weights
from headway.core.run_folder import RunFolder
from headway.core.search import Decode, SearchRequest, decode_all
from headway.core.search_settings import DecodingSettings
from headway.core.settings import upgraded
from headway.core.subwords import Subwords
from headway.core.tensor_files import load_finite
from headway.core.transformer import Transformer, TransformerConfig


class Alternative(NamedTuple):
    """One translation of a sentence."""

    target: str
    score: float
    """Log-probability divided by the length penalty."""
    ids: list[int]
    tokens: list[str]
    """Its sub-words, as a reader would write them."""
    token_log_probs: list[float]
    """Of each sub-word, then of the end marker, in nats."""
    alignment: list[tuple[int, int]]
    """For each target sub-word: (source sub-word it looks at most, its own index), from 0."""
    written: str
    """What the model wrote, before anything was mended."""
    codes_complete: bool = True
    """The model wrote just the codes of the source. Where it did not, `target` is mended: what was
    invented is gone, what was missing stands at the end; the tokens are as they were."""
    attended: Sequence[float] = ()
    """How much attention each source sub-word got in all, where alignments were wanted."""


class Translation(NamedTuple):
    """A sentence and what became of it."""

    source: str
    source_tokens: list[str]
    n_best: list[Alternative]
    """Best first; empty for a blank line."""
    n_cut: int
    """Sub-words at the end of the source that were too many and were left out."""
    parts: "tuple[Translation, ...]" = ()
    """What it was put together from, where the source was cut."""

    @property
    def target(self) -> str:
        """The best translation; blank for a blank line."""
        return self.n_best[0].target if self.n_best else ""

    @property
    def codes_complete(self) -> bool:
        """Nothing had to be mended in the best translation."""
        return not self.n_best or self.n_best[0].codes_complete


Translate = Callable[[Sequence[str], SearchRequest], list[Translation]]
"""What a `TextTranslator` is, alone or with processors around it."""


@runtime_checkable
class Processor(Protocol):
    """What stands before and after a translation."""

    def __call__(
        self, texts: Sequence[str], request: SearchRequest, translate: Translate
    ) -> list[Translation]:
        """Have texts translated, perhaps others or more often than was asked for, and make of that
        the translations of those that were given."""
        ...


def within(processors: Iterable[Processor], translate: Translate) -> Translate:
    """`translate` with processors around it, the first of them outermost."""
    for one in reversed([*processors]):
        translate = partial(one, translate=translate)
    return translate


class TextTranslator:
    """A model and its sub-words: clean text to ids, through a search, and back to text."""

    def __init__(
        self,
        model: StepDecoder,
        subwords: Subwords,
        device: torch.device,
        longest: int | None = None,
        settings: DecodingSettings | None = None,
        decode: Decode = decode_all,
    ) -> None:
        """`longest`: sub-words of a source that are read; the rest is cut. None for as many as the
        model takes. `settings` are how it searches, where nothing else is said."""
        of_model = None if model.longest is None else model.longest - 1  # it reads the end marker
        limits = [limit for limit in (longest, of_model) if limit is not None]
        self.longest = min(limits, default=None)
        self.model, self.subwords, self.device = model, subwords, device
        self.settings, self.decode = settings or DecodingSettings(), decode

    @classmethod
    def load(cls, run: str | Path, device: str = "cpu") -> "TextTranslator":
        """A run folder's translator, with the paper's model and sub-words that were learned here.

        Raises:
            RunError: there is no run, it is damaged, or it has another model.
        """
        folder = RunFolder.open(run)
        folder.refuse_damaged()
        sections = upgraded(folder.settings())
        kind = sections["model"].pop("type", "transformer")
        if kind != "transformer" or not folder.tokenizer.exists():
            raise RunError(
                f"headway.core translates with a Transformer and its {folder.tokenizer.name}; the "
                f"model of {run} is of the type {kind}. Load it with headway.Translator."
            )
        known = {field.name for field in fields(TransformerConfig)}
        model = {key: value for key, value in sections["model"].items() if value or key in known}
        config = build(TransformerConfig, model, section="model")  # what is more is off
        settings = build(DecodingSettings, sections.get("decoding", {}), section="decoding")
        subwords = Subwords.load(folder.tokenizer)
        padding = subwords.special.padding
        transformer = Transformer(config, vocabulary_size=len(subwords), padding=padding)
        load_weights(transformer, load_finite(folder.model))
        longest = sections.get("data", {}).get("max_length") or None
        where = torch.device(device)
        return cls(transformer.to(where).eval(), subwords, where, longest, settings)

    def request(self, settings: DecodingSettings | None = None) -> SearchRequest:
        """A search by these settings, else its own; it may be asked for more."""
        return SearchRequest(self.subwords.special, settings or self.settings, self.device)

    @torch.inference_mode()
    def translate(self, texts: Iterable[str], processors: Iterable[Processor] = ()) -> list[str]:
        """The best translation of each text, in order; a blank one stays blank."""
        translate = within(processors, self)
        return [one.target for one in translate([clean(text) for text in texts], self.request())]

    def __call__(self, texts: Sequence[str], request: SearchRequest) -> list[Translation]:
        """The `n_best` translations of each text."""
        encoded = self.subwords.encode_batch(texts)
        read = [ids[: self.longest] for ids in encoded]
        worded = [i for i, ids in enumerate(read) if ids]
        request.done(len(texts) - len(worded))
        least = request.settings.least_tokens(len(self.subwords))
        some = [read[i] for i in worded]
        hypotheses = self.decode(self.model, some, request._replace(least_tokens=least))
        found = dict(zip(worded, hypotheses, strict=True))
        return [
            Translation(
                source=text,
                source_tokens=self.subwords.pieces(read[i]),
                n_best=self._alternatives(found.get(i, []), len(read[i])),
                n_cut=len(encoded[i]) - len(read[i]),
            )
            for i, text in enumerate(texts)
        ]

    def _alternatives(self, found: Sequence[Hypothesis], source_length: int) -> list[Alternative]:
        texts = self.subwords.decode_batch([hypothesis.ids for hypothesis in found])
        return [
            Alternative(
                target=text,
                score=hypothesis.score,
                ids=hypothesis.ids,
                tokens=self.subwords.pieces(hypothesis.ids),
                token_log_probs=hypothesis.token_log_probs,
                alignment=alignment(hypothesis, source_length),
                written=text,
                attended=attended(hypothesis, source_length),
            )
            for hypothesis, text in zip(found, texts, strict=True)
        ]


def alignment(hypothesis: Hypothesis, source_length: int) -> list[tuple[int, int]]:
    """For each token of a hypothesis that has its attention, the source token it looks at most."""
    if hypothesis.attention is None:
        return []
    looked_at = hypothesis.attention[: len(hypothesis.ids), :source_length].argmax(-1).tolist()
    return [(source, target) for target, source in enumerate(looked_at)]


def attended(hypothesis: Hypothesis, source_length: int) -> list[float]:
    """How much attention each source token got in all; nothing where it was not asked for."""
    if hypothesis.attention is None:
        return []
    total: list[float] = hypothesis.attention[:, :source_length].sum(0).tolist()
    return total
