"""WordPiece, learned here."""

from collections.abc import Iterable

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from headway.core.errors import ConfigError
from headway.core.subword_training import SPECIAL_PIECES, WORDS, learn

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
