"""Corrections by people: kept in a file for each pair of languages that a training takes, and in
memory, so that they hold at once."""

import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, Self

from headway.core.cleaning import clean
from headway.core.disk import disk_errors, sync, write_bytes
from headway.core.lines import MAX_LINE_BYTES, bounded_lines
from headway.corpora.mixing import check_tag
from headway.localization.formats.tables import json_object
from headway.operations.locks import only_writer_of_folder
from headway.serving.requests import RefusedError, ServedPair

_CODE = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,4}")


class KeptCorrection(NamedTuple):
    """A text as a person translated it."""

    source: str
    target: str
    key: str = ""
    """What tells it from others of the same text (`msgctxt`, ..), as `Unit.key`."""


_Known = dict[str, dict[str, str]]
"""Translations by text and key, of each text the newest last."""


class Corrections:
    """A folder of them, `corrections.en-de.jsonl` for each pair, `corrections.en-de.TAG.jsonl` for
    what is asked for by a run's tag: lines are added, and one is on the disk before anybody hears
    that it is kept; one that is withdrawn goes. `headway train --init-from RUN --pairs FILE` learns
    from such a file. Safe to be used by many threads, and by one process."""

    def __init__(self, folder: Path, say: Callable[[str], None] = lambda _: None) -> None:
        """Raises DiskError: it cannot be written to; TakenError: another process has it."""
        self.folder, self._lock = folder, threading.Lock()
        self._held, self._known = ExitStack(), dict[tuple[ServedPair, str], _Known]()
        self._held.enter_context(only_writer_of_folder(folder, say))
        self._say = say

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let another process have the folder."""
        self._held.close()

    def file_of(self, pair: ServedPair, tag: str = "") -> Path:
        """Where those of a pair are; raises RefusedError for what are no codes of languages, and
        ConfigError for what is no tag."""
        if not all(map(_CODE.fullmatch, pair)):
            raise RefusedError("language", "a language is given by its code, such as en or pt-BR")
        of_tag = f".{check_tag(tag)}" if tag else ""
        return self.folder / f"corrections.{pair.source}-{pair.target}{of_tag}.jsonl"

    def add(self, pair: ServedPair, source_text: str, target_text: str, tag: str = "") -> None:
        """Keep what a person wrote: see `add_all`."""
        self.add_all(pair, [KeptCorrection(source_text, target_text)], tag)

    def add_all(self, pair: ServedPair, some: Iterable[KeptCorrection], tag: str = "") -> None:
        """Keep what a person wrote; it holds from now on, in the place of earlier corrections of
        the same texts with the same keys.

        Raises:
            RefusedError: one side is blank, or they are too long for a line of such a file.
            DiskError: it could not be written, and nothing of it is kept.
        """
        some = list(some)
        lines = b"".join(map(_line, some))
        file = self.file_of(pair, tag)
        if not lines:
            return
        with self._lock:
            known = self._of(pair, tag)
            _append(file, lines)
            for one in some:
                _put(known, one)

    def withdraw(self, pair: ServedPair, some: Iterable[KeptCorrection], tag: str = "") -> None:
        """Take corrections back, as far as they still hold: the file is written anew without any
        of these texts with these keys.

        Raises DiskError: it could not be written, and all stays as it was.
        """
        file = self.file_of(pair, tag)
        gone = {one._replace(source=clean(one.source)) for one in some}
        if not gone:
            return
        with self._lock:
            known = self._of(pair, tag)
            held = [one for one in gone if known.get(one.source, {}).get(one.key) == one.target]
            if not held:
                return
            write_bytes(file, b"".join(_line(one) for one in _all(known) if one not in gone))
            for one in held:
                others = {key: t for key, t in known[one.source].items() if key != one.key}
                if others:
                    known[one.source] = others
                else:
                    del known[one.source]

    def exact(
        self, pair: ServedPair, text: str, tag: str = "", key: str | None = None
    ) -> str | None:
        """The correction of this very text, white space around it aside, with this key; by default
        one without a key, else the newest."""
        known = self._known.get((pair, tag))
        if known is None and (not tag or os.path.exists(self.file_of(pair, tag))):
            with self._lock:
                known = self._of(pair, tag)
        of_text = known.get(clean(text)) if known else None
        if not of_text or key is not None:
            return of_text.get(key) if of_text and key is not None else None
        return of_text.get("", next(reversed(of_text.values())))

    def _of(self, pair: ServedPair, tag: str = "") -> _Known:
        """What is known of a pair, read when it is first asked for."""
        if (pair, tag) not in self._known:
            found: _Known = {}
            file = self.file_of(pair, tag)
            if file.exists():
                n_odd = _read(file, found)
                if n_odd:
                    self._say(f"{file} has {n_odd:,} lines that are no corrections: left out")
            self._known[pair, tag] = found
        return self._known[pair, tag]


def _put(known: _Known, one: KeptCorrection) -> None:
    """Have a correction be the newest of its text. Who reads meanwhile has the old ones, or all."""
    text = clean(one.source)
    others = {key: target for key, target in known.get(text, {}).items() if key != one.key}
    known[text] = {**others, one.key: one.target}


def _all(known: _Known) -> Iterator[KeptCorrection]:
    for text, of_text in known.items():
        for key, target in of_text.items():
            yield KeptCorrection(text, target, key)


def _line(one: KeptCorrection) -> bytes:
    if not clean(one.source) or not clean(one.target):
        raise RefusedError("bad", "a correction is a text and its translation; one is blank")
    entry = one._asdict() if one.key else {"source": one.source, "target": one.target}
    line = json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    if len(line) > MAX_LINE_BYTES:
        raise RefusedError("too_long", "a correction is a text of a few paragraphs at most")
    return line


def _read(file: Path, found: _Known) -> int:
    """Take in all lines, later ones in the place of earlier ones; how many are none: the last may
    be torn, where the power was lost."""
    n_odd = 0
    with file.open("rb") as lines:
        for raw in bounded_lines(lines):
            entry = json_object((raw or b"").decode("utf-8", "replace")) or {}
            source, target, key = (entry.get(name) for name in KeptCorrection._fields)
            if isinstance(source, str) and isinstance(target, str) and clean(source):
                _put(found, KeptCorrection(source, target, key if isinstance(key, str) else ""))
            else:
                n_odd += 1
    return n_odd


def _append(file: Path, line: bytes) -> None:
    """Add lines and have the disk keep them; the file is as it was where that fails."""
    is_new = not file.exists()
    with disk_errors(file):
        handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            size = os.fstat(handle).st_size
            try:
                if size and os.pread(handle, 1, size - 1) != b"\n":
                    line = b"\n" + line  # behind a line that was torn
                if os.write(handle, line) < len(line):
                    raise OSError(28, os.strerror(28), str(file))
                os.fsync(handle)
            except OSError:
                os.ftruncate(handle, size)
                raise
        finally:
            os.close(handle)
        if is_new:
            sync(file.parent)
