"""Learning a sub-word vocabulary from lines of text.

Both algorithms grow their pieces by byte-pair merges over characters (Sennrich et al. 2016). For
byte-level BPE the merges are then spelled in bytes, so that every text can be written; WordPiece
keeps the pieces and picks the longest that fits (Wu et al. 2016), as BERT does. Learning over
characters needs a third of the memory that bytes need for Chinese, and no piece of two or more
characters ever starts or ends inside a character.
"""

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from headway.core.errors import ConfigError

VERSION = 2
"""Raised whenever the same lines give other pieces."""

# Words take along the space before them. Combining marks belong to the word (Hindi, Thai); digits
# stand alone, so that a number is copied digit by digit instead of being looked up.
WORDS = r"'(?:s|t|re|ve|m|ll|d)| ?[\p{L}\p{M}]+| ?\p{N}| ?[^\s\p{L}\p{M}\p{N}]+|\s+(?!\S)|\s+"

_LINES_COUNTED = 1_000  # at a time, which is three times as fast as one by one

SPECIAL_PIECES = ("<pad>", "<unk>", "<s>", "</s>")
"""Padding, unknown, begin and end, as ids 0, 1, 2 and 3 of every vocabulary trained here."""


def _byte_characters() -> tuple[str, ...]:
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return tuple(chr(byte) if byte in printable else chr(next(others)) for byte in range(256))


BYTE_CHARACTERS = _byte_characters()
"""The printable character that stands for each byte in byte-level BPE (Radford et al. 2019)."""

_BYTE_OF = {character: byte for byte, character in enumerate(BYTE_CHARACTERS)}
_UNSHOWN = re.compile(r"[\x00-\x1f\x7f\udc80-\udcff]")


def spell(text: str) -> str:
    """Write each UTF-8 byte of `text` as its printable character."""
    return "".join(BYTE_CHARACTERS[byte] for byte in text.encode("utf-8"))


def readable(spelled: str) -> str:
    """Undo `spell` for one piece; bytes that are no whole character are shown as `<0xE6>`, and so
    are ASCII's control characters: a tab is `<0x09>`.

    A piece that `spell` cannot have written is shown as it is.
    """
    if not all(character in _BYTE_OF for character in spelled):
        return spelled
    data = bytes(_BYTE_OF[character] for character in spelled)
    text = data.decode("utf-8", "surrogateescape")  # 0xE6 alone is U+DCE6
    return _UNSHOWN.sub(lambda found: f"<0x{ord(found[0]) & 0xFF:02X}>", text)


def fitted_vocabulary_size(n_pairs: int, n_characters: int) -> int:
    """How many sub-words suit a corpus of `n_pairs` with `n_characters` on both sides together.

    The rule: 5 * sqrt(characters), rounded to 500, at least 1,000 and at most 32,000, and no more
    pieces than pairs. Multi30k (29,000 pairs, 3.9 M characters) gets 10,000, which is what its
    best published system uses; 32,000 is reached at 41 M characters.
    """
    fitted = round(5 * math.sqrt(n_characters) / 500) * 500
    return max(1_000, min(32_000, fitted, n_pairs))


def train_bpe(lines: Iterable[str], vocabulary_size: int) -> Tokenizer:
    """Byte-level BPE of at most `vocabulary_size` pieces, markers and the 256 bytes included."""
    least = len(SPECIAL_PIECES) + len(BYTE_CHARACTERS)
    if vocabulary_size < least:
        raise ConfigError(
            f"byte-level BPE needs a vocabulary of {least} or more (every byte and the markers); "
            f"got {vocabulary_size}. Try --text.vocabulary-size {least + 740}."
        )
    alphabet, learned = learn(lines, vocabulary_size, WORDS)
    spelled = map(spell, alphabet)  # a character is built from its bytes, left to right
    merges = [(written[:i], written[i]) for written in spelled for i in range(1, len(written))]
    merges = list(dict.fromkeys(merges)) + [(spell(left), spell(right)) for left, right in learned]
    vocabulary = {piece: i for i, piece in enumerate((*SPECIAL_PIECES, *BYTE_CHARACTERS))}
    kept = []
    for left, right in merges:
        if len(vocabulary) == vocabulary_size:
            break
        vocabulary.setdefault(left + right, len(vocabulary))
        kept.append((left, right))
    tokenizer = byte_level(models.BPE(vocabulary, kept))
    tokenizer.add_special_tokens(list(SPECIAL_PIECES))
    return tokenizer


def byte_level(pieces: models.BPE) -> Tokenizer:
    """What is done to a text before and after it is parted into these pieces."""
    tokenizer = Tokenizer(pieces)
    tokenizer.normalizer = normalizers.NFC()
    words = pre_tokenizers.Split(Regex(WORDS), "isolated")
    in_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([words, in_bytes])
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def learn(
    lines: Iterable[str], vocabulary_size: int, words: str
) -> tuple[list[str], list[tuple[str, str]]]:
    """The characters worth a piece, in code point order, and the merges, best first."""
    normal = [unicodedata.normalize("NFC", line) for line in lines]
    counts: Counter[str] = Counter()
    for start in range(0, len(normal), _LINES_COUNTED):
        counts.update("".join(normal[start : start + _LINES_COUNTED]))
    ranked = sorted(counts, key=lambda character: (-counts[character], character))
    commonest = ranked[: vocabulary_size // 2]
    alphabet = sorted(character for character in commonest if counts[character] > 1)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(words), "isolated")
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size - len(SPECIAL_PIECES),
        min_frequency=2,
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),  # left alone, the trainer breaks ties at random
        show_progress=False,
    )
    tokenizer.train_from_iterator(normal, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return alphabet, [(left, right) for left, right in model["merges"]]
