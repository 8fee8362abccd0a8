"""Corrections by people: kept in a file for each pair of languages that a training takes, and in
memory, so that they hold at once."""

import json
import os
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from headway.core.cleaning import clean
from headway.core.disk import disk_errors, sync, write_bytes
from headway.core.lines import MAX_LINE_BYTES, bounded_lines
from headway.corpora.mixing import check_tag
from headway.localization.formats.tables import json_object
from headway.operations.locks import only_writer_of_folder
from headway.serving.requests import RefusedError, ServedPair

_CODE = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,4}")


class Corrections:
    """A folder of them, `corrections.en-de.jsonl` for each pair, `corrections.en-de.TAG.jsonl` for
    what is asked for by a run's tag: lines are added, and one is on the disk before anybody hears
    that it is kept; one that is withdrawn goes. `headway train --init-from RUN --pairs FILE` learns
    from such a file. Safe to be used by many threads, and by one process."""

    def __init__(self, folder: Path, say: Callable[[str], None] = lambda _: None) -> None:
        """Raises DiskError: it cannot be written to; TakenError: another process has it."""
        self.folder, self._lock = folder, threading.Lock()
        self._held, self._known = ExitStack(), dict[tuple[ServedPair, str], dict[str, str]]()
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
        self.add_all(pair, {source_text: target_text}, tag)

    def add_all(self, pair: ServedPair, targets: Mapping[str, str], tag: str = "") -> None:
        """Keep what a person wrote, by the texts that it translates; it holds from now on, in the
        place of earlier corrections of the same texts.

        Raises:
            RefusedError: one side is blank, or they are too long for a line of such a file.
            DiskError: it could not be written, and nothing of it is kept.
        """
        lines = b"".join(_line(source, target) for source, target in targets.items())
        file = self.file_of(pair, tag)
        if not lines:
            return
        with self._lock:
            known = self._of(pair, tag)
            _append(file, lines)
            known |= {clean(source): target for source, target in targets.items()}

    def withdraw(self, pair: ServedPair, targets: Mapping[str, str]) -> None:
        """Take corrections back, by the texts that they translate, as far as they still hold: the
        file is written anew without any of these texts.

        Raises DiskError: it could not be written, and all stays as it was.
        """
        file = self.file_of(pair)
        with self._lock:
            known = self._of(pair)
            gone = {clean(text) for text, it in targets.items() if known.get(clean(text)) == it}
            if not gone:
                return
            left = {text: target for text, target in known.items() if text not in gone}
            write_bytes(file, b"".join(_line(*one) for one in left.items()))
            self._known[pair, ""] = left

    def exact(self, pair: ServedPair, text: str, tag: str = "") -> str | None:
        """The newest correction of this very text, white space around it aside."""
        known = self._known.get((pair, tag))
        if known is None and (not tag or os.path.exists(self.file_of(pair, tag))):
            with self._lock:
                known = self._of(pair, tag)
        return known.get(clean(text)) if known else None

    def count(self, pair: ServedPair) -> int:
        """Texts that there are corrections of."""
        with self._lock:
            return len(self._of(pair))

    def _of(self, pair: ServedPair, tag: str = "") -> dict[str, str]:
        """What is known of a pair, read when it is first asked for."""
        if (pair, tag) not in self._known:
            found: dict[str, str] = {}
            file = self.file_of(pair, tag)
            if file.exists():
                n_odd = _read(file, found)
                if n_odd:
                    self._say(f"{file} has {n_odd:,} lines that are no corrections: left out")
            self._known[pair, tag] = found
        return self._known[pair, tag]


def _line(source_text: str, target_text: str) -> bytes:
    if not clean(source_text) or not clean(target_text):
        raise RefusedError("bad", "a correction is a text and its translation; one is blank")
    entry = {"source": source_text, "target": target_text}
    line = json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    if len(line) > MAX_LINE_BYTES:
        raise RefusedError("too_long", "a correction is a text of a few paragraphs at most")
    return line


def _read(file: Path, found: dict[str, str]) -> int:
    """Take in all lines, later ones in the place of earlier ones; how many are none: the last may
    be torn, where the power was lost."""
    n_odd = 0
    with file.open("rb") as lines:
        for raw in bounded_lines(lines):
            entry = json_object((raw or b"").decode("utf-8", "replace")) or {}
            source, target = entry.get("source"), entry.get("target")
            if isinstance(source, str) and isinstance(target, str) and clean(source):
                found[clean(source)] = target
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
