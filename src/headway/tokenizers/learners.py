"""What sub-words are learned by: which algorithm, and around which placeholders."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from tokenizers import AddedToken, Tokenizer

from headway.core.errors import ConfigError
from headway.core.subword_training import train_bpe
from headway.core.subwords import Learn
from headway.tokenizers.wordpiece import train_wordpiece

Algorithm = Literal["bpe", "wordpiece", "sentencepiece"]


def _imported_only(_lines: Iterable[str], _vocabulary_size: int) -> Tokenizer:
    raise ConfigError("text.algorithm sentencepiece is not learned here. Try bpe.")


LEARNERS: Mapping[Algorithm, Learn] = {
    "bpe": train_bpe, "wordpiece": train_wordpiece, "sentencepiece": _imported_only,
}  # fmt: skip


def around(placeholders: Sequence[str], learn: Learn) -> Learn:
    """What learns from the texts between placeholders (single characters): each is a piece by
    itself wherever it stands, behind all others, and no part of any word."""
    pattern = re.compile(f"[{''.join(map(re.escape, placeholders))}]")

    def learned(lines: Iterable[str], vocabulary_size: int) -> Tokenizer:
        between = [text for line in lines for text in pattern.split(line) if text]
        tokenizer = learn(between, vocabulary_size - len(placeholders))
        tokenizer.add_tokens([AddedToken(one, normalized=False) for one in placeholders])
        return tokenizer

    return learned
