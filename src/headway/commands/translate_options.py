"""The options of `headway translate`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from headway.commands.arguments import MOST_USED, Several, group

FILLED_IN = group("Files that are filled in", 1)
SEARCH = group("Search", 2)
SHOWN = group("What is shown", 3)
MANY = group("Files of any size, in shards", 4)
OF_SHARDS = ("shards", "shard_lines", "processes", "part", "on", "price_per_hour")
BEYOND_A_MODEL = (
    "overwrite", "in_place", "memory", "fuzzy_from", "glossary", "report", "leave_below",
    "no_own_memory", "onto", "as_", "keep_going", "source_language", "target_language", *OF_SHARDS,
)  # fmt: skip
"""What asks for more than a model makes of lines of text."""
NOT_WITH_SHARDS = (
    "glossary", "memory", "json", "overwrite", "in_place", "onto", "keep_going", "report",
    "leave_below", "fuzzy_from", "no_own_memory", "source_language", "target_language", "n_best",
    "mbr", "begin_with", "scores", "alignment",
)  # fmt: skip
PARTIAL = 3
"""Exit status where some files could not be translated, and were left out."""


@dataclass(frozen=True, kw_only=True)
class TranslateOptions:
    """What `headway translate` is told.

    Parameters
    ----------
    out
        Where translations go, a file (.gz too) or a folder; standard output if left out.
    beam
        Hypotheses kept by beam search; 1 is greedy.
    glossary
        Terms that are to hold: .tsv, .csv or .tbx; instead of those of the run, if it has
        some (train --glossary). none for no terms.
    memory
        Files with earlier translations: what is in them is not translated again.
    json
        One object on stdout with tokens, scores, alignments and n-best lists.
    overwrite
        In a translation file, translate everything anew, also what is there already.
    in_place
        Results take the place of their files.
    onto
        The target file that a file of one language (.json, ..) has: what it lacks is
        translated.
    as_
        text: read the file line by line, whatever its name says.
    keep_going
        Leave out files that cannot be translated, list them, and end with status 3.
    report
        What a person should look at: F.html, F.tsv or F.json.
    leave_below
        Leave empty what is less sure than this (0.4).
    fuzzy_from
        Take a near match of so many percent (85) instead of the model's translation.
    no_own_memory
        Look up neither what the files hold already nor what the run was trained on.
    source_language
        Which language of a translation file is translated; the run's if left out.
    target_language
        Which one is filled in; the run's if left out.
    method
        beam, greedy or sampling.
    n_best
        Translations per line, best first, each on its own line.
    mbr
        Of so many candidates, the best of the beam or drawn with --method sampling, the one
        that is most like the others by chrF (minimum Bayes risk). 30 is a beginning.
    begin_with
        What each line's translation begins with: words that are typed already.
    tag
        Which of the run's tags stands before each text; else none, or the one that all
        texts had.
    shortlist
        Write only from so many likely translations of each source sub-word (100): faster;
        refused where that costs more than 0.3 BLEU on the run's validation pairs.
    precision
        Of the compiled engine's products: auto, fp32, bf16 or int8 (docs/speed.md).
    scores
        Put each translation's score and a tab in front of it; of translation files, a
        table.
    alignment
        Put a tab and source-target pairs of sub-words ("0-0 1-2") behind it.
    shards
        Translate files of lines, however large, in shards: one process per core, and the same
        command again does what is missing.
    shard_lines
        Lines of a shard.
    processes
        Processes that translate, one thread each; as many as there are cores if left out.
    part
        3/16: every 16th shard, where 16 machines share the work and the folder.
    on
        ray: with the workers of a cluster. slurm: print the script of an array job.
    price_per_hour
        What the machine costs: tells the cost per million lines.
    codes
        Your own patterns of codes, a regular expression a line, besides those of the run.
    """

    out: Annotated[Path | None, MOST_USED] = None
    beam: Annotated[int | None, MOST_USED] = None
    glossary: Annotated[Several, MOST_USED] = ()
    memory: Annotated[Several, MOST_USED] = ()
    json: Annotated[bool, MOST_USED] = False
    overwrite: Annotated[bool, FILLED_IN] = False
    in_place: Annotated[bool, FILLED_IN] = False
    onto: Annotated[Path | None, FILLED_IN] = None
    as_: Annotated[Literal["text"] | None, FILLED_IN] = None
    keep_going: Annotated[bool, FILLED_IN] = False
    report: Annotated[Path | None, FILLED_IN] = None
    leave_below: Annotated[float | None, FILLED_IN] = None
    fuzzy_from: Annotated[float | None, FILLED_IN] = None
    no_own_memory: Annotated[bool, FILLED_IN] = False
    source_language: Annotated[str | None, FILLED_IN] = None
    target_language: Annotated[str | None, FILLED_IN] = None
    method: Annotated[str | None, SEARCH] = None
    n_best: Annotated[int | None, SEARCH] = None
    mbr: Annotated[int | None, SEARCH] = None
    begin_with: Annotated[str, SEARCH] = ""
    tag: Annotated[str | None, SEARCH] = None
    shortlist: Annotated[int | None, SEARCH] = None
    precision: Annotated[str | None, SEARCH] = None
    scores: Annotated[bool, SHOWN] = False
    alignment: Annotated[bool, SHOWN] = False
    shards: Annotated[bool, MANY] = False
    shard_lines: Annotated[int, MANY] = 1_000_000
    processes: Annotated[int | None, MANY] = None
    part: Annotated[str | None, MANY] = None
    on: Annotated[Literal["ray", "slurm"] | None, MANY] = None
    price_per_hour: Annotated[float | None, MANY] = None
    codes: Several = ()
