"""`headway evaluate RUN --corpus F`: how well language models know a text."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from headway.commands.arguments import print_json, say
from headway.commands.evaluate import OF_TRANSLATIONS, EvaluateOptions, given_options
from headway.core.errors import ConfigError

if TYPE_CHECKING:
    from headway.language_models.evaluation import Evaluation


def evaluate_texts(runs: Sequence[Path], told: EvaluateOptions) -> None:
    """Score some files under each of some runs, and say which figures compare.

    Raises ConfigError for options that are of translators.
    """
    others, corpus = given_options(told, OF_TRANSLATIONS), [*(told.corpus or ())]
    if len(corpus) > 1 and corpus[-1].is_dir():
        runs = [*runs, corpus.pop()]
    if others or not corpus:
        raise ConfigError(
            "--corpus is what language models are scored on, in fp32 and by itself; got "
            f"{next(iter(others), 'none')}{' as well' if others and corpus else ''}. Try: headway "
            "evaluate RUN --corpus F"
        )
    from headway.language_models.trained import TrainedLanguageModel

    found = {run: TrainedLanguageModel.load(run).evaluate(corpus) for run in runs}
    if n_too_long := next(iter(found.values())).n_too_long:
        say(f"{n_too_long:,} lines of more than 1 MiB were passed over")
    if told.json:
        whole = [{"run": str(run), **one.as_dict()} for run, one in found.items()]
        several = {"runs": whole, "ranking": ranking(found)._asdict()}
        print_json(whole[0] if len(whole) == 1 else several)
        return
    for run, one in found.items():
        print_evaluation(run, one)
    if len(found) > 1:
        print_ranking(found)


def print_evaluation(run: Path, one: "Evaluation") -> None:
    """All figures of one run."""
    scores, each = one.scores, one.scores.per_unit
    print(f"{run}")
    print(
        f"  perplexity per token  {scores.per_token:>12,.2f}   "
        f"over {scores.n_tokens:,} tokens, line ends included"
    )
    label = f"perplexity per {each.unit}"
    print(f"  {label}{each.shown():>{34 - len(label)}}   over {each.divided_by}")
    print(
        f"  bits per character    {scores.bits_per_character:>12.4f}   "
        f"over {scores.n_characters:,} characters, line ends included"
    )
    print(f"  unknown words         {one.share_unknown:>12.2%}   of the tokens")
    print(
        f"  next token            {one.accuracy.likeliest:>12.1%}   is the likeliest; "
        f"{one.accuracy.among_five:.1%} among the five likeliest (of {one.accuracy.n_tokens:,})"
    )
    positions = "   ".join(f"{of}: {value:,.1f}" for of, value in one.by_position.items())
    print(f"  perplexity per token by its place in what is seen: {positions}")
    if scores.per_token == float("inf"):
        say("the model holds something in this text for impossible: a smoothed one would not")


class PerplexityRanking(NamedTuple):
    """Runs in their order, best first, or why there is none."""

    by: str
    why: str
    order: list[str]
    """Empty where a ranking would not be fair."""


def ranking(found: "dict[Path, Evaluation]") -> PerplexityRanking:
    """Who knows the text best, where that is fair."""
    vocabularies = {one.fingerprint for one in found.values()}
    unknown = any(one.scores.n_unknown for one in found.values())
    order = sorted(found, key=lambda run: found[run].scores.bits_per_character)
    names = [*map(str, order)]
    if len(vocabularies) == 1:
        return PerplexityRanking("perplexity per token", "the vocabulary is the same", names)
    if not unknown:
        return PerplexityRanking("bits per character", "the vocabularies differ", names)
    why = (
        "the vocabularies differ, and words that are unknown to one are cheap there. Train on the "
        "same vocabulary, or on sub-words, which know every word."
    )
    return PerplexityRanking("", why, [])


def print_ranking(found: "dict[Path, Evaluation]") -> None:
    """The runs in their order, or why there is none."""
    by, why, order = ranking(found)
    if not order:
        print(f"no ranking: {why}")
        return
    print(f"ranked by {by}, as {why}:")
    scores = {str(run): one.scores for run, one in found.items()}
    for place, run in enumerate(order, start=1):
        one = scores[run]
        value = one.per_token if by == "perplexity per token" else one.bits_per_character
        print(f"  {place}. {value:,.4g}  {run}")
