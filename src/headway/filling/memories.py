"""The memories of a call: the files' own translations, those that were named, the run's pairs."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from headway.core.cleaning import Report
from headway.core.config import build
from headway.core.errors import HeadwayError
from headway.core.lines import shown
from headway.corpora.corpus import directions, read_pairs
from headway.corpora.mixing import chosen_tag
from headway.corpora.pieces import Progress
from headway.languages.codes import Languages, same_language
from headway.localization.memory.building import cached_memory, cached_memory_of_pairs, own_memory
from headway.localization.memory.memory import SHOWN_FROM, Memories, Memory
from headway.operations.locks import Say
from headway.operations.shipped import open_folder
from headway.runs.resuming import why_not_read
from headway.translation.pairs import TranslationData

TRAINING_BYTES = 30_000_000
"""Larger training texts are a memory only when they are named: reading them takes too long."""


def memories_for(
    run: Path | None,
    files: Sequence[Path],
    named: Sequence[Path],
    wanted: Languages,
    fuzzy_from: int | None,
    say: Say,
    progress: Progress,
    pairs: Sequence[tuple[Path, Path]] = (),
    tag: str | None = None,
) -> Memories | None:
    """What is known, the nearest first; None for nothing.

    `files` are to be filled in: their own translations and the run's training pairs are looked up
    with those that are `named`. `pairs` are files of one language with their translations so far,
    `tag` is what is asked for.
    Raises DataError: a memory cannot be read, or is in other languages.
    """
    found: list[Memory] = []
    if files:
        found.append(own_memory(files, wanted, pairs))
    if named:
        found.append(cached_memory(named, wanted, say=say, progress=progress))
        names = ", ".join(shown(path) for path in named)
        n_units = len(found[-1])
        say(f"headway: the memory has {n_units:,} unit{'s' * (n_units != 1)} ({names})")
    if files and run is not None:
        found += training_memories(run, wanted, say, tag)
    held = [memory for memory in found if len(memory)]
    return Memories(held, min(SHOWN_FROM, fuzzy_from or SHOWN_FROM)) if held else None


def training_memories(
    run: Path, wanted: Languages, say: Say, tag: str | None = None
) -> Iterator[Memory]:
    """What the run was trained on in this direction and with the tag that is taken (of `tag`, see
    `chosen_tag`), where its files are still there: another tag's are in another language, or way
    of saying."""
    both = wanted.source_language, wanted.target_language
    try:
        folder = open_folder(run)
        data = build(TranslationData, folder.settings().get("data", {}), section="data")
        corpus, tag = data.corpus(), chosen_tag(tag, data.tags)
        n_bytes = sum(path.stat().st_size for path in corpus.files)
        if n_bytes > TRAINING_BYTES or why_not_read(folder, corpus.files):
            return
        spoken = directions(corpus)
    except (OSError, HeadwayError):  # files that are gone or were changed are nobody's memory
        return
    for part in corpus.parts:
        sides = zip(spoken[part.name], both, strict=True)
        fits = all(not code or not other or same_language(code, other) for code, other in sides)
        if fits and part.use.tag == tag:
            alone = corpus.alone(part)
            states = [(str(p), p.stat().st_size, p.stat().st_mtime_ns) for p in alone.files]
            key = {"pairs": states, "languages": both}
            try:
                yield cached_memory_of_pairs(partial(read_pairs, alone, Report()), key, say=say)
            except HeadwayError as error:
                say(f"headway: the training pairs are no memory: {error}")
