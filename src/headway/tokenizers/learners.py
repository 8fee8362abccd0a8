"""What sub-words are learned by: byte-level BPE or WordPiece, and around which placeholders."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
)

from headway.core.errors import ConfigError
from headway.core.subword_training import SPECIAL_PIECES, WORDS, learn, train_bpe
from headway.core.subwords import Learn

Algorithm = Literal["bpe", "wordpiece", "sentencepiece"]


PATTERN = rf" ?[\p{{Han}}]|{WORDS}"
"""What stands together: an ideograph alone, as in BERT, and what a word is to BPE."""
_MAX_WORD = 1_000  # characters; a longer run is unknown


def train_wordpiece(lines: Iterable[str], vocabulary_size: int) -> Tokenizer:
    """WordPiece of at most `vocabulary_size` pieces; ideographs stand alone, as in BERT.

    A piece that starts a word carries the space before it, so decoding needs no guessing.
    """
    least = len(SPECIAL_PIECES) + 2
    if vocabulary_size < least:
        raise ConfigError(
            f"WordPiece needs a vocabulary of {least} or more; got {vocabulary_size}. "
            "Try --text.vocabulary-size 8000."
        )
    alphabet, learned = learn(lines, vocabulary_size, PATTERN)
    pieces = [*SPECIAL_PIECES, *alphabet, *(left + right for left, right in learned)]
    vocabulary = {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(
        models.WordPiece(
            vocabulary,
            unk_token=SPECIAL_PIECES[1],
            max_input_chars_per_word=_MAX_WORD,
            continuing_subword_prefix="",
        )
    )
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(PATTERN), "isolated")
    tokenizer.decoder = decoders.Fuse()
    tokenizer.add_special_tokens(list(SPECIAL_PIECES))
    return tokenizer


def _imported_only(_lines: Iterable[str], _vocabulary_size: int) -> Tokenizer:
    raise ConfigError("text.algorithm sentencepiece is not learned here. Try bpe.")


LEARNERS: Mapping[Algorithm, Learn] = {
    "bpe": train_bpe, "wordpiece": train_wordpiece, "sentencepiece": _imported_only,
}  # fmt: skip


def around(placeholders: Sequence[str], learner: Learn) -> Learn:
    """A learner of the texts between placeholders (single characters): each is a piece by
    itself wherever it stands, behind all others, and no part of any word."""
    pattern = re.compile(f"[{''.join(map(re.escape, placeholders))}]")

    def learned(lines: Iterable[str], vocabulary_size: int) -> Tokenizer:
        between = [text for line in lines for text in pattern.split(line) if text]
        tokenizer = learner(between, vocabulary_size - len(placeholders))
        tokenizer.add_tokens([AddedToken(one, normalized=False) for one in placeholders])
        return tokenizer

    return learned
