"""How much of a pass each file makes up, in numbers and in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.core.errors import ConfigError
from headway.core.rows import Indices
from headway.corpora.corpus import Corpus, directions
from headway.corpora.mixing import PLAIN, Use, tags_read
from headway.corpora.prepared import Prepared
from headway.runs.task_spec import Say
from headway.tokenizers.multilingual import KnownLanguages


@dataclass(frozen=True)
class Share:
    """What one file gives to a pass through the corpus."""

    file: str
    n_pairs: int
    use: Use
    share: float
    """Of the target tokens that are seen, from 0 to 1."""

    def as_dict(self) -> dict[str, Any]:
        """As in data.json."""
        use = {"weight": self.use.weight, "tag": self.use.tag}
        return {"file": self.file, "pairs": self.n_pairs, **use, "share": round(self.share, 4)}

    def __str__(self) -> str:
        times = f", each {self.use.weight:g} times" if self.use.weight != 1 else ""
        tag = f", tag <{self.use.tag}>" if self.use.tag else ""
        left = "" if self.n_pairs else " left (see what was dropped), so nothing is learned of it"
        return f"{self.share:.1%} {self.file}: {self.n_pairs:,} pairs{left}{times}{tag}"


def shares(prepared: Prepared) -> list[Share]:
    """The files of the corpus in the order in which they are read."""
    store = prepared.train
    weights = np.ones(len(store)) if prepared.weights is None else prepared.weights
    names = list(store.files)
    seen = np.bincount(
        store.file_numbers, weights * (store.lengths["target"] + 1), minlength=len(names)
    )
    n_pairs = np.bincount(store.file_numbers, minlength=len(names))
    number = {name: i for i, name in enumerate(names)}
    found = []
    for part in prepared.corpus.parts:
        i = number.get(part.name)
        n, tokens = (0, 0.0) if i is None else (int(n_pairs[i]), float(seen[i]))
        found.append(Share(part.name, n, part.use, tokens / max(float(seen.sum()), 1.0)))
    return found


def mixture(prepared: Prepared) -> list[str]:
    """A line for each file, in words; none for a single one without weight and tag."""
    found = shares(prepared)
    return [] if [share.use for share in found] == [PLAIN] else [str(share) for share in found]


def tags_seen(prepared: Prepared, before: Sequence[str]) -> tuple[str, ...]:
    """`tags_read` of the files that have a pair left: the model learns no other tag."""
    return tags_read((share.use for share in shares(prepared) if share.n_pairs), before)


def most_seen(data: Any, settings: Any) -> tuple[str, str | None, str | None]:
    """The tag that most of what a run learned from has, and the languages of its file."""
    tagged = [one for one in data.record()["mixture"] if one["tag"]]
    if not tagged:  # the parent's
        return [*filter(None, settings.tags)][-1], None, None
    most = max(tagged, key=itemgetter("share"))
    known = directions(data.prepared.corpus).get(most["file"], (None, None))
    source, target = settings.source_language, settings.target_language
    return most["tag"], known[0] or source, known[1] or target


def valid_files(prepared: Prepared) -> list[str]:
    """The files that validation pairs are from."""
    store = prepared.valid
    return [store.files[i] for i in np.unique(store.file_numbers)]


def in_turn(file_numbers: NDArray[np.uint32]) -> Indices:
    """All pairs in an order whose beginning holds of each file what is its share: [pairs].

    Those of one file stay in their order.
    """
    rows = np.arange(len(file_numbers))
    place = np.zeros(len(rows))
    for number in np.unique(file_numbers):
        own = rows[file_numbers == number]
        place[own] = (np.arange(len(own)) + 0.5) / len(own)
    return np.argsort(place, kind="stable")


def refuse_untold(data: Any, languages: KnownLanguages, say: Say) -> None:
    """Say what a model of many languages is told of the pairs of [data] that have no tag. Raises
    ConfigError for a file that is said to be in others than it is told, or whose tag is none."""
    source, target = languages.source, languages.target
    say(f"pairs are read as {source}; without a tag they are written as {target}")
    for corpus in filter(None, (data.corpus(), data.validation())):
        _refuse_untold(corpus, languages)


def _refuse_untold(corpus: Corpus, languages: KnownLanguages) -> None:
    found = directions(corpus)
    for part in corpus.parts:
        tag = part.use.tag
        told = languages.source, tag or languages.target
        for code, known, option in zip(found[part.name], told, ("source", "target"), strict=True):
            if code in languages.ids and code != known:
                pairs = "" if option == "source" else f"give its pairs with :tag={code}, or "
                raise ConfigError(
                    f"a model of many languages is told the language of each side; {part.name} is "
                    f"{code} where {known} would be told. Try: {pairs}import the model again with "
                    f"--{option}-language {code}."
                )
        if tag and tag not in languages.ids:
            raise ConfigError(
                f"a tag is the language to write, for a model of many; got {tag!r} for "
                f"{part.name}. It knows: {' '.join(languages.ids)}."
            )
