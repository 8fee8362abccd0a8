"""An English-Chinese corpus of everyday sentences, written by a grammar: no data is fetched.

`generate` gives distinct pairs, `split` sets some apart for validation and test. The grammar holds
far more sentences than anybody will generate, so those set apart are new to the model: known words
in combinations never seen. One English sentence has exactly one Chinese translation.

Several hundred thousand of the sentences turn on a pronoun: in "The animal didn't cross the street
because it was too tired" (or "too wide") the Chinese must name what *it* is.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from headway.core.errors import ConfigError
from headway.demo.sampling import Pair, Writer
from headway.demo.sentences import KINDS

EXAMPLES: tuple[Pair, ...] = (
    ("I love learning.", "我爱学习。"),
    (
        "The animal didn't cross the street because it was too tired.",
        "那只动物没有过马路，因为那只动物太累了。",
    ),
    (
        "The animal didn't cross the street because it was too wide.",
        "那只动物没有过马路，因为那条马路太宽了。",
    ),
)
"""The sentences that the demo shows."""

INVITED: tuple[Pair, ...] = (
    ("A dog runs.", "一只狗在跑。"),
    ("The dog runs.", "那只狗在跑。"),
    ("A cat sleeps.", "一只猫在睡觉。"),
    ("The animal was too tired.", "那只动物太累了。"),
)
"""Others that the documents invite to type. All of these and `EXAMPLES` belong to the grammar, and
are kept out of every corpus that it writes."""

DEMO_SEED = 1
DEMO_SIZES = 24_000, 300, 500
"""Of the corpus of `headway demo`, which the run that comes with the package learned from: pairs to
train on, to validate on and to test on."""

_BEFORE_MARK = re.compile(r"(?<! ) +(?=[.,?])")


class Split(NamedTuple):
    """Pairs to train on, and pairs whose English and Chinese never occur among those."""

    train: list[Pair]
    valid: list[Pair]
    test: list[Pair]


def sentence(writer: Writer) -> Pair:
    """One English sentence and its Chinese, with capital letters and punctuation."""
    weights, kinds = zip(*KINDS.values(), strict=True)
    (kind,) = writer.random.choices(kinds, weights)
    return finished(*kind(writer))


def finished(english: str, chinese: str) -> Pair:
    """The sentence with its capital letter and its full stop, and no space too many."""
    if not english.endswith("?"):
        english, chinese = f"{english}.", f"{chinese}。"
    english = english[0].upper() + english[1:]
    english = _BEFORE_MARK.sub("", " ".join(english.split()))
    return english, "".join(chinese.split())


def generate(n_pairs: int, seed: int) -> list[Pair]:
    """`n_pairs` different (English, Chinese) pairs; the same seed gives the same ones.

    No English sentence and no Chinese sentence occurs twice, none of `EXAMPLES` and `INVITED` does.
    """
    writer = Writer(seed)
    seen = {text for pair in (*EXAMPLES, *INVITED) for text in pair}
    pairs: list[Pair] = []
    while len(pairs) < n_pairs:
        pair = sentence(writer)
        if seen.isdisjoint(pair):
            seen.update(pair)
            pairs.append(pair)
    return pairs


def split(pairs: Sequence[Pair], *, n_valid: int, n_test: int) -> Split:
    """Set the last pairs apart: `n_valid` to validate on, `n_test` to test on.

    `pairs` come from `generate`: in random order, and nothing occurs twice. Raises ConfigError if
    nothing would be left to train on.
    """
    n_train = len(pairs) - n_valid - n_test
    if n_train < 1:
        raise ConfigError(
            f"validation and test need fewer pairs than there are; got {n_valid} and {n_test} of "
            f"{len(pairs)}. Generate more."
        )
    every = list(pairs)
    return Split(every[:n_train], every[n_train : n_train + n_valid], every[n_train + n_valid :])
