"""Chosen words on a plane by principal components, and beside them as many random vectors, that
nobody sees more than there is."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from headway.core.errors import DataError
from headway.core.lines import read_lines, shown
from headway.vectors.chance import Chance, chance
from headway.vectors.word_vectors import WordVectors, unit

LEAST, MOST = 3, 1_000
"""Words on a map."""
KEPT = 5
"""So many nearest words are looked for on the plane."""


class WordGroup(NamedTuple):
    """Words that belong together, as somebody thinks."""

    name: str
    words: list[str]


class Plane(NamedTuple):
    """Where vectors lie when they are drawn."""

    places: Float[NDArray, "words 2"]
    variance: float
    """The share of their variance that the plane holds."""


class WordMap(NamedTuple):
    """Where some words lie, and what is known of how far that can be trusted."""

    words: list[str]
    groups: list[str]
    """Their names."""
    group_of: Int[NDArray, " words"]
    missing: list[str]
    """Words that were asked for and have no vectors."""
    n_words: int
    """Of all that have vectors."""
    plane: Plane
    kept: float
    """Of each word's nearest five by cosine, the share that are its nearest five on the plane."""
    cosines: Float[NDArray, "words words"]
    random_plane: Plane
    """That of as many random vectors of the same size."""
    random_cosines: Float[NDArray, "words words"]
    chance: Chance

    def within(self, cosines: Float[NDArray, "words words"]) -> float:
        """The mean cosine of two words of one group."""
        return self._mean(cosines, self.group_of[:, None] == self.group_of)

    def between(self, cosines: Float[NDArray, "words words"]) -> float:
        """The mean cosine of two words of different groups; nan of one group alone."""
        return self._mean(cosines, self.group_of[:, None] != self.group_of)

    def _mean(self, cosines: Float[NDArray, "words words"], which: NDArray[np.bool_]) -> float:
        chosen = cosines[which & ~np.eye(len(cosines), dtype=bool)]
        return float(chosen.mean()) if chosen.size else float("nan")

    def told(self) -> Iterator[tuple[str, str]]:
        """What is on the picture and how far to trust it: sentences in English and Chinese."""
        n, n_groups, most = len(self.words), len(self.groups), min(KEPT, len(self.words) - 1)
        yield (
            f"{n} of {self.n_words:,} words, {n_groups} group{'s'[: n_groups > 1]}",
            f"{self.n_words:,} 个词中的 {n} 个，分 {n_groups} 组",
        )
        if self.missing:
            named = ", ".join(self.missing[:10]) + (", .." if len(self.missing) > 10 else "")
            yield (
                f"without a vector, and left out: {len(self.missing)} ({named})",
                f"没有向量而略去的：{len(self.missing)} 个（{named}）",
            )
        held, by_chance = self.plane.variance, self.random_plane.variance
        yield (
            f"the plane holds {held:.0%} of the variance (of random vectors {by_chance:.0%})",
            f"平面上保留了 {held:.0%} 的方差（随机向量：{by_chance:.0%}）",
        )
        by_chance = most / (n - 1)
        yield (
            f"of a word's {most} nearest by cosine {self.kept:.0%} are its nearest on the plane "
            f"(in random places {by_chance:.0%})",
            f"按余弦最近的 {most} 个词，{self.kept:.0%} 在平面上也最近（随机：{by_chance:.0%}）",
        )
        near, far = self.within(self.cosines), self.between(self.cosines)
        by_chance = float(self.random_cosines[np.triu_indices(n, 1)].mean())
        yield (
            f"mean cosine of two words of one group {near:.2f}"
            + ("" if np.isnan(far) else f", of different ones {far:.2f}")
            + f"; of two random vectors {by_chance:.2f}, 95 of 100 within {self.chance.band:.2f} "
            "of 0",
            f"同组两词的余弦平均 {near:.2f}"
            + ("" if np.isnan(far) else f"，异组 {far:.2f}")
            + f"；两个随机向量 {by_chance:.2f}，其中 95% 与 0 相差不到 {self.chance.band:.2f}",
        )


