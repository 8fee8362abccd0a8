"""Text in, translations out: to ids, through a search, and back to text."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple, Self, overload

import torch

from headway.core.cleaning import clean
from headway.core.config import build
from headway.core.errors import RunError
from headway.core.hypothesis import Decode, DecodingSettings, Hypothesis, SearchRequest
from headway.core.interfaces import StepDecoder
from headway.core.optimizer import load_weights
from headway.core.run_folder import RunFolder
from headway.core.runtime import RuntimeSettings, chosen_device
from headway.core.search import decode_all
from headway.core.subwords import Subwords
from headway.core.tensor_files import load_finite
from headway.core.transformer import Transformer, TransformerConfig


class Searched(NamedTuple):
    """A text as it was read, and what was found for it."""

    ids: list[int]
    n_cut: int
    """Sub-words at its end that were too many and were left out."""
    hypotheses: list[Hypothesis]
    """Best first; none for a blank text."""


class TextTranslator:
    """A model and its sub-words; what may stand around it is `headway.translation.detailed`."""

    def __init__(
        self,
        model: StepDecoder,
        subwords: Subwords,
        device: torch.device,
        longest: int | None = None,
        settings: DecodingSettings | None = None,
        decode: Decode = decode_all,
    ) -> None:
        """`longest`: sub-words that are read; the rest is cut. `settings`: how it searches."""
        of_model = None if model.longest is None else model.longest - 1  # it reads the end marker
        limits = [limit for limit in (longest, of_model) if limit is not None]
        self.longest = min(limits, default=None)
        self.model, self.subwords, self.device = model, subwords, device
        self.settings, self.decode = settings or DecodingSettings(), decode

    @classmethod
    def load(cls, run: str | Path, device: str = "cpu") -> Self:
        """A run folder's translator, with the paper's model and sub-words that were learned here.
        Raises UserError: the run is gone, damaged or of another model, or the device not there."""
        folder = RunFolder.open(run)
        folder.refuse_damaged()
        sections = folder.settings()
        kind = sections["model"].pop("type", "transformer")
        if kind != "transformer" or not folder.tokenizer.exists():
            raise RunError(
                f"headway.core translates with a Transformer and its {folder.tokenizer.name}; the "
                f"model of {run} is of the type {kind}. Load it with headway.Translator."
            )
        if sections["text"].get("codes") == "mask" or sections.get("data", {}).get("tags"):
            raise RunError(
                f"headway.core translates texts as they are; the model of {run} has learned "
                "placeholders or tags in their place. Load it with headway.Translator."
            )
        known = {field.name for field in fields(TransformerConfig)}
        model = {key: value for key, value in sections["model"].items() if value or key in known}
        config = build(TransformerConfig, model, section="model")  # other keys are of what is off
        known = {field.name for field in fields(DecodingSettings)}  # those of sampling are not
        search = {key: value for key, value in sections.get("decoding", {}).items() if key in known}
        settings = build(DecodingSettings, search, section="decoding")
        subwords = Subwords.load(folder.tokenizer)
        padding = subwords.special.padding
        transformer = Transformer(config, vocabulary_size=len(subwords), padding=padding)
        load_weights(transformer, load_finite(folder.model))
        longest = sections.get("data", {}).get("max_length") or None
        where = chosen_device(build(RuntimeSettings, {"device": device}, section="runtime"))
        return cls(transformer.to(where).eval(), subwords, where, longest, settings)

    def request(self, settings: DecodingSettings | None = None) -> SearchRequest:
        """A search by these settings, else its own; it may be asked for more."""
        return SearchRequest(self.subwords.special, settings or self.settings, self.device)

    @overload
    def translate(self, texts: str) -> str: ...  # type: ignore[overload-overlap]
    @overload
    def translate(self, texts: Iterable[str]) -> list[str]: ...
    @torch.inference_mode()
    def translate(self, texts: str | Iterable[str]) -> str | list[str]:
        """The best translation of a text, or of each, in order; a blank one stays blank."""
        if isinstance(texts, str):
            return self.translate([texts])[0]
        searched = self.search([clean(text) for text in texts], self.request())
        best = (one.hypotheses[0].ids if one.hypotheses else [] for one in searched)
        return [text.strip() for text in self.subwords.decode_batch(list(best))]

    def search(self, texts: Sequence[str], request: SearchRequest) -> list[Searched]:
        """Hypotheses for clean texts."""
        encoded = self.subwords.encode_batch(texts)
        read = [ids[: self.longest] for ids in encoded]
        worded = [i for i, ids in enumerate(read) if ids]
        request.done(len(texts) - len(worded))
        hypotheses = self.decode(self.model, [read[i] for i in worded], request)
        found = dict(zip(worded, hypotheses, strict=True))
        return [
            Searched(ids, len(whole) - len(ids), found.get(i, []))
            for i, (ids, whole) in enumerate(zip(read, encoded, strict=True))
        ]
