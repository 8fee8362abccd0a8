"""A trained translator in Python: `Translator.load("runs/x").translate(["..."], beam=5)`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

import torch
from torch import nn

from headway.core.cleaning import clean
from headway.core.config import build
from headway.core.interfaces import StepDecoder
from headway.core.runtime import Device, EngineName, Precision, RuntimeSettings
from headway.core.search import SearchRequest
from headway.core.search_settings import DecodingSettings
from headway.core.settings import Settings
from headway.core.subwords import Subwords
from headway.core.translate import (
    Alternative,
    Processor,
    TextTranslator,
    Translate,
    Translation,
    within,
)
from headway.corpora.mixing import chosen_tag, tagged
from headway.decoding.sampling import ONLY_DRAWN
from headway.engine.engine import EngineChoice
from headway.languages.sentences import may_hold_sentences
from headway.localization.checks.calibration import Calibration
from headway.localization.checks.checker import Checker, Verdict
from headway.localization.checks.output_checks import ModelEvidence
from headway.localization.checks.training_stats import TrainingStats
from headway.localization.placeholders.may_hold import may_hold_codes, no_text
from headway.localization.placeholders.names import OwnCodes
from headway.localization.placeholders.own_codes import Patterns, compiled, patterns_of
from headway.localization.placeholders.segments import Segment
from headway.operations.argument_types import in_shape, path, paths, string
from headway.operations.option_errors import only_for_sampling
from headway.operations.shipped import open_folder
from headway.runs.loading import open_run
from headway.translation.attention import Attention, attention, refuse_blind
from headway.translation.coded import CodeProcessor, SegmentTranslation
from headway.translation.decoding import EngineSearch
from headway.translation.portions import Portions, translate_segments
from headway.translation.prefixes import PrefixProcessor, prefixes_of
from headway.translation.spec import SPEC

if TYPE_CHECKING:
    from headway.localization.terms.keeping import Terms
    from headway.translation.terms import Glossaries, TermProcessor

__all__ = ["Alternative", "Attention", "Translation", "Translator"]


class Translator:
    """A run folder's model, ready to translate."""

    def __init__(
        self,
        model: StepDecoder,
        subwords: Subwords,
        settings: Settings,
        device: torch.device,
        checks: Mapping[str, Any] | None = None,
        codes: Patterns = (),
        terms: "Terms | None" = None,
    ) -> None:
        """`checks` is what checks.json has: what the model's training held, if that is known.

        `codes` are patterns of what is a code, besides those that the run has; `terms` hold where
        no others are asked for.
        """
        self.run: Path | None = None
        """The folder that it was loaded from."""
        self.own_terms = terms
        self.own_codes = (*codes, *(settings.text.patterns()))
        self.model, self.subwords, self.settings, self.device = model, subwords, settings, device
        self.checks = checks or {}
        self.search = EngineSearch()
        longest = settings.data.max_length or None
        self.plain = TextTranslator(
            model, subwords, device, longest, settings.decoding, self.search
        )
        self.longest = self.plain.longest
        """Sub-words of a text that are read, its tag's included; None for all."""
        held = TrainingStats.from_dict(self.checks.get("held", {}))
        self.at_once = held.at_once._replace(subwords=held.at_once.subwords or self.longest)
        """How much text the model takes at once; longer ones are cut, see `portions`."""

    @classmethod
    def load(
        cls,
        run: str | Path,
        *,
        device: Device = "auto",
        codes: str | Path | Sequence[str | Path] = (),
        precision: Precision = "fp32",
        engine: EngineName = "auto",
        say: Callable[[str], None] = lambda _: None,
    ) -> "Translator":
        """Open a run folder, wherever it was trained; threads and seeds stay the process's own.

        `codes` are files of patterns of codes, besides those of the run; `engine` is what searches,
        `precision` that of its products (docs/speed.md). Raises RunError when there is no trained
        translator, DataError for a pattern that is none, ConfigError for what is not for this run.
        """
        build(RuntimeSettings, {"engine": engine, "precision": precision}, section="runtime")
        opened, folder = open_run(SPEC, run, device=device), open_folder(run)
        model = cast(StepDecoder, opened.model)
        checks, terms = folder.read_checks(), None
        if opened.settings.data.glossary:
            from headway.localization.terms.keeping import Terms

            folder.refuse_missing(folder.glossary)
            terms = Terms.read([folder.glossary], opened.settings.data)
        own: Patterns = ()
        if codes:
            own = compiled(tuple(patterns_of([str(file) for file in paths(codes, "codes")])))
        found = cls(model, opened.vocabulary, opened.settings, opened.device, checks, own, terms)
        found.run, found.search.choice = folder.path.resolve(), EngineChoice(engine)
        unmeasured = precision in ("auto", "fp32") and not folder.precision.exists()
        if engine == "ctranslate2" or not unmeasured:
            from headway.translation.engines import settle  # a side room

            settle(folder, opened, found.plain, found.search, precision, say)
        return found

    def refresh(self) -> None:
        """Translate with `model` as it is now, where it was changed after a first translation: the
        compiled engine has a copy of its weights. CTranslate2 refuses to from then on."""
        self.search.refresh()

    def shorten(self, run: str | Path, n: int, say: Callable[[str], None] = lambda _: None) -> None:
        """Write from lists of likely words from now on: see
        `headway.translation.shortlisting.shorten`."""
        from headway.translation.shortlisting import shorten  # it reads what a run learned

        shorten(self.plain, self.search, path(run, "run"), self.settings, n, say)

    @property
    def target_language(self) -> str | None:
        """Code of the language that is translated into, if it is known."""
        return self.settings.data.target_language

    @overload
    def translate(self, texts: str, **how: Any) -> str: ...
    @overload
    def translate(self, texts: Iterator[str], **how: Any) -> Iterator[str]: ...
    @overload
    def translate(self, texts: Iterable[str], **how: Any) -> list[str]: ...
    def translate(self, texts: Any, **how: Any) -> Any:
        """The best translation of each text, in order; a blank one stays blank.

        Of a string that is a string, of an iterator an iterator, of other rows of strings a list.
        `how` is what `translate_fully` takes but for `want_scores`.
        """
        found = self.translate_fully(texts, **{**how, "want_scores": False})
        if isinstance(found, Translation):
            return found.target
        targets = (one.target for one in found)
        return list(targets) if isinstance(found, list) else targets

    @overload
    def translate_fully(self, texts: str, **how: Any) -> Translation: ...
    @overload
    def translate_fully(self, texts: Iterator[str], **how: Any) -> Iterator[Translation]: ...
    @overload
    def translate_fully(self, texts: Iterable[str], **how: Any) -> list[Translation]: ...
    @torch.inference_mode()
    def translate_fully(
        self,
        texts: Any,
        *,
        tag: str | None = None,
        want_alignment: bool = False,
        want_scores: bool = True,
        done: Callable[[int], None] = lambda n: None,
        generator: torch.Generator | None = None,
        glossary: "Glossaries" = None,
        prefixes: str | Sequence[str] = (),
        **decoding: Any,
    ) -> Any:
        """Translations with scores (greedy: if wanted), sub-words and, on request, alignments.

        `tag` is one of the run's tags; without it `headway.corpora.mixing.chosen_tag` says what is
        taken. `glossary` is a file of terms that are to hold (.tsv, .csv, .tbx), several, or
        `Terms` that were read; without it the run's own, with "none" none. `prefixes` are what the
        translations begin with, one for each text, empty for none.
        `decoding` are settings of `DecodingSettings`, such as `beam=5` or `method="greedy"`.

        A text of more than `at_once` is translated in portions, which are put together again: see
        `headway.translation.portions.combined`. A portion longer than `longest` is cut at
        its end, which `Translation.n_cut` tells. `done` hears how many portions each batch
        finished. Of an iterator comes an iterator, see `argument_types.in_shape`.

        Raises:
            ArgumentTypeError: something is given that is no text.
            ConfigError: there is a tag to choose, or a setting does not exist.
        """
        request = self.plain.request(self.decoding(decoding))._replace(
            want_attention=want_alignment, want_scores=want_scores, done=done, generator=generator
        )
        tag = self.chosen_tag(tag)
        begun: Sequence[str] = ()
        if prefixes or not isinstance(prefixes, tuple):
            begun = prefixes_of(texts, prefixes)
        translate = within(self.processors(tag, glossary, begun), self.plain)

        def find(some: Sequence[str]) -> list[Translation]:
            return translate(some, request)

        if type(texts) is list and {*map(type, texts)} <= {str}:
            return find(texts)
        return in_shape(texts, find)

    def processors(
        self, tag: str, glossary: "Glossaries" = None, prefixes: Sequence[str] = ()
    ) -> list[Processor]:
        """What stands before and after the model, the outermost first."""
        terms = self.terms(tag, glossary)
        beginning = PrefixProcessor(prefixes, self.plain, tag, self.own_codes)
        return [
            *([beginning] if any(prefixes) else ()),
            self._in_portions,
            partial(self._with_codes, tag, terms),
            *self._nearest(tag, terms),
        ]

    def _in_portions(
        self, texts: Sequence[str], request: SearchRequest, translate: Translate
    ) -> list[Translation]:
        some = any(map(self._may_be_cut, texts))
        return self.portions()(texts, request, translate) if some else translate(texts, request)

    def _with_codes(
        self,
        tag: str,
        terms: "TermProcessor | None",
        texts: Sequence[str],
        request: SearchRequest,
        translate: Translate,
    ) -> list[Translation]:
        """Cleaned, and by way of `CodeProcessor` where a text or a translation may hold codes."""
        cleaned, found = [clean(text) for text in texts], None
        held = any(self._may_hold_codes(text) or no_text(text) for text in cleaned)
        if not held:
            found = translate(cleaned, request)
            held = any(self._may_hold_codes(one.written) for each in found for one in each.n_best)
        if held:
            found = self.codes(tag, terms)(cleaned, request, translate, found)
        return [one._replace(source=text) for text, one in zip(texts, found or (), strict=True)]

    @torch.inference_mode()
    def translate_segments(
        self,
        segments: Sequence[Segment],
        *,
        tag: str | None = None,
        glossary: "Glossaries" = None,
        want_alignment: bool = False,
        done: Callable[[int], None] = lambda n: None,
        **decoding: Any,
    ) -> list[SegmentTranslation]:
        """Translations of segments of a file, in portions: see `CodeProcessor.segments`."""
        tag = self.chosen_tag(tag)
        terms = self.terms(tag, glossary)
        codes, translate = self.codes(tag, terms), within(self._nearest(tag, terms), self.plain)
        request = self.plain.request(self.decoding(decoding))._replace(
            want_attention=want_alignment, done=done
        )

        def find(some: list[Segment]) -> list[SegmentTranslation]:
            return codes.segments(some, request, translate)

        return translate_segments(segments, self.portions(), find)

    def portions(self) -> Portions:
        """What cuts texts and segments into what the model takes at once."""
        language, own = self.settings.data.source_language, self.own_codes
        return Portions(self.at_once, lambda text: len(self.subwords.encode(text)), language, own)

    @cached_property
    def checker(self) -> Checker:
        """What looks at translations, by what checks.json has; see `judged`."""
        held = TrainingStats.from_dict(self.checks.get("held", {}))
        return Checker(held, Calibration.from_dict(self.checks.get("trust", {})), self.own_codes)

    def judged(self, translation: Translation) -> Verdict:
        """Flags of the best translation, and how sure it is that it is good.

        Confidences need scores, and are measured with alignments (`want_alignment`), without which
        nobody knows what was not looked at.
        """
        readings = [
            ModelEvidence(
                part.source_tokens, part.n_best[0].token_log_probs, part.n_best[0].attended
            )
            for part in translation.parts or (translation,)
            if part.n_best
        ]
        return self.checker.look(translation.source, translation.target, readings)

    def _may_be_cut(self, text: str) -> bool:
        """Quick, and often true; a sub-word has two bytes or more, but in texts that are noise."""
        limit = self.at_once.subwords
        long = limit is not None and len(text) * (1 if text.isascii() else 3) > 2 * limit
        return long or may_hold_sentences(text)

    def codes(self, tag: str, terms: "TermProcessor | None" = None) -> CodeProcessor:
        """What texts with codes need; codes, and names that nobody knows, may be parts of terms."""

        def known(text: str, start: int, end: int) -> bool:
            word, has = text[start:end], self.subwords.has
            return (
                has(f"▁{word}") or has(word)
                or (terms is not None and terms.asks_for(text, start, end))
            )  # fmt: skip

        masks = self.settings.text.codes == "mask"
        return CodeProcessor(self.subwords, OwnCodes(known, self.own_codes), tag, masks=masks)

    def terms(self, tag: str, glossary: "Glossaries" = None) -> "TermProcessor | None":
        """What has translations hold the terms of a glossary; of none, those of the run."""
        asked = self.own_terms if glossary is None else glossary
        if asked is None:
            return None
        from headway.translation.terms import TermProcessor, wanted_terms  # they read XML

        terms = wanted_terms(asked, self.settings.data)
        return None if terms is None else TermProcessor(self.plain, terms, tag)

    def _nearest(self, tag: str, terms: "TermProcessor | None") -> list[Processor]:
        """What stands next to the model: the tag, then terms, which are looked for behind it."""

        def with_tag(
            texts: Sequence[str], request: SearchRequest, translate: Translate
        ) -> list[Translation]:
            return translate([tagged(text, tag) for text in texts], request)

        return [*([with_tag] if tag else ()), *([terms] if terms else ())]

    def decoding(self, given: Mapping[str, Any]) -> DecodingSettings:
        """The run's settings but for what is given; raises ConfigError for what does not exist."""
        stored = vars(self.settings.decoding)
        found = build(DecodingSettings, {**stored, **given}, section="decoding")
        unused = [key for key in ONLY_DRAWN if getattr(found, key) != stored[key]]
        if unused and not found.draws:
            raise only_for_sampling(unused[0], found.method)
        return found

    def _may_hold_codes(self, text: str) -> bool:
        own = any(pattern.stands_in(text) for pattern in self.own_codes)
        return own or may_hold_codes(text)

    def chosen_tag(self, asked: str | None) -> str:
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
        text, tag = string(text, "text"), self.chosen_tag(tag)
        target = self.translate(text, tag=tag) if target is None else string(target, "target")
        return attention(self.plain, self.codes(tag), text, target)

    def save(self, folder: str | Path) -> Path:
        """Write a run folder that `load` opens, with the weights as they are now: see
        `headway.runs.copying.save_copy`."""
        from headway.runs.copying import save_copy

        return save_copy(self.run, cast(nn.Module, self.model), path(folder, "folder"))

    def __repr__(self) -> str:
        data, where = self.settings.data, self.run or "made in memory"
        ways = f"{data.source_language or '?'} to {data.target_language or '?'}"
        return f"<Translator {where}: {ways}, {self.settings.model_type}, on {self.device}>"
