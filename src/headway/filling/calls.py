"""`headway.translate_files`: files filled in from Python as `headway translate` does it."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.core.disk import digest
from headway.core.errors import ConfigError
from headway.corpora.pieces import Progress
from headway.filling.files import Call, FillOptions, Outcomes, fill_files
from headway.filling.report import FileReport
from headway.filling.steps import FlowOptions, Ready, filler
from headway.languages.codes import LanguagePair
from headway.languages.detection import alike
from headway.languages.path_languages import is_code
from headway.operations.argument_types import path, paths, table
from headway.operations.locks import Say
from headway.operations.shipped import open_folder

if TYPE_CHECKING:
    from headway.translator import Translator

PathLike = str | Path

_PATHS = ("out", "report")
_SEVERAL = ("memory", "glossary", "codes")
_FILL_OPTIONS = ("out", "in_place", "overwrite", "report", "everything", "keep_going")
_AIDS = ("memory", "fuzzy_from", "glossary", "codes", "leave_below")
_LANGUAGES = ("source_language", "target_language")


def translate_files(
    run: PathLike | None,
    inputs: PathLike | Sequence[PathLike],
    *,
    tag: str | None = None,
    decoding: Mapping[str, Any] | None = None,
    device: Any = "auto",
    say: Callable[[str], None] | None = None,
    **options: Any,
) -> list[FileReport]:
    """Fill in translation files with a run; returns what became of each.

    `inputs` are files, folders and patterns. `options` are those of `headway translate`, with the
    same meaning: `out` or `in_place`, `overwrite`, `memory`, `fuzzy_from`, `glossary`, `codes`,
    `report`, `leave_below`, `keep_going`, `source_language`, `target_language`; with
    `everything=True` each unit has a row in `FileReport.rows`, not only what should be looked at.
    `decoding` are settings of `SamplingSettings`. Without a run (None), `memory` fills in alone.

    >>> headway.translate_files("runs/x", "po/", out="new/", memory=["old.tmx"], leave_below=0.4)

    Messages go to `say`, by default to stderr. Raises a `UserError` for what the
    caller can put right, and KeyboardInterrupt once what was done is kept.
    """
    if unknown := sorted(set(options) - {*_FILL_OPTIONS, *_AIDS, *_LANGUAGES}):
        raise ConfigError(
            f"options are {', '.join((*_FILL_OPTIONS, *_AIDS, *_LANGUAGES))}; got {unknown[0]!r}."
        )
    given = {name: value for name, value in options.items() if value is not None}
    for name in _PATHS:
        given |= {name: path(given[name], name)} if name in given else {}
    for name in _SEVERAL:
        given |= {name: tuple(paths(given[name], name))} if name in given else {}
    run = None if run is None else path(run, "run")
    names = list(map(str, paths(inputs, "inputs")))
    decoding = table(decoding or {}, "decoding")
    direction = LanguagePair(*(given.get(name) for name in _LANGUAGES))
    wanted = FillOptions(
        direction=direction, **{k: v for k, v in given.items() if k in _FILL_OPTIONS}
    )
    own = not wanted.overwrite
    aids = FlowOptions(own=own, tag=tag, **{k: v for k, v in given.items() if k in _AIDS})

    def ready() -> "tuple[Translator, dict[str, Any]]":
        from headway.translator import Translator

        assert run is not None, "a memory alone loads none"
        translator = Translator.load(run, device=device, codes=aids.codes)
        return translator, {"tag": tag, **asdict(translator.decoding(decoding))}

    tell = say or partial(print, file=sys.stderr, flush=True)
    known = [tag, decoding]
    done = called(run, names, wanted, aids, ready, known, tell, lambda *_: None)
    if not done.whole:
        tell(f"headway: interrupted; {done.go_on}")
        raise KeyboardInterrupt
    return done.files


def called(
    run: Path | None,
    names: Sequence[str],
    options: FillOptions,
    aids: FlowOptions,
    ready: Ready,
    known: Sequence[Any],
    say: Say,
    progress: Progress,
) -> Outcomes:
    """`fill_files` with a run and what stands beside it; `known` tells its settings from others.

    Raises UserError as `fill_files` and `filler`.
    """
    report = options.report
    for file in (*aids.memory, *aids.glossary, *aids.codes):
        if report and report.exists() and file.exists() and file.samefile(report):
            raise ConfigError(f"--report {report} would replace {file}. Give another name.")
    wanted, stored = options.direction, ""
    if run is not None:
        wanted = languages_of(run, wanted)
        stored = open_folder(run).config.read_text(encoding="utf-8")
    elif options.keep_going and aids.memory:
        from headway.localization.memory.building import wanted_languages

        wanted = wanted_languages(aids.memory, wanted)  # files of other ones are left out
    how = digest(
        [stored, options.overwrite, options.everything, list(wanted), aids.known(), *known]
    )
    call = Call(
        wanted,
        lambda opened: filler(run, opened, wanted, aids, ready, say, progress),
        how,
        say,
        progress,
    )
    return fill_files(names, options, call)


def languages_of(run: Path, given: LanguagePair) -> LanguagePair:
    """Those of a run, in the codes that are given.

    Raises ConfigError where another language is given than the run's.
    """
    settings = open_folder(run).settings().get("data", {})
    own = LanguagePair(settings.get("source_language"), settings.get("target_language"))
    for side, code, known in zip(LanguagePair._fields, given, own, strict=True):
        if code and known and is_code(known) and not alike(code, known):
            raise ConfigError(
                f"--{side.replace('_', '-')} names the run's own language as files write it (pt-BR "
                f"for pt); {run} translates {own.source_language} into {own.target_language}; got "
                f"{code}. Take another run, or leave it out."
            )
    return LanguagePair(*(code or known for code, known in zip(given, own, strict=True)))
