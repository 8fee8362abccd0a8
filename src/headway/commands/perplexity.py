"""`headway evaluate RUN --corpus F`: how well language models know a text."""

import json as json_format
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headway.commands.arguments import say

if TYPE_CHECKING:
    from headway.tasks.language_modeling.evaluation import Evaluation


def evaluate_corpus(runs: Sequence[Path], corpus: Sequence[Path], *, json: bool) -> None:
    """Score some files under each of some runs, and say which figures compare."""
    from headway.language_model import TrainedLanguageModel

    found = {run: TrainedLanguageModel.load(run).evaluate(corpus) for run in runs}
    if json:
        whole = [{"run": str(run), **one.as_dict()} for run, one in found.items()]
        print(json_format.dumps(whole[0] if len(whole) == 1 else {"runs": whole}))
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
        f"  next token            {one.accuracy[1]:>12.1%}   is the likeliest; "
        f"{one.accuracy[5]:.1%} among the five likeliest"
    )
    positions = "   ".join(f"{of}: {value:,.1f}" for of, value in one.by_position.items())
    print(f"  perplexity per token by how many tokens are seen, itself included: {positions}")
    if scores.per_token == float("inf"):
        say("the model holds something in this text for impossible: a smoothed one would not")


def print_ranking(found: "dict[Path, Evaluation]") -> None:
    """The runs in their order, where that is fair; else why it is not."""
    vocabularies = {one.fingerprint for one in found.values()}
    unknown = any(one.scores.n_unknown for one in found.values())
    if len(vocabularies) > 1 and unknown:
        print(
            "no ranking: the vocabularies differ, and words that are unknown to one are cheap "
            "there. Train on the same vocabulary, or on sub-words, which know every word."
        )
        return
    by = "perplexity per token" if len(vocabularies) == 1 else "bits per character"
    why = "the vocabulary is the same" if len(vocabularies) == 1 else "the vocabularies differ"
    print(f"ranked by {by}, as {why}:")
    for place, (run, one) in enumerate(
        sorted(found.items(), key=lambda item: item[1].scores.bits_per_character), start=1
    ):
        scores = one.scores
        value = scores.per_token if len(vocabularies) == 1 else scores.bits_per_character
        print(f"  {place}. {value:,.4g}  {run}")
