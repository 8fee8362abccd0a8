"""Sub-words of a model that reads and writes many languages, and is told which: M2M-100, NLLB.

In front of a text stand two ids: of the language to write, then of the text's own. The first is
chosen by a code, `<fr> some text` as `headway.corpora.mixing.tagged` writes it, else it is the
run's.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, SupportsIndex

from headway.core.disk import refuse_large, write_text
from headway.core.errors import ConfigError, DataError
from headway.core.run_folder import LANGUAGES
from headway.core.subwords import Subwords

_MAX_BYTES = 1 << 20
_CODE = re.compile(r"(?:<([\w-]+)> |>>([\w-]+)<< ?)")


class KnownLanguages(NamedTuple):
    """Which languages a model knows, and which a run reads and writes."""

    ids: dict[str, int]
    """By code."""
    source: str
    target: str
    """Where no text says another."""

    def checked(self, n_ids: int, origin: str) -> "KnownLanguages":
        """The same. Raises ConfigError for a language that it does not know, DataError for ids that
        are none of `n_ids`."""
        for side, code in (("source", self.source), ("target", self.target)):
            if code not in self.ids:
                raise ConfigError(
                    "a run of such a model reads one language and writes one, others by --tag; got "
                    f"--{side}-language {code or 'nothing'}. {origin} knows: {' '.join(self.ids)}."
                )
        if not all(type(one) is int and 0 <= one < n_ids for one in self.ids.values()):
            raise DataError(
                f"languages are among the {n_ids:,} ids of a vocabulary; those of {origin} are "
                "not. Take it from a copy."
            )
        return self


class MultilingualPieces(Subwords):
    """The sub-words of another vocabulary, with languages; a decoder is fed the end marker first,
    as in fairseq."""

    def __init__(self, inner: Subwords, languages: KnownLanguages, origin: str) -> None:
        """`origin` names the folder in errors."""
        self.inner, self.languages = inner, languages.checked(len(inner), origin)
        self.special = replace(inner.special, begin=inner.special.end)
        self._markers = {self.special.padding, self.special.end, *languages.ids.values()}
        self._origin = origin

    @classmethod
    def of_folder(cls, path: Path, inner: Subwords) -> "MultilingualPieces":
        """Read the languages of a run, whose sub-words are `inner`. Raises DataError where they are
        damaged."""
        file = path / LANGUAGES
        try:
            refuse_large(file, _MAX_BYTES)
            found = KnownLanguages(**json.loads(file.read_text(encoding="utf-8")))
            return cls(inner, found, str(file))
        except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise DataError(
                f"{file} is to say which languages a run knows; it does not ({str(error)[:100]}). "
                "Take it from a copy."
            ) from None

    def save(self, path: Path) -> None:
        """Write those files, and the languages beside them."""
        self.inner.save(path)
        write_text(path.with_name(LANGUAGES), self._table())

    def _table(self) -> str:
        return json.dumps(self.languages._asdict(), indent=1)

    def __reduce__(self) -> Any:
        """For another process."""
        return MultilingualPieces, (self.inner, self.languages, self._origin)

    def __len__(self) -> int:
        return len(self.inner)

    def fingerprint(self) -> str:
        """SHA-256 of all of it: equal fingerprints give equal ids."""
        whole = self.inner.fingerprint() + self._table()
        return hashlib.sha256(whole.encode("utf-8")).hexdigest()

    def has(self, piece: str) -> bool:
        """See `Subwords`."""
        return self.inner.has(piece)

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each source text: two languages, then its pieces; none of a blank one."""
        targets, rest = zip(*map(self._chosen, texts), strict=True) if texts else ((), ())
        own = self.languages.ids[self.languages.source]
        rows = zip(targets, self.inner.encode_batch(rest), strict=True)
        return [
            [target, own, *ids] if text.strip() else []
            for text, (target, ids) in zip(rest, rows, strict=True)
        ]

    def encode_targets(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each target text; its language stands with the source."""
        return self.inner.encode_targets(texts)

    def _chosen(self, text: str) -> tuple[int, str]:
        """The id of the language to write, and the text behind its code, if there is one."""
        found = _CODE.match(text)
        code = found and (found[1] or found[2])
        if found is None or code not in self.languages.ids:
            return self.languages.ids[self.languages.target], text
        return self.languages.ids[code], text[found.end() :]

    def source_spans(self, text: str) -> list[tuple[int, int]]:
        """See `Subwords`; the languages stand for the code, or for nothing."""
        normal = unicodedata.normalize("NFC", text)
        rest = self._chosen(normal)[1]
        before = len(normal) - len(rest)
        spans = [(before + start, before + end) for start, end in self.inner.source_spans(rest)]
        return [(0, before), (before, before), *spans]

    def decode_batch(self, rows: Iterable[Iterable[SupportsIndex]]) -> list[str]:
        """The text of each row of ids, without languages."""
        shown = ([i for i in map(int, row) if i not in self._markers] for row in rows)
        return self.inner.decode_batch(shown)

    def pieces(self, ids: Iterable[SupportsIndex]) -> list[str]:
        """See `Subwords`."""
        return self.inner.pieces(ids)
