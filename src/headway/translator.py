"""A trained translator in Python: `Translator.load("runs/x").translate(["..."], beam=5)`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

import torch
from torch import nn

from headway.core.config import build
from headway.core.errors import RunError
from headway.core.interfaces import StepDecoder
from headway.core.runtime import Device, EngineName, Precision, RuntimeSettings
from headway.core.search import METHODS
from headway.core.subwords import Subwords
from headway.corpora.mixing import chosen_tag
from headway.localization.checks.calibration import Calibration, Checker, Verdict
from headway.localization.checks.output_checks import evidence_of
from headway.localization.checks.training_stats import TrainingStats
from headway.localization.placeholders.own_codes import Patterns, compiled, patterns_of
from headway.localization.placeholders.segments import Segment
from headway.operations.argument_types import in_shape, path, paths, string
from headway.operations.option_errors import only_for_sampling
from headway.operations.shipped import open_folder
from headway.runs.loading import open_run
from headway.runs.settings import Settings
from headway.translation.attention import Attention, attention, refuse_blind
from headway.translation.coded import SegmentTranslation
from headway.translation.decoding import ONLY_DRAWN, EngineChoice, EngineSearch, SamplingSettings
from headway.translation.detailed import Alternative, DetailedTranslator, Translation, within
from headway.translation.portions import translate_segments
from headway.translation.prefixes import prefixes_of
from headway.translation.processors import RunProcessors
from headway.translation.spec import SPEC

if TYPE_CHECKING:
    from headway.localization.terms.keeping import Terms
    from headway.translation.terms import Glossaries

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

        `codes` are patterns of codes besides the run's own; `terms` hold where no others are asked.
        """
        self.run: Path | None = None
        """The folder that it was loaded from."""
        self.own_codes = (*codes, *(settings.text.patterns()))
        self.model, self.subwords, self.settings, self.device = model, subwords, settings, device
        self.checks = checks or {}
        self.search = EngineSearch()
        longest = settings.data.max_length or None
        self.plain = DetailedTranslator(
            model, subwords, device, longest, settings.decoding, self.search
        )
        self.longest = self.plain.longest
        """Sub-words of a text that are read, its tag's included; None for all."""
        self.held = TrainingStats.from_dict((checks or {}).get("held", {}))
        at_once = self.held.at_once
        self.at_once = at_once._replace(subwords=at_once.subwords or self.longest)
        """How much text the model takes at once; longer ones are cut, see `Portions`."""
        self.processors = RunProcessors(self.plain, settings, self.at_once, self.own_codes, terms)

    @classmethod
    def load(
        cls,
        run: str | Path | list[Any] | tuple[Any, ...],
        *,
        device: Device = "auto",
        codes: str | Path | Sequence[str | Path] = (),
        precision: Precision = "fp32",
        engine: EngineName = "auto",
        say: Callable[[str], None] = lambda _: None,
    ) -> "Translator":
        """Open a run folder, or several as an ensemble; threads and seeds stay the process's own.

        `codes` are files of patterns of codes, besides those of the run; `engine` is what searches,
        `precision` that of its products (docs/speed.md). Raises RunError when there is no trained
        translator, DataError for a pattern that is none, ConfigError for what is not for this run.
        """
        build(RuntimeSettings, {"engine": engine, "precision": precision}, section="runtime")
        if isinstance(run, list | tuple):
            from headway.translation.ensembles import load_ensemble  # a side room

            how: Any = {"codes": codes, "precision": precision, "engine": engine, "say": say}
            return load_ensemble(run, partial(cls.load, device=device, **how), cls, engine, say)
        opened, folder = open_run(SPEC, run, device=device, training=False), open_folder(run)
        if opened.device.type == "cuda" and device == "auto" and engine in ("auto", "native"):
            from headway.runs.on_gpu import beside  # a side room

            opened = beside(opened)
        model = cast(StepDecoder, opened.model)
        checks, terms = folder.table(folder.checks) if folder.checks.exists() else {}, None
        if opened.settings.data.glossary:
            from headway.localization.terms.keeping import Terms

            if not folder.glossary.exists():
                raise RunError(
                    f"{folder.glossary} belongs to the run, and is gone. Take it from a copy."
                )
            terms = Terms.read([folder.glossary], opened.settings.data)
        own = compiled(tuple(patterns_of([*map(str, paths(codes, "codes"))]))) if codes else ()
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

        shorten(self.plain, self.search, path(run, "run"), n, say)

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
        `decoding` are settings of `SamplingSettings`, such as `beam=5` or `method="greedy"`.

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
        some_begun = prefixes or not isinstance(prefixes, tuple)
        begun = prefixes_of(texts, prefixes) if some_begun else ()
        translate = within(self.processors.around(tag, glossary, begun), self.plain)
        if type(texts) is list and {*map(type, texts)} <= {str}:
            return translate(texts, request)
        return in_shape(texts, lambda some: translate(some, request))

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
        around, plain = self.processors, self.plain
        terms = around.terms(glossary)
        codes, translate = around.codes(tag, terms), within(around.nearest(tag, terms), plain)
        request = self.plain.request(self.decoding(decoding))._replace(
            want_attention=want_alignment, done=done
        )
        return translate_segments(
            segments, around.portions(), lambda some: codes.segments(some, request, translate)
        )

    @cached_property
    def checker(self) -> Checker:
        """What looks at translations, by what checks.json has; see `judged`."""
        trust = Calibration.from_dict(self.checks.get("trust", {}))
        return Checker(self.held, trust, self.own_codes)

    def judged(self, translation: Translation, glossary: "Glossaries" = None) -> Verdict:
        """Flags of the best translation, and how sure it is that it is good; `glossary` is that of
        `translate_fully`. Confidences need scores, and are measured with alignments
        (`want_alignment`), without which nobody knows what was not looked at.
        """
        parts = translation.parts or (translation,)
        found = self.checker.look(translation.source, translation.target, evidence_of(parts))
        terms = self.processors.terms(glossary)
        return terms.judged(((one.source, one.target) for one in parts), found) if terms else found

    def decoding(self, given: Mapping[str, Any]) -> SamplingSettings:
        """The run's settings but for what is given; raises ConfigError for what does not exist."""
        if not given:
            return cast(SamplingSettings, self.settings.decoding)
        stored = vars(self.settings.decoding)
        found = build(SamplingSettings, {**stored, **given}, section="decoding")
        unused = [key for key in ONLY_DRAWN if getattr(found, key) != stored[key]]
        if unused and found.method in METHODS:
            raise only_for_sampling(unused[0], found.method)
        return found

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
        return attention(self.plain, self.processors.codes(tag), text, target)

    def save(self, folder: str | Path) -> Path:
        """Write a run folder that `load` opens, with the weights as they are now: see
        `headway.runs.checking.save_copy`."""
        from headway.runs.checking import save_copy

        return save_copy(self.run, cast(nn.Module, self.model), path(folder, "folder"))

    def __repr__(self) -> str:
        data, where = self.settings.data, self.run or "made in memory"
        ways = f"{data.source_language or '?'} to {data.target_language or '?'}"
        return f"<Translator {where}: {ways}, {self.settings.model_type}, on {self.device}>"
