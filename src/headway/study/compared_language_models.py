"""Language models in a comparison: they score the same text."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.core.bleu import Counts, Scores, SentenceStatistics
from headway.core.disk import checksum, digest
from headway.core.errors import ConfigError, DataError
from headway.core.lines import check_file
from headway.language_models.evaluation import accuracy
from headway.language_models.texts import (
    COUNTING,
    ReadingReport,
    composed_length,
    held_out_rows,
)
from headway.language_models.trained import TrainedLanguageModel
from headway.languages.segmenting import parts_no_words
from headway.runs.task_spec import Say
from headway.study.compared_runs import (
    ComparisonRequest,
    Entrant,
    Figure,
    Rows,
    RunResults,
    Work,
    refuse_changed,
)

SHOWN_WORDS, WRITTEN_TOKENS = 6, 16
"""Of a line, so many words at most are given to be gone on with, and so many tokens are written."""


def entrant(request: ComparisonRequest) -> Entrant:
    """A language model, and the text that it may be measured on.

    Raises:
        ConfigError: other files are given than a corpus, or a tag.
        DataError: they, or those that the run was validated on, cannot be read.
        RunError: there is no trained language model.
    """
    if request.tag is not None:
        raise ConfigError(f"language models read no tags; got {request.tag!r}. Leave --tag out.")
    model = TrainedLanguageModel.load(request.run)
    if request.files:
        if set(request.files) != {"corpus"}:
            names = ", ".join(f"--{name}" for name in request.files)
            raise ConfigError(f"language models are compared on --corpus F; got {names}.")
        lines = lines_of(request.files["corpus"], request.say)
        rows_are = "lines of the test text"
    else:
        lines = validation_lines(request.run, model, request.say)
        rows_are = "validation lines"
    return Entrant(
        model=model.scorer.model,  # type: ignore[arg-type]
        rows=[(line,) for line in lines],
        row="line",
        rows_are=rows_are,
        begin=lambda rows: work_of(model, rows),
        stand_alone=False,
        shown=lambda row: beginning_and_end(row[0]),
    )


def lines_of(files: Sequence[Path], say: Say) -> list[str]:
    """All lines with text, an empty one where blank lines part two of them."""
    reading = ReadingReport(files)
    lines = list(reading.lines())
    tell_too_long(reading, say)
    if not lines:
        raise DataError(f"a test text has words; {files[0]} has none. Give another file.")
    return lines


def held_out_lines(files: Sequence[Path], say: Say) -> list[str]:
    """Those that training held out, read in two passes: a corpus may be larger than memory."""
    reading = ReadingReport(files)
    held_out = held_out_rows(sum(1 for _ in reading.lines()))
    tell_too_long(reading, say)
    return [line for row, line in enumerate(reading.lines()) if row in held_out]


def tell_too_long(reading: ReadingReport, say: Say) -> None:
    """Say how many lines nobody reads."""
    if reading.n_too_long:
        say(f"{reading.n_too_long:,} lines of more than 1 MiB are passed over")


def validation_lines(run: Path, model: TrainedLanguageModel, say: Say) -> list[str]:
    """What a run was validated on, read again; nothing for one that learned from every line."""
    data = model.settings.data
    counted = model.settings.model_type in COUNTING
    files: Mapping[bool, tuple[Path, ...]] = {True: data.valid_corpus, False: data.corpus}
    chosen = files[bool(data.valid_corpus)]
    if counted and not data.valid_corpus:
        return []
    try:
        for path in chosen:
            check_file(path)
    except (ConfigError, DataError) as error:
        raise DataError(
            f"runs are compared on what they were validated on, and that of {run} cannot be read: "
            f"{error} Or give a test text: --corpus F."
        ) from None
    refuse_changed(run, {str(path): checksum(path) for path in chosen})
    return (lines_of if data.valid_corpus else held_out_lines)(chosen, say)


def beginning_and_end(line: str) -> tuple[str, str]:
    """The first words of a line, which a model goes on from, and how the line goes on."""
    words = line.split()
    if len(words) < 2:
        half = len(line) // 2
        return line[:half], line[half:]
    n_given = min(SHOWN_WORDS, len(words) // 2)
    return " ".join(words[:n_given]), " ".join(words[n_given:])


def work_of(model: TrainedLanguageModel, rows: Rows) -> Work:
    """Scoring one long text, line after line."""
    lines = [model.cut(row[0]) for row in rows]
    encoded = model.vocabulary.encode_batch(lines)
    ids = np.array([id_ for line in encoded for id_ in (*line, model.vocabulary.special.end)])

    def output(i: int) -> str:
        given, _ = beginning_and_end(rows[i][0])
        written = "".join(model.write(given, max_tokens=WRITTEN_TOKENS, top_k=1))
        return written.partition("\n")[0].strip()

    def examined(log_probs: NDArray[np.float64]) -> RunResults:
        n_unknown = model.scorer.n_unknown(ids)
        hits = accuracy(model.scorer, ids)
        others = {
            "next token right, %": 100.0 * hits.likeliest,
            "among the five likeliest, %": 100.0 * hits.among_five,
            "unknown words, % of the tokens": 100.0 * n_unknown / len(ids),
        }
        lengths = np.array([len(line) + 1 for line in encoded])
        starts = np.concatenate([[0], lengths.cumsum()[:-1]])
        nats = -np.add.reduceat(log_probs, starts)
        figures = figures_of(model, rows, lines, nats, lengths, n_unknown)
        return RunResults(figures, output, others)

    return Work(
        all=lambda: model.scorer.stream(ids),
        one=lambda i: model.score([rows[i][0]]),
        examined=examined,
    )


def figures_of(
    model: TrainedLanguageModel,
    rows: Rows,
    lines: Sequence[str],
    nats: NDArray[np.float64],
    n_tokens: NDArray[Any],
    n_unknown: int,
) -> list[Figure]:
    """Perplexities and bits per character, and what each holds for; none per word where white space
    parts no words, as in Chinese."""
    fingerprint = model.vocabulary.fingerprint()[:12]
    n_words = np.array([len(line.split()) + 1 for line in lines])
    n_characters = np.array([composed_length(row[0]) + 1 for row in rows])
    text = {"the test text": f"{len(rows):,} lines, {digest([row[0] for row in rows])[:12]}"}
    # Words that are unknown to one are cheap there.
    unknown = {
        "unknown words": f"{n_unknown:,} of vocabulary {fingerprint}" if n_unknown else "none"
    }
    words = {"the number of words": f"{n_words.sum():,}"}
    characters = {"the number of characters": f"{n_characters.sum():,}"}

    def figure(
        name: str,
        cost: NDArray[np.float64],
        per: NDArray[Any],
        of: Any,
        holds_for: dict[str, str],
        decimals: int = 2,
    ) -> Figure:
        counts = np.stack([cost, per.astype(np.float64)], axis=1)
        told = SimpleNamespace(get_signature=lambda: f"{name}, line ends included")
        statistics = SentenceStatistics(counts, of, told)
        return Figure(name, statistics, False, {**text, **holds_for}, ratio, decimals)

    bits = nats / math.log(2)
    figures = [
        figure("bits per character", bits, n_characters, ratio, characters | unknown, decimals=4),
        figure("perplexity per word", nats, n_words, exponential, words | unknown),
        figure(
            "perplexity per token", nats, n_tokens, exponential, {"the vocabulary": fingerprint}
        ),
    ]
    if parts_no_words(n_characters.sum() - len(lines), n_words.sum() - len(lines)):
        del figures[1]
    return figures


def ratio(counts: Counts) -> Scores:
    """A cost over what it is divided by."""
    found: Scores = counts[:, 0] / counts[:, 1]
    return found


def exponential(counts: Counts) -> Scores:
    """exp of that: a perplexity."""
    with np.errstate(over="ignore"):
        found: Scores = np.exp(ratio(counts))
    return found
