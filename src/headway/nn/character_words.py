"""Words by their letters: a vector for every word, whether it was ever seen or not.

Kim et al. 2016; Jozefowicz et al. 2016; Peters et al. 2018. A word is the bytes of its UTF-8
between a mark where it begins and one where it ends, so 256 symbols spell every language.
"""

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, UInt8
from numpy.typing import NDArray
from torch import Tensor, nn

BEGIN, END, PADDING, FIRST_MARKER = 0xFE, 0xFD, 0xFF, 0xF8
"""Bytes that no UTF-8 has: they stand for the two marks, for nothing, and, from `FIRST_MARKER` on,
for markers that are no words (`</s>` as it is typed has letters)."""
LONGEST = 50
"""Bytes that are read of a word, marks included; of a longer one the rest is not looked at."""


def spelled(words: Sequence[str], n_markers: int = 0) -> UInt8[np.ndarray, "words bytes"]:
    """Each word's bytes between its marks, padding behind; the first `n_markers` have no letters,
    but a symbol of their own each."""
    letters = [bytes([FIRST_MARKER + i]) for i in range(n_markers)]
    letters += [word.encode("utf-8", "surrogatepass") for word in words[n_markers:]]
    rows = [bytes([BEGIN, *one[: LONGEST - 2], END]) for one in letters]
    width = max(map(len, rows), default=2)
    padded = b"".join(row.ljust(width, bytes([PADDING])) for row in rows)
    found: NDArray[np.uint8] = np.frombuffer(padded, np.uint8).reshape(len(rows), width)
    return found


class Highway(nn.Module):
    """t * relu(W x) + (1 - t) * x, where t is a gate (Srivastava et al. 2015)."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.to_gate = nn.Linear(d_model, d_model)
        self.to_changed = nn.Linear(d_model, d_model)
        for linear in (self.to_gate, self.to_changed):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)
        nn.init.constant_(self.to_gate.bias, -2.0)  # at first most passes as it is

    def forward(self, x: Float[Tensor, "*shape d_model"]) -> Float[Tensor, "*shape d_model"]:
        """Of each place by itself."""
        gate = self.to_gate(x).sigmoid()
        return x + gate * (self.to_changed(x).relu() - x)


class CharacterWords(nn.Module):
    """Filters of several widths over a word's bytes, each one's greatest answer, highways, and a
    projection. What stands behind a word changes nothing."""

    def __init__(
        self, d_output: int, *, d_character: int, filters: Sequence[int], n_highways: int
    ) -> None:
        """`filters[w - 1]` is how many filters look at w bytes."""
        super().__init__()
        self.characters = nn.Embedding(256, d_character)
        nn.init.normal_(self.characters.weight, std=0.5)
        self.filters = nn.ModuleList(
            nn.Linear(width * d_character, n) for width, n in enumerate(filters, start=1)
        )
        self.highways = nn.Sequential(*(Highway(sum(filters)) for _ in range(n_highways)))
        self.to_output = nn.Linear(sum(filters), d_output)
        for linear in (*self.filters, self.to_output):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, words: UInt8[Tensor, "words bytes"]) -> Float[Tensor, "words d_output"]:
        """Of `spelled` words."""
        words = F.pad(words, (0, max(0, len(self.filters) - words.shape[1])), value=PADDING)
        n_bytes = (words != PADDING).sum(1, keepdim=True)
        x = self.characters(words.long()).to(self.to_output.weight.dtype)
        found = []
        for width, look in enumerate(self.filters, start=1):
            seen = x.unfold(1, width, 1).flatten(2)  # [words, places, d_character * width]
            place = torch.arange(seen.shape[1], device=words.device)
            beyond = place > (n_bytes - width).clamp(min=0)
            answers = look(seen).masked_fill(beyond[:, :, None], -torch.inf)
            found.append(answers.amax(1).relu())
        return self.to_output(self.highways(torch.cat(found, 1)))
