"""Word vectors in the two formats of word2vec (Mikolov et al. 2013), which most tools read.

Both begin with a line `words size`. In the text format each line is a word and its numbers; in the
binary one the word, a blank, the numbers as little-endian float32, and a line end.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from headway.core.disk import written_aside


def write_word2vec(
    path: Path,
    words: Sequence[str],
    vectors: Float[np.ndarray, "words size"],
    *,
    binary: bool = False,
) -> int:
    """Write a file in one instant. Words that are empty or hold white space have no place in either
    format: they are left out, and how many is returned."""
    kept = [row for row, word in enumerate(words) if word and not any(c.isspace() for c in word)]
    with written_aside(path) as aside, aside.open("wb") as file:
        file.write(f"{len(kept)} {vectors.shape[1]}\n".encode())
        for row in kept:
            vector = vectors[row].astype("<f4")
            numbers = " ".join(f"{x:.9g}" for x in vector.tolist()).encode()  # float32, exactly
            file.write(words[row].encode() + b" " + (vector.tobytes() if binary else numbers))
            file.write(b"\n")
    return len(words) - len(kept)
