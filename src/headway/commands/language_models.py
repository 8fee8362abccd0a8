"""The verbs of language models, `headway score`, `predict` and `generate`, and their `evaluate`."""

import heapq
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.commands.arguments import Unread, print_json, say
from headway.commands.evaluate_options import EvaluateOptions, run_and_corpus
from headway.commands.lines import chunks_of
from headway.commands.one_text import runtime_and_name
from headway.core.errors import ConfigError

if TYPE_CHECKING:
    from headway.language_models.evaluation import Evaluation
    from headway.language_models.trained import LineScore

MANY_UNKNOWN = 0.2
"""Share of unknown tokens from which a perplexity says little of a text."""


def score(
    run: Path,
    /,
    *file: Unread,
    tokens: bool = False,
    rank: bool = False,
    worst: int = 0,
    json: bool = False,
) -> None:
    """Log-probability of each line.

    Scores are natural logarithms, the end of the line (</s>) included: the likelier of two
    sentences has the larger one, nearer to 0. Lines are scored one by one: none is context for the
    next. A blank line stays blank.

    Parameters
    ----------
    run
        Folder of a trained language model.
    file
        Text, one sentence a line; without it, standard input. Beside it, settings of [runtime]:
        --runtime.threads 1.
    tokens
        Show what each token costs.
    rank
        Sort each group of lines, which blank lines part, the likeliest first: n-best lists.
    worst
        Only the so many lines with the lowest log-probability per token, with their numbers: what
        is odd in a corpus.
    json
        Print one JSON object: {"scores": [{"line", "text", "log_prob", "tokens": [{"token",
        "log_prob"}]}]}; "line" counts blank lines too, which have no score. What is impossible
        under the model has null.
    """
    if sum((tokens, rank, bool(worst), json)) > 1 and not (json and rank):
        raise ConfigError(
            "--tokens, --worst and --json or --rank are ways to show scores: got more than one. "
            "Leave all but one out (--json goes with --rank)."
        )
    if worst < 0:
        raise ConfigError(f"--worst is a number of lines; got {worst}. Try --worst 20.")
    model, named = model_and_given(run, score, file)
    unknown = 0

    def scored() -> "Iterator[LineScore | None]":
        nonlocal unknown
        for lines in chunks_of(Path(named) if named else None):
            found = iter(model.score([line for line in lines if line.strip()]))
            for line in lines:
                one = next(found) if line.strip() else None
                unknown += one.n_unknown if one else 0
                yield one

    if worst:
        each = ((one.log_prob / len(one.tokens), n, one.text)
                for n, one in enumerate(scored(), start=1) if one)  # fmt: skip
        for per_token, number, line in heapq.nsmallest(worst, each):
            print(f"{per_token:.4f}\tline {number}\t{line}")
    elif json:
        grouped = chain.from_iterable(groups(scored(), ranked=rank))
        print_json({"scores": [{"line": number, **as_dict(one)} for number, one in grouped]})
    elif rank:
        for number, group in enumerate(groups(scored(), ranked=True)):
            print(
                "\n" * bool(number)
                + "\n".join(f"{one.log_prob:.4f}\t{one.text}" for _, one in group)
            )
    else:
        for one in scored():
            told = one and (" ".join(f"{t} {p:.3f}" for t, p in one.tokens) if tokens else one.text)
            print(f"{one.log_prob:.4f}\t{told}" if one else "", flush=True)
    if unknown:
        say(f"{unknown:,} tokens are unknown to the model, and scored as its one unknown word")


def groups(
    scored: "Iterator[LineScore | None]", *, ranked: bool
) -> "Iterator[list[tuple[int, LineScore]]]":
    """The lines between blank ones with their numbers; the likeliest first, if `ranked`."""
    for blank, some in groupby(enumerate(scored, start=1), key=lambda one: one[1] is None):
        if not blank:
            group = [(number, one) for number, one in some if one]
            yield sorted(group, key=lambda one: -one[1].log_prob) if ranked else group


def as_dict(one: "LineScore") -> dict[str, Any]:
    """Ready for JSON, which cannot say what is infinite."""

    def finite(value: float) -> float | None:
        return value if math.isfinite(value) else None

    tokens = [{"token": token, "log_prob": finite(log_prob)} for token, log_prob in one.tokens]
    return {"text": one.text, "log_prob": finite(one.log_prob), "tokens": tokens}


