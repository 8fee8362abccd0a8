"""A trained translator in Python: `Translator.load("runs/x").translate(["..."], beam=5)`."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, SupportsIndex, cast

import numpy as np
import torch
from jaxtyping import Float
from safetensors.torch import load_file

from headway import runtime as machine_runtime
from headway.decoding.hypothesis import Hypothesis
from headway.decoding.settings import DecodingSettings
from headway.errors import RunError
from headway.models.transformer import Transformer
from headway.tasks.building import build_model
from headway.tasks.coded_search import Candidate, CodedSearch, Found, Source
from headway.tasks.settings import Settings
from headway.text import segment_texts
from headway.text.cleaning import clean
from headway.text.code_projection import Plain, Tokens, project, without_codes
from headway.text.codes import check, parsed, parsed_text, repaired, with_placeholders
from headway.text.memories.segments import Code, Segment
from headway.text.mixing import chosen_tag, tagged
from headway.text.subwords import Subwords
from headway.training.parameters import load_weights
from headway.training.run_folder import RunFolder

Device = Literal["auto", "cpu", "cuda"]


class Alternative(NamedTuple):
    """One translation of a sentence."""

    target: str
    score: float
    """Log-probability divided by the length penalty."""
    tokens: list[str]
    """Its sub-words, as a reader would write them."""
    token_log_probs: list[float]
    """Of each sub-word, then of the end marker, in nats."""
    alignment: list[tuple[int, int]]
    """For each target sub-word: (source sub-word it looks at most, its own index), from 0."""
    codes_complete: bool = True
    """The model wrote just the codes of the source. Where it did not, `target` is mended: what was
    invented is gone, what was missing stands at the end; the tokens are as they were."""
    written: str = ""
    """What the model wrote, before anything was mended."""


class Translation(NamedTuple):
    """A sentence and what became of it."""

    source: str
    source_tokens: list[str]
    n_best: list[Alternative]
    """Best first; empty for a blank line."""
    n_cut: int
    """Sub-words at the end of the source that were too many and were left out."""

    @property
    def target(self) -> str:
        """The best translation; blank for a blank line."""
        return self.n_best[0].target if self.n_best else ""

    @property
    def codes_complete(self) -> bool:
        """Nothing had to be mended in the best translation."""
        return not self.n_best or self.n_best[0].codes_complete


class SegmentTranslation(NamedTuple):
    """A segment of a translation file, translated."""

    segment: Segment
    """With every code of the source once, each as the file writes it (`Code.raw`)."""
    complete: bool
    """The model put all codes where they are. False: what it lost stands at the end."""
    n_cut: int
    """Sub-words at the end of the source that were too many and were left out."""


class Written(NamedTuple):
    """What the model wrote for a segment, not mended."""

    segment: Segment
    n_cut: int


class Attention(NamedTuple):
    """The weights of every layer and head for one sentence pair, as arrays."""

    source_tokens: list[str]
    """The end marker included."""
    target_tokens: list[str]
    """What was fed: the begin marker, then the target."""
    encoder: Float[np.ndarray, "layers heads source source"]
    decoder: Float[np.ndarray, "layers heads target target"]
    cross: Float[np.ndarray, "layers heads target source"]


class Translator:
    """A run folder's model, ready to translate."""

    def __init__(
        self, model: Transformer, subwords: Subwords, settings: Settings, device: torch.device
    ) -> None:
        self.model, self.subwords, self.settings, self.device = model, subwords, settings, device
        self.masks_codes = settings.text.codes == "mask"
        self.search = CodedSearch(model, subwords, settings.data.max_length, device)

    @classmethod
    def load(cls, run: str | Path, *, device: Device = "auto", threads: int = 0) -> "Translator":
        """Open a run folder; raises RunError when there is no trained model in it.

        `device` is `auto`, `cpu` or `cuda`, wherever the model was trained.
        """
        folder = RunFolder.open(Path(run))
        settings = Settings.of(folder.settings())
        wanted = replace(settings.runtime, device=device, precision="fp32", threads=threads)
        runtime = machine_runtime.start(wanted)
        if not folder.model.exists():
            raise RunError(
                f"{folder.path} has no model yet: training has not reached its first validation. "
                f"Go on with: headway train --out {folder.path} --resume"
            )
        subwords = Subwords.load(folder.tokenizer)
        model = build_model(settings, subwords)
        load_weights(model, load_file(folder.model))
        model = cast(Transformer, model.to(runtime.device).eval())
        return cls(model, subwords, settings, runtime.device)

    @property
    def target_language(self) -> str | None:
        """Code of the language that is translated into, if it is known."""
        return self.settings.data.target_language

    def translate(
        self, texts: Sequence[str], *, tag: str | None = None, **decoding: Any
    ) -> list[str]:
        """The best translation of each text, in order; a blank one stays blank.

        `tag` is one of the run's tags; without it `headway.text.mixing.chosen_tag` says what is
        taken, or raises ConfigError where there is a choice to make. `decoding` are settings of
        `DecodingSettings`, such as `beam=5` or `method="greedy"`.
        """
        return [
            translation.target
            for translation in self.translate_fully(texts, tag=tag, want_scores=False, **decoding)
        ]

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

        A text longer than the sentences of training (`data.max_length`) is cut at its end, which
        `Translation.n_cut` tells. `done` hears how many sentences each batch finished.
        """
        settings = replace(self.settings.decoding, **decoding)
        sources = [Source.of(Segment((clean(text),)), masked=self.masks_codes) for text in texts]
        found = self.search(
            sources,
            chosen_tag(tag, self.settings.data.tags),
            settings,
            want_attention=want_alignment,
            want_scores=want_scores,
            done=done,
            generator=generator,
        )
        return [
            Translation(
                text,
                self.shown(one.ids, source),
                [self.alternative(candidate, source, len(one.ids)) for candidate in one.candidates],
                one.n_cut,
            )
            for text, source, one in zip(texts, sources, found, strict=True)
        ]

    @torch.inference_mode()
    def translate_segments(
        self,
        segments: Sequence[Segment],
        *,
        tag: str | None = None,
        done: Callable[[int], None] = lambda n: None,
        **decoding: Any,
    ) -> list[SegmentTranslation]:
        """Translations of segments with inline codes, which all arrive, in pairs that nest.

        A model that knows masks puts the codes where they belong. For any other one tags are taken
        out of the source, and put back beside the words that look at the words beside them; where
        it then loses a placeholder that it was to spell, so are the placeholders. White space
        around a segment stays, and so do line ends in it; one without words is copied.
        """
        settings = replace(self.settings.decoding, **decoding)
        tag = chosen_tag(tag, self.settings.data.tags)
        prepared = [segment_texts.prepare(segment) for segment in segments]
        wholes = [parsed(one.segment) for one in prepared]
        worded = [i for i, whole in enumerate(wholes) if not whole.blank]
        done(len(segments) - len(worded))
        found: dict[int, Written] = {}
        if self.masks_codes:
            sources = [Source.of(wholes[i], masked=True) for i in worded]
            answers = self.search(sources, tag, settings, done=done)
            for i, answer in zip(worded, answers, strict=True):
                found[i] = Written(answer.candidates[0].segment, answer.n_cut)
        else:
            tagless = [prepared[i].segment for i in worded]
            found |= zip(worded, self.by_projection(tagless, tag, settings, done), strict=True)
            lost = [i for i in worded if not check(wholes[i], found[i].segment).complete]
            again = self.by_projection([wholes[i] for i in lost], tag, settings, lambda n: None)
            found |= zip(lost, again, strict=True)
        translations = [SegmentTranslation(segment, True, 0) for segment in segments]
        for i, written in found.items():
            mended = repaired(wholes[i], written.segment)
            translations[i] = SegmentTranslation(
                segment_texts.restore(segments[i], prepared[i], mended),
                check(wholes[i], written.segment).complete,
                written.n_cut,
            )
        return translations

    def by_projection(
        self,
        segments: Sequence[Segment],
        tag: str,
        settings: DecodingSettings,
        done: Callable[[int], None],
    ) -> list[Written]:
        """Translations of segments without their codes, which are then put back."""
        plain = [without_codes(segment) for segment in segments]
        sources = [Source.of(Segment((one.text.rstrip(),)), masked=False) for one in plain]
        want_attention = any(one.places for one in plain)
        answers = self.search(sources, tag, settings, want_attention=want_attention, done=done)
        written = []
        for segment, one, answer in zip(segments, plain, answers, strict=True):
            best = answer.candidates[0].segment
            if one.places:
                best = parsed(self.projected(segment.codes, one, tag, answer))
            written.append(Written(best, answer.n_cut))
        return written

    def projected(self, codes: Sequence[Code], plain: Plain, tag: str, found: Found) -> Segment:
        """The best translation of a text that codes were taken out of, with the codes put back."""
        best = found.candidates[0].hypothesis
        in_front = len(tagged(plain.text, tag)) - len(plain.text)
        spans = self.subwords.source_spans(tagged(plain.text.rstrip(), tag))[: len(found.ids)]
        return project(
            codes,
            plain,
            [(start - in_front, end - in_front) for start, end in spans],
            Tokens(self.subwords.decode(best.ids), self.subwords.target_spans(best.ids)),
            alignment(best, len(found.ids)),
        )

    def alternative(self, candidate: Candidate, source: Source, source_length: int) -> Alternative:
        """A candidate in the user's terms."""
        hypothesis = candidate.hypothesis
        return Alternative(
            repaired(source.segment, candidate.segment).text,
            hypothesis.score,
            self.shown(hypothesis.ids, source),
            hypothesis.token_log_probs,
            alignment(hypothesis, source_length),
            candidate.complete,
            candidate.segment.text,
        )

    def shown(self, ids: Iterable[SupportsIndex], source: Source) -> list[str]:
        """Sub-words as a reader would write them, codes in the place of placeholders."""
        return [
            source.codes[piece].text if piece in source.codes else piece
            for piece in self.subwords.pieces(ids)
        ]

    @torch.inference_mode()
    def attention(
        self, text: str, target: str | None = None, *, tag: str | None = None
    ) -> Attention:
        """Where every layer and head looks while `target` is written.

        Without `target`, the model's own translation is taken; `tag` is as in `translate`.
        """
        special = self.subwords.special
        tag = chosen_tag(tag, self.settings.data.tags)
        if target is None:
            target = self.translate([text], tag=tag)[0]
        source = Source.of(Segment((clean(text),)), masked=self.masks_codes)
        source_ids = [*self.subwords.encode(tagged(source.text, tag)), special.end]
        fed = with_placeholders(parsed_text(clean(target)), source.codes)
        target_ids = [special.begin, *self.subwords.encode(fed)]
        weights = self.model.look(
            torch.tensor([source_ids], device=self.device),
            torch.tensor([target_ids], device=self.device),
        )
        arrays = [layer[:, 0].float().cpu().numpy() for layer in weights]
        return Attention(self.shown(source_ids, source), self.shown(target_ids, source), *arrays)


def alignment(hypothesis: Hypothesis, source_length: int) -> list[tuple[int, int]]:
    """For each token of a hypothesis that has its attention, the source token it looks at most."""
    if hypothesis.attention is None:
        return []
    looked_at = hypothesis.attention[: len(hypothesis.ids), :source_length].argmax(-1).tolist()
    return [(source, target) for target, source in enumerate(looked_at)]
