"""How pairs are shown to a model if not as written: with codes masked, with tags in front."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from headway.core.cleaning import Pair
from headway.core.errors import ConfigError
from headway.core.subwords import Subwords
from headway.corpora.corpus import Corpus
from headway.corpora.mixing import tagged
from headway.localization.placeholders.codes import PLACEHOLDERS, VERSION, mask_pair
from headway.localization.placeholders.own_codes import CodeHandling, OwnPattern
from headway.operations.locks import Say

LEAST_SHARE = 0.02
LEAST_PAIRS = 100
"""With fewer, placeholders would be symbols that the model has hardly seen; it copies codes better
as the text that they are, and what it gets wrong is put right behind it."""

_LOOKED_AT = 4_000  # pairs


@dataclass(frozen=True)
class ShownPairs:
    """The two texts of a pair as the model reads them, before they become ids."""

    codes: CodeHandling
    tags: Mapping[str, str]
    """By the name of the file that a pair is from; a file without a tag is not there."""
    own: tuple[OwnPattern, ...] = ()
    """A user's patterns of codes."""

    @classmethod
    def of(
        cls, codes: CodeHandling, corpus: Corpus, own: tuple[OwnPattern, ...] = ()
    ) -> "ShownPairs":
        tags = {part.name: part.use.tag for part in corpus.parts if part.use.tag}
        return cls(codes, tags, own)

    def __call__(self, pair: Pair) -> tuple[str, str]:
        """Source and target: placeholders for the codes that they share, the file's tag."""
        source, target = pair.source, pair.target
        if self.codes == "mask":
            masked = mask_pair(source, target, self.own)
            source, target = masked.source, masked.target
        return tagged(source, self.tags.get(pair.file, "")), target

    def lines(self, pairs: Iterable[Pair]) -> Iterator[str]:
        """Every side of every pair, as the model reads it."""
        for pair in pairs:
            yield from self(pair)

    @property
    def placeholders(self) -> tuple[str, ...]:
        return tuple(PLACEHOLDERS) if self.codes == "mask" else ()

    def key(self) -> dict[str, Any]:
        """All that the texts depend on but for the corpus, for the name of what is kept of them."""
        own = {"own": [one.pattern for one in self.own]} if self.own else {}
        return {"codes": [self.codes, VERSION], "tags": list(self.tags.values()), **own}


def handling_of_codes(
    pairs: Callable[[], Iterable[Pair]],
    wanted: Literal["auto", "mask", "keep"],
    subwords: Subwords | None,
    say: Say,
    weights: Mapping[str, float] = MappingProxyType({}),
    own: Sequence[OwnPattern] = (),
) -> CodeHandling:
    """Whether codes are masked: as asked, or as the corpus suggests, said with the reason.

    `auto` masks where at least `LEAST_SHARE` of the pairs, and `LEAST_PAIRS` in all, have codes
    that both sides share; each counts as often as its file weighs (1 for one that `weights` does
    not name). Sub-words that were learned elsewhere decide by themselves: their model
    knows placeholders or it does not.

    Raises:
        ConfigError: masks are asked for with sub-words that have no placeholders.
    """
    can_mask = subwords is None or subwords.has(PLACEHOLDERS[0])
    if wanted == "mask" and not can_mask:
        raise ConfigError(
            "codes are masked only with sub-words that were learned with masks; the ones that are "
            "given have no placeholders. Leave --text.codes out, or learn new sub-words."
        )
    if wanted != "auto":
        return wanted
    if subwords is not None:
        return "mask" if can_mask else "keep"
    share, n_pairs = _with_codes(pairs, weights, own)
    if not share:
        return "keep"
    enough = share >= LEAST_SHARE and n_pairs >= LEAST_PAIRS
    say(
        f"codes (tags, placeholders, addresses, ...) are {'masked' if enough else 'kept as text'}: "
        f"about {share:.1%} of the pairs that are seen in a pass ({n_pairs:,}) have some that both "
        "sides share"
    )
    return "mask" if enough else "keep"


def _with_codes(
    pairs: Callable[[], Iterable[Pair]], weights: Mapping[str, float], own: Sequence[OwnPattern]
) -> tuple[float, int]:
    """The share of a pass, and how many pairs of it, judged by some of each file, evenly spaced."""
    n_pairs = Counter(pair.file for pair in pairs())
    place, looked_at, coded = Counter[str](), Counter[str](), Counter[str]()
    for source, target, file, *_ in pairs():
        if place[file] % max(1, n_pairs[file] // _LOOKED_AT) == 0:
            looked_at[file] += 1
            coded[file] += bool(mask_pair(source, target, own).codes)
        place[file] += 1
    seen = sum(weights.get(file, 1.0) * n for file, n in n_pairs.items())
    shares = {file: coded[file] / n for file, n in looked_at.items()}
    with_codes = sum(weights.get(file, 1.0) * n * shares[file] for file, n in n_pairs.items())
    return (with_codes / seen if seen else 0.0), round(with_codes)
