"""`headway prepare`: the data doctor. What was read, kept and dropped, and what looks wrong."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

from cyclopts import Parameter

from headway.api import sections_of
from headway.commands.arguments import (
    MOST_USED,
    Unread,
    group,
    option_names,
    parse_overrides,
    print_json,
    say,
    takes,
)
from headway.core.disk import whole_text, write_text
from headway.core.errors import ConfigError
from headway.operations.locks import only_writer_of_file, only_writer_of_folder
from headway.pages import refuse_no_place
from headway.runs.flags import PAIRS

if TYPE_CHECKING:
    from headway.commands.corpus_rewrite import CorpusRewrite
    from headway.core.cleaning import Pair
    from headway.corpora.cleaned import CleanedCorpus
    from headway.corpora.corpus import Corpus
    from headway.doctor.examination import Examination
    from headway.doctor.findings import Symptom
    from headway.translation.pairs import TranslationData


SERIOUS = 3
"""Exit status of `--strict` where nobody should train on what was read."""

LARGE = group("Large corpora", 3)
Kinds = Annotated[list[str] | None, Parameter(consume_multiple=True)]


@takes(
    PAIRS,
    {"Most used": "source target pairs", "To validate on": "valid_source valid_target valid_pairs"},
)
def prepare(
    *overrides: Unread,
    out: Annotated[Path | None, MOST_USED] = None,
    page: Annotated[Path | None, MOST_USED] = None,
    suspects: Path | None = None,
    json: bool = False,
    strict: bool = False,
    drop: Annotated[Kinds, MOST_USED] = None,
    fix: Annotated[Kinds, MOST_USED] = None,
    shards: Annotated[Path | None, LARGE] = None,
    stage: Annotated[str, LARGE] = "",
    part: Annotated[str, LARGE] = "",
    on: Annotated[str, LARGE] = "",
    **flags: Any,
) -> int:
    """Read parallel text as `train` would, and say what is wrong with it and what to do.

    Parameters
    ----------
    overrides
        Settings of [data], with --shards of [text] too: --data.max-ratio 3.
    out
        Folder to write the clean pairs to, as two text files. With --drop or --fix: the file, of
        the same kind as the one that was read, or the folder for several, to write the corpus to.
    page
        HTML file to write the report to; it needs no network.
    suspects
        TSV file to write every suspicious pair to: symptom, file, line, source, target, detail.
    json
        Print one JSON object on standard output.
    strict
        End with exit status 3 where nobody should train on this before it is mended.
    drop
        Kinds of findings (as in --json: truncated, duplicate, ..) whose pairs --out leaves out.
    fix
        What --out mends: mojibake, entities, white_space, not_nfc, invisible.
        Every other byte stays.
    shards
        Folder for headway train --prepared: 10^7 pairs and more, cleaned, without repeats and
        leaks, as sub-words, by all cores in little memory. Called again it does what is left.
    stage
        Only this one of clean, repeats, split, sample, learn, encode, finish.
    part
        Of a stage the 3rd of 16 parts: 3/16, for several machines that see the same folders.
    on
        slurm: print a script of array jobs that do the same on a cluster.
    """
    from headway.core.config import build, merge
    from headway.corpora.mixed_languages import refuse_mixed
    from headway.translation.pairs import TranslationData

    sections = parse_overrides(overrides, options=option_names(prepare))
    if shards or stage or part or on:
        from headway.commands.prepare_shards import prepare_into, refuse_others

        refuse_others(shards, out=out, page=page, suspects=suspects, drop=drop, fix=fix)
        given = merge(sections, sections_of(flags, PAIRS))
        serious = prepare_into(Path(shards or ""), given, stage=stage, part=part, on=on, json=json)
        return SERIOUS if strict and serious else 0
    if others := sorted(set(sections) - {"data"}):
        raise ConfigError(f"prepare has settings in [data] only; got [{others[0]}]. Leave it out.")
    given = merge(sections, sections_of(flags, PAIRS))
    settings = build(TranslationData, given.get("data", {}), section="data")
    corpus = settings.corpus()
    corpus.check()
    refuse_mixed(corpus, settings.validation())
    outputs = Outputs.of(corpus, out, page, suspects)
    if drop or fix:
        from headway.commands.corpus_rewrite import CorpusRewrite

        # What notes leave out is not written in any case.
        left_out = [*(drop or ()), *(["noted"] if settings.skip_notes else ())]
        outputs = replace(outputs, clean=(), curing=CorpusRewrite(left_out, fix or (), out, corpus))
    outputs.refuse_same()
    names = ["codes"] if outputs.curing else ["codes", "skip_notes"]
    repeated = {f"--{name.replace('_', '-')}": flags[name] for name in names if flags.get(name)}
    options = [*(word for name, values in repeated.items() for word in (name, *values)), *overrides]
    own_codes = tuple(given.get("text", {}).get("own_codes", ()))
    found = _examined_and_written(settings, own_codes, outputs, options, json=json)
    return SERIOUS if strict and found["serious"] else 0


@dataclass(frozen=True)
class Outputs:
    """What is written besides what is printed."""

    page: Path | None
    suspects: Path | None
    clean: tuple[Path, ...]
    """The two files of the clean pairs, if they are wanted."""
    curing: "CorpusRewrite | None" = None

    @classmethod
    def of(
        cls, corpus: "Corpus", folder: Path | None, page: Path | None, suspects: Path | None
    ) -> "Outputs":
        """Clean pairs go to a folder; raises ConfigError where a file has no place."""
        from headway.corpora.corpus import languages

        refuse_no_place(page)
        refuse_no_place(suspects, "--suspects")
        source, target = languages(corpus)
        told_apart = source and target and source != target
        suffixes = (source, target) if told_apart else ("source", "target")
        clean = [folder / f"train.{suffix}" for suffix in suffixes] if folder else []
        return cls(page, suspects, tuple(clean))

    @property
    def files(self) -> list[Path]:
        """All of them."""
        cured = self.curing.all_files if self.curing else []
        return [*filter(None, (self.page, self.suspects)), *cured, *self.clean]

    def refuse_same(self) -> None:
        """Raise ConfigError where two of them are the same file."""
        absolute = [one.absolute() for one in self.files]
        for path in absolute:
            if absolute.count(path) > 1:
                raise ConfigError(
                    "--page, --suspects and --out are written each to a file of its own; got "
                    f"{path} for two of them. Name another."
                )

    def trained_on(self, corpus: "Corpus") -> "Corpus":
        """What is there to train on afterwards: what is written, else what was read."""
        if self.curing:
            return self.curing.written_corpus
        if not self.clean:
            return corpus
        source, target = self.clean
        return replace(corpus, source=(source,), target=(target,), pairs=(), uses=())


def _examined_and_written(
    settings: "TranslationData",
    own_codes: tuple[str, ...],
    outputs: Outputs,
    options: Sequence[str],
    *,
    json: bool,
) -> dict[str, Any]:
    """Everything the doctor says, printed and on the page; the corpus written as it is to be."""
    from headway.commands.diagnosis import found_in

    with ExitStack() as locked:
        for file in outputs.files:
            if file not in outputs.clean:
                locked.enter_context(only_writer_of_file(file, say))
        if outputs.clean:
            locked.enter_context(only_writer_of_folder(outputs.clean[0].parent, say))
        cleaned, examination = _examined(settings, own_codes, outputs)
        trained_on = outputs.trained_on(settings.corpus())
        found = found_in(cleaned, examination, settings, trained_on, options)
        if outputs.page is not None:
            from headway.doctor.report import page

            write_text(outputs.page, page(found))
            say(f"page: {outputs.page}")
        if json:
            print_json(found)
        else:
            from headway.doctor.report import report_lines

            print("\n".join(report_lines(found)))
        if outputs.clean:
            _write_clean(cleaned, outputs.clean)
        if outputs.curing:
            outputs.curing.write(cleaned, examination, settings.cleaning())
    return found


def _examined(
    settings: "TranslationData", own_codes: tuple[str, ...], outputs: Outputs
) -> "tuple[CleanedCorpus, Examination]":
    """The clean corpus, and what is wrong with it."""
    from headway.commands.stages import Stages
    from headway.corpora.cache_place import cache_root
    from headway.corpora.cleaned import clean_corpus
    from headway.corpora.corpus import directions, languages
    from headway.doctor.examination import SLOW_PAIRS, Tools, examine
    from headway.languages.detection import detect
    from headway.localization.placeholders.own_codes import compiled

    corpus, curing = settings.corpus(), outputs.curing
    n_slow = sys.maxsize if curing and curing.everything else SLOW_PAIRS
    with Stages() as stages, ExitStack() as opened:
        cleaned = clean_corpus(
            corpus, settings.cleaning(), cache_root(), valid=settings.validation(), hold_out=0,
            workers=settings.workers, say=say, progress=stages,
        )  # fmt: skip
        for path in outputs.files:
            if path.exists() and any(path.samefile(read) for read in cleaned.checksums):
                raise ConfigError(
                    "--out, --page and --suspects must not overwrite what was read; got "
                    f"{path}. Name another."
                )
        hearing: list[Any] = [curing.hear] if curing else []
        if outputs.suspects is not None:
            table = opened.enter_context(whole_text(outputs.suspects))
            table.write("symptom\tfile\tline\tsource\ttarget\tdetail\n")
            hearing.append(partial(_write_row, table))

        def hear(symptom: "Symptom", pair: "Pair", detail: str) -> None:
            for one in hearing:
                one(symptom, pair, detail)

        tools = Tools(detect=detect, slow_pairs=n_slow, own_codes=compiled(own_codes))
        examination = examine(
            cleaned, *languages(corpus), tools, directions=directions(corpus),
            hear=hear if hearing else None, progress=stages,
        )  # fmt: skip
    if outputs.suspects is not None:
        say(f"suspicious pairs: {outputs.suspects}")
    return cleaned, examination


def _write_row(table: TextIO, symptom: "Symptom", pair: "Pair", detail: str) -> None:
    """A suspicious pair, for people."""
    cells = (symptom.name, pair.file, str(pair.line), pair.source, pair.target, detail)
    table.write("\t".join(cells) + "\n")


def _write_clean(cleaned: "CleanedCorpus", finals: Sequence[Path]) -> None:
    """Write the clean training pairs as two files, complete or not at all."""
    with whole_text(finals[0]) as sources, whole_text(finals[1]) as targets:
        for pair in cleaned.pairs("train"):
            sources.write(pair.source + "\n")
            targets.write(pair.target + "\n")
    say(f"clean pairs: {finals[0]} and {finals[1]}")
