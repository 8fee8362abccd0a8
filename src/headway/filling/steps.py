"""A run's translator with everything that stands beside it: memory, terms and checks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.core.errors import ConfigError
from headway.corpora.pieces import Progress
from headway.filling.filling import Filler, OpenedFile, languages_said
from headway.filling.flow import Steps
from headway.filling.judging import MemoryLookup, RunChecks
from headway.languages.codes import LanguagePair
from headway.localization.terms import NONE
from headway.operations.locks import Say
from headway.operations.shipped import open_folder

if TYPE_CHECKING:
    from headway.translator import Translator

OFF = " (--glossary none leaves it out)"
Ready = Callable[[], "tuple[Translator, dict[str, Any]]"]


@dataclass(frozen=True)
class FlowOptions:
    """What the user gives to a flow besides its model."""

    memory: tuple[Path, ...] = ()
    fuzzy_from: float | None = None
    """A whole percentage."""
    glossary: tuple[Path, ...] = ()
    leave_below: float | None = None
    own: bool = True
    """What is translated in the files already is a memory, too; so are the run's training pairs."""
    codes: tuple[Path, ...] = ()
    """Patterns of codes that the translator was given."""
    tag: str | None = None
    """Which of the run's tags is asked for; the pairs of others are no memory."""

    def __post_init__(self) -> None:
        given = self.fuzzy_from
        if given is not None and not (50 <= given <= 100 and given == int(given)):
            meant = round(100 * given) if 0.5 <= given < 1 else 85
            raise ConfigError(
                f"--fuzzy-from is a whole percentage from 50 to 100; got {given:g}. Try {meant}."
            )
        if self.leave_below is not None and not 0 <= self.leave_below <= 1:
            raise ConfigError(
                f"--leave-below is a confidence from 0 to 1; got {self.leave_below}. Try 0.4."
            )

    def known(self) -> list[Any]:
        """What tells these from others, ready for JSON: files by name, size and time; `none` is one
        that is not there."""
        named = (*self.memory, *self.glossary, *self.codes)
        there = [path.stat() if path.exists() else None for path in named]
        files = [
            (str(path), of and of.st_size, of and of.st_mtime_ns)
            for path, of in zip(named, there, strict=True)
        ]
        return [files, self.fuzzy_from, self.leave_below, self.own]


def filler(
    run: Path | None,
    files: Sequence[OpenedFile],
    wanted: LanguagePair,
    aids: FlowOptions,
    ready: Ready,
    say: Say,
    progress: Progress,
) -> Filler:
    """Everything that fills in files; what cannot be read is refused before the model is loaded.

    Without a run that is a memory. Where neither the call nor the run says the languages, the first
    file that does says them. Raises UserError: a memory or a glossary cannot be read, or the run
    cannot do what is asked.
    """
    wanted = languages_said(wanted, files)
    memory: MemoryLookup | None = None
    fuzzy_from = None if aids.fuzzy_from is None else int(aids.fuzzy_from)
    if aids.memory or (files and aids.own):
        from headway.filling.memories import memories_for

        jobs = [file.job for file in files] if aids.own else []
        own = [job.file for job in jobs]
        begun = [(job.file, job.onto) for job in jobs if job.onto is not None]
        memory = memories_for(
            run, own, aids.memory, wanted, fuzzy_from, say, progress, begun, aids.tag
        )
    if run is None:
        if aids.glossary or aids.leave_below is not None or aids.codes:
            raise ConfigError(
                "--glossary, --leave-below and --codes are for what a run translates; got one with "
                "a memory alone. Leave it out, or name a RUN."
            )
        return Filler(None, None, Steps(memory, fuzzy_from))
    kept = None
    if files_of_terms := terms_of(run, aids.glossary):
        from headway.localization.terms.keeping import Terms

        kept = Terms.read(files_of_terms, wanted)
        whose = "" if aids.glossary else f" of the run{OFF}"
        say(f"headway: glossary{whose}: {kept.glossary.in_words()}")
    translator, how = ready()
    how["glossary"] = NONE if kept is None else kept
    if aids.leave_below is not None and not translator.checker.trust.weights:
        raise ConfigError(
            "--leave-below needs a run that knows how far it is to be trusted; this one was never "
            "measured. Do that once: headway check RUN --measure"
        )
    checks = RunChecks(translator.checker, wanted.target_language)
    return Filler(
        lambda segments: translator.translate_segments(segments, want_alignment=True, **how),
        translator.longest,
        Steps(memory, fuzzy_from, kept, checks, aids.leave_below),
        translator.processors.portions().of_segment,
    )


def terms_of(run: Path, given: Sequence[Path]) -> "list[str | Path]":
    """The files of terms that are given, or the run's own; none for `none`."""
    own = open_folder(run).glossary
    if not given and not own.exists():
        return []
    from headway.localization.terms.keeping import chosen

    return chosen(given, own)
