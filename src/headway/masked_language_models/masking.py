"""Which places are hidden, and what is fed there (Devlin et al. 2019, section 3.1 and A.1)."""

import re
from typing import Any

import numpy as np
from jaxtyping import Bool, Int
from numpy.typing import NDArray

from headway.languages.scripts import UNSPACED
from headway.tokenizers.words import Words

HIDDEN, MASKED, SWAPPED = 0.15, 0.8, 0.1
"""So many of the places are hidden; of those so many are masked, another piece stands in so many,
and the rest stay as they are."""
MASKS = ("[MASK]", "<mask>")
"""How a mask is called in vocabularies that have one, and in texts that are to be filled."""

Ids = Int[NDArray, "rows length"]


def mask_id(tokens: Any) -> int:
    """What is fed at a masked place: the piece that is made for it, where a vocabulary has one, as
    BERT's and RoBERTa's have; else the unknown one, a place of which nothing is known."""
    own = () if isinstance(tokens, Words) else MASKS
    for name in filter(tokens.has, own):
        return int(tokens.pieces(range(len(tokens))).index(name))
    return int(tokens.special.unknown)


def parts_of_words(
    pieces: list[str],
) -> tuple[Bool[NDArray, " vocabulary"], Bool[NDArray, " vocabulary"]]:
    """Of each piece whether it goes on with the word before it, and whether it stands for itself
    wherever it is: marks, and letters of scripts without spaces."""
    unspaced = re.compile(f"[{UNSPACED}]")
    alone = [not any(map(str.isalnum, one)) or bool(unspaced.search(one)) for one in pieces]
    if any(one.startswith("##") for one in pieces):  # word pieces
        goes_on = [one.startswith("##") for one in pieces]
    else:
        goes_on = [not one.startswith("▁") for one in pieces]
    return np.array(goes_on), np.array(alone)


class Masking:
    """Hides places, anew at each call."""

    def __init__(self, tokens: Any, *, whole_words: bool) -> None:
        """With `whole_words` all pieces of a word are hidden together, or none."""
        special, self.mask = tokens.special, mask_id(tokens)
        markers = [special.padding, special.unknown, special.decoder_begin, special.end, self.mask]
        self.may_hide = np.ones(len(tokens), bool)
        self.may_hide[markers] = False
        self.others = np.flatnonzero(self.may_hide)
        self.in_pieces = whole_words and not isinstance(tokens, Words)
        if self.in_pieces:
            self.goes_on, self.alone = parts_of_words(tokens.pieces(range(len(tokens))))

    def words(self, ids: Ids) -> Ids:
        """The number of the word that each place is of, through all rows."""
        begins = np.ones(ids.shape, bool)
        if self.in_pieces:
            may, alone = self.may_hide[ids], self.alone[ids]
            whole = self.goes_on[ids] & may & ~alone
            begins[:, 1:] = ~(whole[:, 1:] & may[:, :-1] & ~alone[:, :-1])
        return begins.cumsum().reshape(ids.shape) - 1

    def hidden(self, ids: Ids, random: np.random.Generator) -> Bool[NDArray, "rows length"]:
        """Each word with a probability of `HIDDEN`, and one of every row where that takes none; no
        markers, and nothing unknown, which could not be told."""
        words, may = self.words(ids), self.may_hide[ids]
        chosen = (random.random(words.max(initial=0) + 1) < HIDDEN)[words] & may
        for row in np.flatnonzero(may.any(1) & ~chosen.any(1)):
            place = random.choice(np.flatnonzero(may[row]))
            chosen[row] = may[row] & (words[row] == words[row, place])
        return chosen

    def __call__(
        self, ids: Ids, random: np.random.Generator
    ) -> tuple[Ids, Bool[NDArray, "rows length"]]:
        """What is fed, and which places are hidden."""
        hidden, kind, fed = self.hidden(ids, random), random.random(ids.shape), ids.copy()
        fed[hidden & (kind < MASKED)] = self.mask
        swapped = hidden & (kind >= MASKED) & (kind < MASKED + SWAPPED)
        if len(self.others):
            fed[swapped] = random.choice(self.others, np.count_nonzero(swapped))
        return fed, hidden
