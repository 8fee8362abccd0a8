"""The options of `headway evaluate`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from headway.commands.arguments import MOST_USED, group
from headway.core.errors import ConfigError
from headway.core.run_folder import RunFolder

CONVENTIONS = group("Conventions", 1)
Tokenizer = Literal[
    "13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "flores101", "flores200", "none", "moses",
    "moses-split",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """What `headway evaluate` is told.

    Parameters
    ----------
    source
        File of the texts that were, or are to be, translated, one a line.
    reference
        File of right translations, one a line; several files if every line has several.
    hypothesis
        File of finished translations, instead of a run. Name two to compare the second
        system with the first, with the p-values of a paired bootstrap test.
    confusion
        Of runs that label: what is taken for what, as a picture: F.png or F.svg.
    calibration
        Of runs that label: how far probabilities are to be trusted, as a picture.
    corpus
        Labelled file(s) for runs that label. Text file(s) for language models: perplexity
        per token and per word, bits per character, each with what it is divided by.
    analogies
        File(s) of four words a line, in sections under lines such as ": family", for word
        vectors: how many are answered right, of those whose words have vectors and of all.
    similarities
        File(s) of two words and a number a line, for word vectors: Spearman's rho between
        cosines and these numbers, with a 95 % interval.
    json
        Print one JSON object on standard output.
    score_card
        BLEU under every convention as well, and what each compares to.
    tokenize
        What cuts text into BLEU's tokens; else by language. none is for text tokenized
        already, moses and moses-split (words with hyphens cut too) are for older papers'
        figures.
    lowercase
        Ignore case in BLEU and chrF (TER always does).
    ter
        Count TER; --no-ter leaves it out. Else it is counted but for languages without
        spaces: of Chinese and Japanese a thousand long lines take minutes, of others it
        splits no characters.
    rouge
        ROUGE-1, -2 and -L as well, for summaries and titles (headway[rouge]).
    source_language
        Such as en; else the run's, or from the suffix (test.en).
    target_language
        Such as de; else the run's, or from the suffix of the reference (test.de). Of
        languages without spaces (zh, ja, th, lo, km, my, bo), characters are scored, not
        words.
    tag
        Which of the run's tags stands before each source text; as in translate.
    glossary
        Terms that are to hold in what the run translates: .tsv, .csv or .tbx; else those of
        the run, if it has some; none for no terms. How many do is said.
    off
        Parts of the run's model, such as encoder.2.head.3, cross.1 or
        decoder.0.feed_forward: what they are worth is measured by translating without them
        as well, with the p-values of a paired bootstrap test. docs/inspect.md names the
        parts.
    precision
        Of the compiled engine's products while the run translates: auto, fp32, bf16 or int8
        (docs/speed.md).
    engine
        What searches while the run translates: auto, torch, native or ctranslate2
        (docs/speed.md).
    threads
        Of this process; without it every core that it may use.
    shortlist
        As in translate.
    mbr
        As in translate: of so many candidates the one that is most like the others.
    """

    source: Annotated[Path | None, MOST_USED] = None
    reference: Annotated[list[Path] | None, Parameter(consume_multiple=True), MOST_USED] = None
    hypothesis: Annotated[list[Path] | None, Parameter(consume_multiple=True), MOST_USED] = None
    corpus: Annotated[list[Path] | None, Parameter(consume_multiple=True), MOST_USED] = None
    analogies: Annotated[list[Path] | None, Parameter(consume_multiple=True), MOST_USED] = None
    similarities: Annotated[list[Path] | None, Parameter(consume_multiple=True), MOST_USED] = None
    confusion: Path | None = None
    calibration: Path | None = None
    json: Annotated[bool, MOST_USED] = False
    score_card: Annotated[bool, MOST_USED] = False
    tokenize: Annotated[Tokenizer | None, CONVENTIONS] = None
    lowercase: Annotated[bool, CONVENTIONS] = False
    ter: Annotated[bool | None, Parameter(negative="--no-ter"), CONVENTIONS] = None
    rouge: Annotated[bool, CONVENTIONS] = False
    source_language: Annotated[str | None, CONVENTIONS] = None
    target_language: Annotated[str | None, CONVENTIONS] = None
    tag: str | None = None
    glossary: Annotated[list[Path] | None, Parameter(consume_multiple=True)] = None
    off: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None
    precision: str | None = None
    engine: Annotated[str | None, Parameter(name="--runtime.engine")] = None
    threads: Annotated[int | None, Parameter(name="--runtime.threads")] = None
    shortlist: int | None = None
    mbr: int | None = None


OF_TRANSLATIONS = (
    "reference", "source", "hypothesis", "off", "precision", "shortlist", "mbr", "tag",
    "glossary", "engine", "tokenize", "lowercase", "ter", "rouge", "score_card", "source_language",
    "target_language",
)  # fmt: skip
OF_RUNS = ("tag", "glossary", "off", "precision", "engine", "shortlist", "mbr")
"""Options that are of translations, and those of them that are of a run which translates."""
OF_VECTORS = ("analogies", "similarities")
"""Options that are of word vectors."""
OF_LABELS = ("confusion", "calibration")
"""Options that are of runs which label."""


def run_and_corpus(
    runs: Sequence[Path], told: EvaluateOptions, *, scored: str
) -> tuple[Path, list[Path]]:
    """The one run, and the files, of an evaluation of what translates nothing; the run may stand
    last, behind the files' names. `scored`: what it is of, in words.

    Raises ConfigError for options that are of translators, without files, and for several runs.
    """
    others, corpus = given_options(told, OF_TRANSLATIONS), [*(told.corpus or ())]
    if len(corpus) > 1 and RunFolder(corpus[-1]).config.exists():
        runs = [*runs, corpus.pop()]
    if others or not corpus:
        raise ConfigError(
            f"--corpus is what {scored}; got {next(iter(others), 'none')}"
            f"{' as well' if others and corpus else ''}. Try: headway evaluate RUN --corpus F"
        )
    if len(runs) != 1:
        raise ConfigError(
            f"one such run is evaluated at a time; got {len(runs)}. Several are ranked, where that "
            f"is fair, by: headway compare {' '.join(map(str, runs))} --corpus {corpus[0]}"
        )
    return runs[0], corpus


def given_options(told: EvaluateOptions, names: Sequence[str]) -> dict[str, Any]:
    """Which of some options were given, as they are written, and what with."""
    values = {name: getattr(told, name) for name in names}
    return {
        "--runtime.engine" if name == "engine" else f"--{name.replace('_', '-')}": value
        for name, value in values.items()
        if value is not None and (value is not False or name == "ter")
    }
