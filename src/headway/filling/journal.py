"""What is done of a call so far, so that the same call goes on after an interrupt."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

from headway.core.disk import checksum, disk_errors
from headway.filling.inputs import FileJob
from headway.filling.report import FileReport
from headway.localization.formats.units import Outcome, Unit

NAME = ".headway-unfinished.jsonl"


class Journal:
    """Lines of JSON beside the results; it is gone once all of them are there.

    The first line says how is translated: a journal of another way is thrown away. A file that has
    changed since is done again.
    """

    def __init__(self, path: Path | None, how: str) -> None:
        """No path: nothing is noted."""
        self._path, self._how = path, how
        self._reports: dict[str, FileReport] = {}
        self._outcomes: dict[str, list[Outcome]] = {}
        self._checksums: dict[tuple[Path, int, int, int], str] = {}
        if self._path is not None and self._path.exists():
            self._read(self._path)

    def finished(self, job: FileJob) -> FileReport | None:
        """What was told of a file whose result is there; None if it is to be done."""
        found = self._reports.get(self._name(job)) if self._reports else None
        return found if found is not None and job.out is not None and job.out.exists() else None

    def begun(self, job: FileJob, units: Sequence[Unit]) -> list[Outcome]:
        """What was made of the first units of a file."""
        noted = self._outcomes.get(self._name(job), []) if self._outcomes else []
        return [
            replace(made, unit=unit, evidence=()) for unit, made in zip(units, noted, strict=False)
        ]

    def note_finished(self, job: FileJob, report: FileReport) -> None:
        """Write down that the result of a file is where it belongs."""
        self._add(job, {"report": asdict(report)})

    def note_begun(self, job: FileJob, outcomes: Sequence[Outcome]) -> None:
        """Write down what was made of the next units of a file."""
        self._add(job, {"outcomes": _outcomes().dump_python(list(outcomes), mode="json")})

    def remove(self) -> None:
        if self._path is not None:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)

    def _add(self, job: FileJob, entry: dict[str, Any]) -> None:
        if self._path is None:
            return
        with disk_errors(self._path), self._path.open("a", encoding="utf-8") as file:
            if not file.tell():
                file.write(json.dumps({"how": self._how}))
            file.write("\n" + json.dumps({"of": self._name(job), **entry}))

    def _name(self, job: FileJob) -> str:
        """A file as it is now, what it completes, and its result."""
        out = "" if job.out is None else os.path.abspath(job.out)
        onto = "" if job.onto is None else self._checksum(job.onto)
        return f"{os.path.realpath(job.file)}\0{self._checksum(job.file)}\0{onto}\0{out}"

    def _checksum(self, path: Path) -> str:
        """Of the file as it is now; one that stays is read once, however often it is noted."""
        now = path.stat()
        state = path, now.st_ino, now.st_size, now.st_mtime_ns
        if state not in self._checksums:
            self._checksums[state] = checksum(path)
        return self._checksums[state]

    def _read(self, path: Path) -> None:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        entries = []
        for line in lines:
            with suppress(ValueError):  # a line that was cut off
                entries.append(json.loads(line))
        if not entries or not isinstance(entries[0], dict) or entries[0].get("how") != self._how:
            path.unlink()
            return
        for entry in entries[1:]:
            with suppress(TypeError, KeyError, ValueError):
                if "report" in entry:
                    self._reports[entry["of"]] = FileReport(**entry["report"])
                else:
                    made = _outcomes().validate_python(entry["outcomes"])
                    self._outcomes.setdefault(entry["of"], []).extend(made)


@cache
def _outcomes() -> Any:
    """Outcomes as JSON and back."""
    from pydantic import TypeAdapter

    return TypeAdapter(list[Outcome])
