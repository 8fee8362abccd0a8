"""What stands behind the numbers of a model that labels: pieces of text, and names of labels."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, SupportsIndex

from headway.core.disk import refuse_large, write_text
from headway.core.errors import DataError
from headway.core.run_folder import LABELS, RunFolder
from headway.core.subwords import SpecialIds, Subwords
from headway.languages.segmenting import segmenter
from headway.tokenizers.words import Words, opened

MOST_LABELS = 1 << 16
"""More are no labels but texts."""
MAX_BYTES = 1 << 24
"""Of labels.json."""


@dataclass(frozen=True)
class LabelledVocabulary:
    """Pieces and labels: the vocabulary of a run that labels texts. Its ids are the pieces'."""

    tokens: Subwords | Words
    labels: tuple[str, ...]
    """Their names, in the order of their numbers."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What else must be known to use them, ready for JSON: such as the scheme of tags."""

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Of each label."""
        return {label: number for number, label in enumerate(self.labels)}

    @property
    def special(self) -> SpecialIds:
        """Which ids are markers."""
        return self.tokens.special

    def __len__(self) -> int:
        """How many ids there are."""
        return len(self.tokens)

    def pieces(self, ids: Iterable[SupportsIndex]) -> list[str]:
        """Each id as a reader would write it."""
        return self.tokens.pieces(ids)

    @property
    def cut(self) -> Callable[[str], str]:
        """What puts spaces between the words of a text, as it did when they were learned."""
        return segmenter(self.facts.get("segmenter", "none"))

    def encode_batch(self, texts: Sequence[str], longest: int | None = None) -> list[list[int]]:
        """The ids of each text between its markers; at most `longest` of them."""
        ids = self.tokens.encode_batch([*map(self.cut, texts)])
        return [self.marked(one, longest) for one in ids]

    def marked(self, ids: Sequence[int], longest: int | None = None) -> list[int]:
        """As every use feeds a text: begin (Marian's has none), its ids, end."""
        first, last = around(self.special)
        kept = ids if longest is None else ids[: max(0, longest - len(first) - 1)]
        return [*first, *kept, *last]

    def save(self, folder: RunFolder) -> None:
        """tokenizer.json and labels.json."""
        self.tokens.save(folder.tokenizer)
        save_labels(folder.path, self.labels, self.facts)


def around(special: SpecialIds) -> tuple[list[int], list[int]]:
    """The markers in front of a text's ids (Marian's has none), and behind them."""
    return [] if special.begin is None else [special.begin], [special.end]


def save_labels(folder: Path, labels: Sequence[str], facts: Mapping[str, Any]) -> None:
    """labels.json."""
    whole = {"labels": list(labels), **facts}
    write_text(folder / LABELS, json.dumps(whole, ensure_ascii=False, indent=1) + "\n")


def load_labels(folder: Path) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The labels of a run, and what else labels.json says.

    Raises DataError where it is missing or damaged.
    """
    file = folder / LABELS
    try:
        refuse_large(file, MAX_BYTES)
        whole = json.loads(file.read_bytes().decode("utf-8"))
        labels = tuple(whole.pop("labels"))
        sound = 0 < len({*labels}) == len(labels) <= MOST_LABELS
        sound = sound and all(isinstance(label, str) for label in labels)
    except OSError as error:
        raise DataError(
            f"cannot read {file}: {error.strerror}. Take it from a copy of the run."
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        sound = False
    if not sound:
        raise DataError(
            f"labels are a list of different names; {file} has none. Take it from a copy of the "
            "run."
        )
    return labels, whole


def load_vocabulary(folder: Path) -> LabelledVocabulary:
    """What `LabelledVocabulary.save` wrote."""
    labels, facts = load_labels(folder)
    return LabelledVocabulary(opened(folder), labels, facts)
