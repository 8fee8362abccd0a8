"""How a pair is shown to the model: with its codes masked or kept, then its file's tag in front."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headway.data.store import as_written, with_masks
from headway.text.cleaning import Pair
from headway.text.codes import VERSION
from headway.text.corpora import Corpus
from headway.text.mixing import tagged
from headway.text.subwords import CodeHandling

_SIDES = {"mask": with_masks, "keep": as_written}


@dataclass(frozen=True)
class Reading:
    """What becomes of the two texts of a pair before they become ids."""

    codes: CodeHandling
    tags: Mapping[str, str]
    """By the name of the file that a pair is from; a file without a tag is not there."""

    @classmethod
    def of(cls, codes: CodeHandling, corpus: Corpus) -> "Reading":
        """How pairs of this corpus are read."""
        tags = {part.name: part.use.tag for part in corpus.parts if part.use.tag}
        return cls(codes, tags)

    @property
    def as_written(self) -> bool:
        """Whether nothing is done to any text."""
        return self.codes == "keep" and not self.tags

    def __call__(self, pair: Pair) -> tuple[str, str]:
        """Source and target as the model reads them."""
        source, target = _SIDES[self.codes](pair)
        return tagged(source, self.tags.get(pair.file, "")), target

    def key(self) -> dict[str, Any]:
        """All that the texts depend on, for the name of what is kept of them."""
        return {"codes": [self.codes, VERSION], "tags": dict(self.tags)}
