"""`headway tokenize`: the pieces and ids that a model sees."""

import sys
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from headway.commands.arguments import print_json
from headway.commands.lines import chunks_of
from headway.core.errors import ConfigError

if TYPE_CHECKING:
    from headway.core.subwords import Subwords
    from headway.tokenizers.words import Words


class TokenRow(NamedTuple):
    """One text: its pieces, their ids, and 1 for each piece that is no padding."""

    tokens: list[str]
    ids: list[int]
    mask: list[int]


def tokenize(
    tokenizer: Path,
    text: str | None = None,
    /,
    *,
    special_tokens: bool = False,
    pad_to: int = 0,
    max_length: int = 0,
    json: bool = False,
) -> None:
    """Show pieces, ids, and the padded batch with its mask.

    Parameters
    ----------
    tokenizer
        Folder of a trained model, a tokenizer.json, or a BERT vocab.txt.
    text
        What to cut into pieces; without it, each line of standard input is one row of a batch.
    special_tokens
        Add the markers of begin and end, as in <s> .. </s> or [CLS] .. [SEP].
    pad_to
        Pad every row to so many pieces; else to the longest row.
    max_length
        Cut longer rows, markers included, and say how many were cut.
    json
        Print one JSON object on standard output: lists for one text, lists of lists for a batch.
    """
    from headway.operations.shipped import place_of
    from headway.tokenizers.words import opened

    if pad_to < 0 or max_length < 0:
        raise ConfigError(
            f"lengths count pieces; got --pad-to {pad_to} and --max-length {max_length}. "
            "Give 0 or more."
        )
    if max_length and special_tokens and max_length < 2:
        raise ConfigError(
            f"the two markers need --max-length 2 or more; got {max_length}. "
            "Leave out --special-tokens, or allow more."
        )
    place = place_of(tokenizer)
    subwords, parted = opened(place), _parting_of(place)
    texts = list(chain.from_iterable(chunks_of(None))) if text is None else [text]
    rows = [subwords.encode(parted(_clean(each))) for each in texts]
    special = subwords.special
    before, after = [] if special.begin is None else [special.begin], [special.end]
    if max_length:
        rows = _cut(rows, max_length - len(before + after) * special_tokens)
    if special_tokens:
        rows = [[*before, *row, *after] for row in rows]
    batch = _padded(rows, subwords, pad_to)
    if json:
        whole = {field: [getattr(row, field) for row in batch] for field in TokenRow._fields}
        if text is not None:
            whole = {field: rows[0] for field, rows in whole.items()}
        print_json(whole)
    else:
        _print_batch(batch)


def _clean(text: str) -> str:
    from headway.core.cleaning import clean

    return clean(text)


def _parting_of(place: Path) -> Callable[[str], str]:
    """What puts spaces between the words of a text before the run in a place reads it."""
    from headway.core.run_folder import RunFolder
    from headway.languages.segmenting import segmenter

    folder = RunFolder(place)
    text = folder.settings().get("text", {}) if folder.config.exists() else {}
    named = text.get("segmenter", "none")
    return segmenter("none" if named == "auto" else named)  # auto: it tags tokens as they stand


def _cut(rows: list[list[int]], most: int) -> list[list[int]]:
    n_cut = sum(len(row) > most for row in rows)
    if n_cut:
        print(f"{n_cut} of {len(rows)} rows cut to --max-length", file=sys.stderr)
    return [row[:most] for row in rows]


def _padded(rows: list[list[int]], subwords: "Subwords | Words", pad_to: int) -> list[TokenRow]:
    longest = max((len(row) for row in rows), default=0)
    if pad_to and longest > pad_to:
        raise ConfigError(
            f"a row may not be longer than --pad-to; the longest has {longest} pieces, got "
            f"{pad_to}. Add --max-length {pad_to} to cut it."
        )
    batch = []
    for row in rows:
        n_padding = (pad_to or longest) - len(row)
        ids = row + [subwords.special.padding] * n_padding
        batch.append(TokenRow(subwords.pieces(ids), ids, [1] * len(row) + [0] * n_padding))
    return batch


def _print_batch(batch: list[TokenRow]) -> None:
    for number, row in enumerate(batch):
        if number:
            print()
        print("tokens", *row.tokens)
        print("ids   ", *row.ids)
        print("mask  ", *row.mask)
