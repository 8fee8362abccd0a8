"""Validation sources that the model does not read as they are: masked, cut as `translate` cuts.

A side room: entered where there are codes, or texts of several sentences.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from headway.core.batching import Indices
from headway.corpora.corpus import languages
from headway.corpora.mixing import tagged
from headway.corpora.prepared import Prepared
from headway.localization.checks.training_stats import SAMPLE, measured
from headway.localization.placeholders.codes import mask, mask_pair, parsed_text, unmask
from headway.localization.placeholders.may_hold import may_hold_sentences
from headway.translation.portions import Portions, with_spaces

One = TypeVar("One")


class Portion(NamedTuple):
    """What the model reads at once."""

    ids: np.ndarray[Any, np.dtype[Any]]
    codes: Mapping[str, Any]
    """What its placeholders stand for."""


class ValidationPortions:
    """Each validation source in portions, with the white space between them."""

    def __init__(self, rows: Sequence[Sequence[Portion | str]]) -> None:
        self.rows = rows
        self.portions = [one for row in rows for one in row if isinstance(one, Portion)]

    @property
    def ids(self) -> list[np.ndarray[Any, np.dtype[Any]]]:
        """Of every portion, in order."""
        return [portion.ids for portion in self.portions]

    def of_rows(self, each: Sequence[One]) -> list[list[One]]:
        """What belongs to the portions, by source."""
        left = iter(each)
        return [[next(left) for one in row if isinstance(one, Portion)] for row in self.rows]

    def joined(self, written: Sequence[str]) -> list[str]:
        """The translations of the sources, given what was written for each portion."""
        both = zip(written, self.portions, strict=True)
        texts = [unmask(text, one.codes).text if one.codes else text for text, one in both]
        return [
            with_spaces(row, of_row) if len(row) > 1 else of_row[0]
            for row, of_row in zip(self.rows, self.of_rows(texts), strict=True)
        ]


def uncut(prepared: Prepared, valid_rows: Indices) -> ValidationPortions | None:
    """Every source whole, with its codes; None where there are no placeholders for any."""
    if prepared.codes != "mask":
        return None
    return ValidationPortions([[_whole(prepared, int(row))] for row in valid_rows])


def cut(prepared: Prepared, valid_rows: Indices) -> ValidationPortions | None:
    """The sources as `translate` will cut them; `uncut` where it cuts none."""
    own, masks, encode = prepared.own_codes, prepared.codes == "mask", prepared.subwords.encode
    both, n = languages(prepared.corpus), len(prepared.train)
    sample = np.unique(np.linspace(0, n - 1, min(SAMPLE, n)).astype(int))  # as `measure` takes it
    ids = [prepared.train["source"][int(i)].tolist() for i in sample]
    texts = prepared.subwords.decode_batch(ids)
    held = measured([(text, text) for text in texts], list(map(len, ids)), both)
    portions = Portions(held.at_once, lambda text: len(encode(text)), both[0], own)

    def part(text: str, tag: str) -> Portion:
        shown, codes = mask(parsed_text(text, own)) if masks else (text, {})
        return Portion(np.array(encode(tagged(shown, tag))), codes)

    rows: list[list[Portion | str]] = []
    for row in map(int, valid_rows):
        source, tag = prepared.valid_texts[row][0], prepared.valid_uses[row].tag
        parts = portions.of_text(source.strip()) if may_hold_sentences(source) else [source]
        if len(parts) == 1:
            rows.append([_whole(prepared, row)])
        else:
            rows.append([one if one.isspace() else part(one, tag) for one in parts])
    return (
        ValidationPortions(rows)
        if any(len(row) > 1 for row in rows)
        else uncut(prepared, valid_rows)
    )


def _whole(prepared: Prepared, row: int) -> Portion:
    codes: Mapping[str, Any] = {}
    if prepared.codes == "mask":
        codes = mask_pair(*prepared.valid_texts[row], prepared.own_codes).codes
    return Portion(prepared.valid["source"][row], codes)
