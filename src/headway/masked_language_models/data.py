"""Text for masked language models: read and encoded as for language models, cut into windows."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.core.subwords import SpecialIds
from headway.labelling.task import Example
from headway.labelling.vocabulary import around
from headway.language_models import texts
from headway.language_models.texts import LanguageData


@dataclass(frozen=True)
class MaskedData(LanguageData):
    """Section [data]: which files, and what is hidden of them."""

    whole_words: bool = False
    """All pieces of a word are hidden together, or none of them."""


refuse_unreadable = partial(texts.refuse_unreadable, kind=MaskedData)
"""See `headway.language_models.texts.refuse_unreadable`."""


class Windows(Sequence[Example]):
    """A text end to end, cut into rows of `window` tokens with the markers around them. A row goes
    on over the ends of lines, and of documents: each is an end marker there (Liu et al. 2019,
    FULL-SENTENCES). The last row is what is left."""

    def __init__(self, ids: NDArray[Any], special: SpecialIds, window: int) -> None:
        """All tokens, end markers of lines included: `[tokens]`; may be mapped from a file."""
        self.ids, (self.begin, self.end) = ids, around(special)
        self.size = max(1, window - len(self.begin) - 1)

    def __len__(self) -> int:
        return (len(self.ids) + self.size - 1) // self.size

    def __getitem__(self, i: Any) -> Any:
        begin = range(len(self))[i] * self.size
        some = self.ids[begin : begin + self.size]
        return Example(np.concatenate([self.begin, some, self.end]).astype(np.int32), None)

    def spread(self, n_tokens: int) -> list[Example]:
        """Windows from all over the text, of about so many tokens together; all if it has fewer."""
        n = min(len(self), max(1, n_tokens // self.size))
        return [self[int(i)] for i in np.arange(n) * len(self) // n]