def predict(
    run: Path,
    /,
    *text: Unread,
    context: str | None = None,
    top: int = 10,
    json: bool = False,
) -> None:
    """What a run says of a text, with probabilities: its label, the tags of its words, what is
    hidden in it; of a language model the next tokens.

    Probabilities sum to 1 over the whole vocabulary. `▁` is a space in front of a word, </s> the
    end of the line.

    Parameters
    ----------
    run
        Folder of a trained run that labels, tags, or fills [MASK]; of a language model; of word
        vectors: cbow fills a gap, skip-gram tells what stands around a word.
    text
        The text, or what stands before; of runs that label also a file of texts, one a line, or a
        .csv or .jsonl with columns as in training; of cbow a text with one gap, "我 是 最 _ 的
        Nick". Without it, each line of standard input. Beside it, settings of [runtime]:
        --runtime.threads 1.
    context
        In its stead, of skip-gram: the word around which others stand.
    top
        How many of the likeliest; 0 for all.
    json
        Print one JSON object: {"predictions": [{"text", ..}]}; of pictures {"picture", ..}. Of a
        language model, asked of one
        text, {"next": [{"token", "prob"}]}; of word vectors "next" is "words".
    """
    if top < 0:
        raise ConfigError(f"--top is how many are told, 0 for all; got {top}. Try --top 10.")
    from headway.commands.labelling import brings

    labels = brings(run, "predict lines")
    asked = "lines" if labels else "" if context is None else "--context"
    model, given = model_and_given(run, predict, text, asked=asked)
    if labels:
        from headway.commands.labelling import print_answers

        print_answers(model, given, top, json)
        return
    if context is not None and given is not None:
        raise ConfigError(
            f"--context asks about a word in a text's stead; got {given[:60]!r} as well. Leave one "
            "of them out."
        )
    likeliest_of, given = (model.next, given) if context is None else (model.around, context)
    texts = chain.from_iterable(chunks_of(None)) if given is None else iter([given])
    found = []
    for one in texts:
        for doubt in model.doubts(one):
            say(doubt)
        likeliest = likeliest_of(one, top)
        if json:
            listed = [{"token": token, "prob": prob} for token, prob in likeliest]
            found.append({"text": one, model.tells: listed})
            continue
        if given is None:
            print(one)
        for token, prob in likeliest:
            print(f"{prob:.6f}\t{token}", flush=True)
        if given is None:
            print()
    if json:
        key = model.tells
        whole = {key: found[0][key]} if given is not None else {"predictions": found}
        print_json(whole)


def generate(
    run: Path,
    /,
    *prompt: Unread,
    n: int = 1,
    max_tokens: int = 200,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    seed: int = 1,
    json: bool = False,
) -> None:
    """Write on behind a text: each next token is drawn by its probability, and shown at once.

    It ends where a text of the corpus would: at the end of a line or, where blank lines part the
    documents there, at such a one.

    Parameters
    ----------
    run
        Folder of a trained language model.
    prompt
        The beginning; without it the model begins. Beside it, settings of [runtime]:
        --runtime.threads 1.
    n
        How many texts, each with a seed of its own; a blank line parts them.
    max_tokens
        The longest text.
    temperature
        Below 1 likely tokens are drawn more often still, above 1 less; 0: always the likeliest.
    top_k
        Draw from the so many likeliest tokens only; 0 for all.
    top_p
        Draw from the fewest tokens that together have this probability; 1 for all.
    seed
        The same seed writes the same text.
    json
        Print one JSON object when all is written: {"texts": [..]}.
    """
    from headway.translation.decoding import SamplingSettings

    if n < 1 or max_tokens < 1:
        raise ConfigError(
            f"--n and --max-tokens are at least 1; got {n} and {max_tokens}. Leave them out."
        )
    if temperature < 0:
        raise ConfigError(
            f"--temperature is 0 (always the likeliest) or above; got {temperature:g}. Try 0.8."
        )
    if temperature == 0:
        temperature, top_k = 1.0, 1
    checked = SamplingSettings(
        method="sampling", temperature=temperature, top_k=top_k, top_p=top_p, seed=seed
    )
    model, given = model_and_given(run, generate, prompt)
    begun = given or ""
    for doubt in model.doubts(begun):
        say(doubt)
    texts = []
    for number in range(n):
        text = begun
        if not json:
            print("\n" * bool(number) + begun, end="", flush=True)
        for piece in model.write(
            begun,
            max_tokens=max_tokens,
            temperature=checked.temperature,
            top_k=checked.top_k,
            top_p=checked.top_p,
            seed=seed + number,
        ):
            text += piece
            if not json:
                sys.stdout.write(piece)
                sys.stdout.flush()
        texts.append(text)
        if not json:
            print()
    if json:
        print_json({"texts": texts})


def model_and_given(
    run: Path, verb: Callable[..., object], given: Sequence[str], *, asked: str = ""
) -> tuple[Any, str | None]:
    """What the run's task brings to a verb, or to an option of it that is `asked` for, such as a
    `TrainedLanguageModel`; and the file or text that `verb` was given, see `runtime_and_name`."""
    from headway.tasks import brought_by_run

    runtime, named = runtime_and_name(verb, given)
    opened = brought_by_run(run, f"{verb.__name__} {asked}".strip())
    model = opened.load(run, device=runtime.device, precision=runtime.precision)
    return model, named


def evaluate_texts(runs: Sequence[Path], told: EvaluateOptions) -> None:
    """Score some files under a run. Raises what `run_and_corpus` does."""
    from headway.language_models.trained import TrainedLanguageModel

    what = "language models are scored on, in fp32 and by itself"
    run, corpus = run_and_corpus(runs, told, scored=what)
    found = TrainedLanguageModel.load(run).evaluate(corpus)
    if found.share_unknown >= MANY_UNKNOWN:
        say(
            f"headway: WARNING: {found.share_unknown:.0%} of the tokens are unknown to {run}: this "
            "perplexity is mostly the price of its one unknown word, and lower than the text's. "
            "Score a text in the model's own language, or take a model with sub-words."
        )
    if found.n_too_long:
        say(f"{found.n_too_long:,} lines of more than 1 MiB were passed over")
    if told.json:
        print_json({"run": str(run), **found.as_dict()})
    else:
        print_evaluation(run, found)


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
    if one.both_ways:
        halves = ", ".join(f"{name} {value:,.2f}" for name, value in one.both_ways.items())
        print(f"  it reads both ways; perplexity per token: {halves}")
    if scores.per_token == float("inf"):
        say("the model holds something in this text for impossible: a smoothed one would not")
