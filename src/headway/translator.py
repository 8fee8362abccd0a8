"""A trained translator in Python: `Translator.load("runs/x").translate(["..."], beam=5)`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch

from headway.config import build
from headway.decoding.settings import DecodingSettings
from headway.models.interfaces import StepDecoder
from headway.runs.loading import open_run
from headway.runs.settings import Settings
from headway.runtime import Device
from headway.tasks.translation.attention import Attention, attention, refuse_blind
from headway.tasks.translation.kind import KIND
from headway.tasks.translation.texts import Alternative, TextTranslator, Translation
from headway.text.cleaning import clean, may_hold_codes
from headway.text.mixing import chosen_tag, tagged
from headway.text.subwords import Subwords

if TYPE_CHECKING:
    from headway.tasks.translation.coded import CodedTranslator, SegmentTranslation
    from headway.text.memories.segments import Segment

__all__ = ["Alternative", "Attention", "Translation", "Translator"]


class Translator:
    """A run folder's model, ready to translate."""

    def __init__(
        self, model: StepDecoder, subwords: Subwords, settings: Settings, device: torch.device
    ) -> None:
        self.model, self.subwords, self.settings, self.device = model, subwords, settings, device
        of_model = None if model.longest is None else model.longest - 1  # it reads the end marker
        limits = (settings.data.max_length or None, of_model)
        self.longest = min((limit for limit in limits if limit is not None), default=None)
        """Sub-words of a text that are read, its tag's included; None for all."""
        self.plain = TextTranslator(model, subwords, device, self.longest)

    @classmethod
    def load(cls, run: str | Path, *, device: Device = "auto") -> "Translator":
        """Open a run folder, wherever it was trained; threads and seeds stay the process's own.

        Raises RunError when there is no trained translator in it.
        """
        opened = open_run(KIND, run, device=device)
        model = cast(StepDecoder, opened.model)
        return cls(model, opened.vocabulary, opened.settings, opened.device)

    @property
    def target_language(self) -> str | None:
        """Code of the language that is translated into, if it is known."""
        return self.settings.data.target_language

    def translate(
        self, texts: Sequence[str], *, tag: str | None = None, **decoding: Any
    ) -> list[str]:
        """The best translation of each text, in order; a blank one stays blank.

        `tag` is one of the run's tags; without it `headway.text.mixing.chosen_tag` says what is
        taken. `decoding` are settings of `DecodingSettings`, such as `beam=5` or `method="greedy"`.
        Raises ConfigError where there is a tag to choose, and for settings that do not exist.
        """
        found = self.translate_fully(texts, tag=tag, want_scores=False, **decoding)
        return [translation.target for translation in found]

    @torch.inference_mode()
    def translate_fully(
        self,
        texts: Sequence[str],
        *,
        tag: str | None = None,
        want_alignment: bool = False,
        want_scores: bool = True,
        done: Callable[[int], None] = lambda n: None,
        generator: torch.Generator | None = None,
        **decoding: Any,
    ) -> list[Translation]:
        """Translations with scores (greedy: if wanted), sub-words and, on request, alignments.

        A text longer than `longest` is cut at its end, which `Translation.n_cut` tells. `done`
        hears how many sentences each batch finished.
        """
        settings, tag = self.decoding(decoding), self._tag(tag)
        how: dict[str, Any] = {"want_alignment": want_alignment, "generator": generator}
        cleaned = [clean(text) for text in texts]
        if any(map(may_hold_codes, cleaned)):
            found = self._coded(settings, tag).texts(cleaned, done=done, **how)
        else:
            read = [tagged(text, tag) for text in cleaned] if tag else cleaned
            found = self.plain(read, settings, want_scores=want_scores, done=done, **how)
            if any(may_hold_codes(one.written) for each in found for one in each.n_best):
                found = self._coded(settings, tag).texts(cleaned, found=found, **how)
        return [one._replace(source=text) for text, one in zip(texts, found, strict=True)]

    @torch.inference_mode()
    def translate_segments(
        self,
        segments: "Sequence[Segment]",
        *,
        tag: str | None = None,
        done: Callable[[int], None] = lambda n: None,
        **decoding: Any,
    ) -> "list[SegmentTranslation]":
        """Translations of segments of a file: see `CodedTranslator.segments`."""
        return self._coded(self.decoding(decoding), self._tag(tag)).segments(segments, done=done)

    def _coded(self, settings: DecodingSettings, tag: str) -> "CodedTranslator":
        """The door to the side room for texts with codes."""
        from headway.tasks.translation.coded import CodedTranslator

        return CodedTranslator(self.plain, settings, tag, masks=self.settings.text.codes == "mask")

    def decoding(self, given: Mapping[str, Any]) -> DecodingSettings:
        """The run's settings but for what is given; raises ConfigError for what does not exist."""
        stored = asdict(self.settings.decoding)
        return build(DecodingSettings, {**stored, **given}, section="decoding")

    def _tag(self, asked: str | None) -> str:
        known = self.settings.data.tags
        return chosen_tag(asked, known) if asked is not None or known else ""

    @torch.inference_mode()
    def attention(
        self, text: str, target: str | None = None, *, tag: str | None = None
    ) -> Attention:
        """Where every layer and head looks while `target` is written.

        Without `target`, the model's own translation is taken; `tag` is as in `translate`. Raises
        ConfigError for a model without attention to be looked at.
        """
        refuse_blind(self.model, self.settings.model_type)
        tag = self._tag(tag)
        if target is None:
            target = self.translate([text], tag=tag)[0]
        return attention(self._coded(self.settings.decoding, tag), text, target)