def word_map(vectors: WordVectors, asked: Sequence[WordGroup], seed: int = 1) -> WordMap:
    """Words of some groups on a plane, by vectors of length 1, so that cosines decide.

    Raises DataError where fewer than three have vectors, or one has no finite one.
    """
    here, missing = list[WordGroup](), list[str]()
    for name, words in asked:
        spelled = [_as_in(vectors, word) for word in words]
        here.append(WordGroup(name, [word for word in dict.fromkeys(spelled) if word in vectors]))
        missing += [word for word in spelled if word not in vectors]
    here = [one for one in here if one.words]
    words = [word for one in here for word in one.words]
    if len(words) < LEAST:
        alike = ", ".join(vectors.spelled_alike(missing[0])) if missing else ""
        raise DataError(
            f"a map needs {LEAST} words that have vectors; got {len(words)} of "
            f"{len(words) + len(missing)}: none for {', '.join(missing[:10]) or 'others'}. "
            + (f"Spelled like the first: {alike}." if alike else "Ask for words of the corpus.")
        )
    chosen = unit(np.stack([vectors.vector(word) for word in words]))
    for word in (words[row] for row in np.flatnonzero(~np.isfinite(chosen).all(1))):
        raise DataError(f"vectors are of finite numbers; that of {word!r} is not. Leave it out.")
    drawn = np.random.default_rng(seed).standard_normal(chosen.shape)
    random = unit(np.asarray(drawn, np.float32))
    plane = components(chosen)
    return WordMap(
        words,
        [one.name for one in here],
        np.repeat(np.arange(len(here)), [len(one.words) for one in here]),
        missing,
        len(vectors),
        plane,
        kept(chosen, plane.places),
        chosen @ chosen.T,
        components(random),
        random @ random.T,
        chance(vectors.size),
    )


def components(vectors: Float[NDArray, "words size"]) -> Plane:
    """The two directions in which vectors differ most (Pearson 1901), by singular values."""
    centred = np.asarray(vectors, np.float64) - np.mean(vectors, axis=0, dtype=np.float64)
    left, singular, right = np.linalg.svd(centred, full_matrices=False)
    signs = np.sign(right[np.arange(len(right)), np.abs(right).argmax(1)])  # the same everywhere
    places = np.zeros((len(centred), 2))
    two = min(2, len(singular))
    places[:, :two] = (left * singular * signs)[:, :two]
    total = float((singular**2).sum())
    return Plane(places, float((singular[:2] ** 2).sum()) / total if total else 1.0)


def squared_distances(vectors: Float[NDArray, "words size"]) -> Float[NDArray, "words words"]:
    """Between each two of some vectors; 0 from each to itself."""
    exact = np.asarray(vectors, np.float64)
    squares = (exact**2).sum(1)
    apart = np.maximum(squares[:, None] + squares - 2 * exact @ exact.T, 0.0)
    np.fill_diagonal(apart, 0.0)
    return apart


def kept(vectors: Float[NDArray, "words size"], places: Float[NDArray, "words 2"]) -> float:
    """Of each word's nearest words, the share that are also its nearest on the plane."""
    most = min(KEPT, len(places) - 1)
    found = []
    for each in (vectors, places):
        apart = squared_distances(each)
        np.fill_diagonal(apart, np.inf)
        found.append(np.argsort(apart, axis=1, kind="stable")[:, :most])
    both = (set(one) & set(other) for one, other in zip(*found, strict=True))
    return sum(map(len, both)) / (most * len(places)) if most else 1.0


def _as_in(vectors: WordVectors, word: str) -> str:
    """A word as it is spelled where vectors are: as it is written, in NFC, or in lower case."""
    normal = normalize("NFC", word)
    return next((one for one in (word, normal, normal.lower()) if one in vectors), word)


def read_groups(path: Path) -> list[WordGroup]:
    """Words, one a line; a blank line or `# name` begins a group. A word counts once.

    Raises DataError: no file of text, no words, or more than a map has room for.
    """
    groups, seen = [WordGroup("", [])], set[str]()
    for line in read_lines(path):
        word = (line or "").strip()
        if not word or word.startswith("# "):
            groups.append(WordGroup(word[2:].strip(), []))
        elif word not in seen:
            seen.add(word)
            groups[-1].words.append(word)
        if len(seen) > MOST:
            raise DataError(
                f"a map has room for {MOST:,} words; {shown(path)} has more. Choose some of them."
            )
    if not seen:
        raise DataError(f"--words is a file of words, one a line; {shown(path)} has none.")
    kept = [one for one in groups if one.words]
    return [WordGroup(name or str(n), words) for n, (name, words) in enumerate(kept, 1)]
