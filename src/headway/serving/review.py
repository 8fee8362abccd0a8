"""Review of a file: its units, what a person makes of them, and the file written back with that."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from headway.core.cleaning import clean
from headway.core.errors import HeadwayError
from headway.filling.judging import RunChecks, side_by_side
from headway.filling.report import row_of
from headway.localization.checks.code_signs import odd_codes
from headway.localization.formats.units import Flag
from headway.localization.placeholders.segments import Segment, as_segment
from headway.serving.bodies import UnitEditBody
from headway.serving.corrections import KeptCorrection
from headway.serving.requests import RefusedError, ServedPair
from headway.serving.service import Service
from headway.serving.uploaded_documents import ReviewState, UploadedDocument

AT_ONCE = 4
"""Edits that are looked at."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_SENT = ("line", "key", "source", "origin", "percent", "confidence")


class Reviews:
    """What people make of the units of documents."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._threads: anyio.CapacityLimiter | None = None

    def units(self, document: UploadedDocument) -> list[dict[str, Any]]:
        """Each unit as JSON, in the order of the file.

        Raises RefusedError where the document is not one to be reviewed, or not finished.
        """
        state = _state(document)
        return [_unit(n, state) for n in range(len(state.outcomes))]

    async def edit(
        self, document: UploadedDocument, edits: Sequence[UnitEditBody]
    ) -> list[dict[str, Any]]:
        """Take up what a person says of some units; the units as they are then. The file has it
        when it is fetched next.

        A blank text leaves its unit as it is in the file. What else is accepted is kept as a
        correction, until it is taken back; where it lacks a placeholder of its source, or has one
        more, it is flagged and holds for this file alone. Raises RefusedError: there is no such
        unit, it lacks a code of the file's own (`<b>`), or the file cannot hold it; then nothing is
        taken up.
        """
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(AT_ONCE)
        work = partial(self._edit, document, edits)
        return await anyio.to_thread.run_sync(work, limiter=self._threads)

    def _edit(
        self, document: UploadedDocument, edits: Sequence[UnitEditBody]
    ) -> list[dict[str, Any]]:
        state = _state(document)
        numbers = list(dict.fromkeys(edit.id for edit in edits))
        with state.lock:
            before, said, flags = state.said, dict(state.said), dict(state.flags)
            for edit in edits:
                if edit.id >= len(state.outcomes):
                    raise RefusedError("bad", f"there is no unit with the id {edit.id}")
                said.pop(edit.id, None)
                if edit.accepted:
                    said[edit.id] = _segment(state, edit)
            state.said, state.is_written = said, False
            try:
                odd = self._judge(document, state, numbers)
                self._keep(document, state, before, numbers, odd)
            except BaseException:
                state.said, state.flags = before, flags
                raise
        return [_unit(n, state) for n in numbers]

    def _keep(
        self,
        document: UploadedDocument,
        state: ReviewState,
        before: Mapping[int, Segment | None],
        numbers: Sequence[int],
        odd: Collection[int],
    ) -> None:
        """Have corrections be those of now in the place of those before; all or nothing."""
        if (corrections := self.service.known.corrections) is None:
            return
        pair, tag = ServedPair(*document.languages[:2]), document.tag
        withdrawn = _corrections(state, before, numbers)
        approved = [n for n in numbers if n not in odd]
        corrections.withdraw(pair, withdrawn, tag)
        try:
            corrections.add_all(pair, _corrections(state, state.said, approved), tag)
        except HeadwayError:
            with suppress(HeadwayError):
                corrections.add_all(pair, withdrawn, tag)
            raise

    def _judge(
        self, document: UploadedDocument, state: ReviewState, numbers: Sequence[int]
    ) -> set[int]:
        """Look at what people approved, at what they wrote as at every translation; the numbers of
        those whose codes are not those of their source, however many training pairs lack some."""
        source, target, _ = document.languages
        runs = self.service.runs
        with runs.using(runs.of(source, target)) as translator:
            checks = RunChecks(translator.checker, target)
        odd = set[int]()
        for n in numbers:
            made, said = state.outcomes[n], state.said.get(n)
            state.flags.pop(n, None)
            if said is None:
                continue
            flags = checks.judge(replace(made, segment=said)).flags if said != made.segment else ()
            for ours, theirs in side_by_side(made, said, target):
                n_odd, why = odd_codes(ours.text, theirs.text, checks.checker.own)
                if n_odd and n not in odd:
                    odd.add(n)
                    flags = (Flag("code", 1.0, why), *(one for one in flags if one.name != "code"))
            state.flags[n] = tuple(flags)
        return odd


def _state(document: UploadedDocument) -> ReviewState:
    if document.status == "error":
        raise RefusedError("bad", document.error)
    if not document.reviewed:
        raise RefusedError("bad", "this document was not sent to be reviewed")
    if document.review is None or not document.finished:
        raise RefusedError("late", "the document is not finished yet", retry_after_s=1)
    return document.review


def _segment(state: ReviewState, edit: UnitEditBody) -> Segment | None:
    """What a unit is to have, None to leave it; raises RefusedError where a file could not hold it.
    Units are counted from 1, as people see them."""
    made = state.outcomes[edit.id]
    source, name = made.unit.source, f"unit {edit.id + 1}"
    if edit.target is None:
        if made.target is None:
            raise RefusedError("bad", f"{name}: nothing was made of it that could be accepted")
        return made.target
    text = edit.target
    if _CONTROLS.search(text):
        raise RefusedError("bad", f"{name}: control characters do not belong in a text")
    if not clean(text):
        return None
    if made.target is not None and text == made.target.text:
        return made.target
    segment = as_segment(text, source)
    if lost := Counter(source.codes) - Counter(segment.codes):
        raise RefusedError("bad", f"{name}: {next(iter(lost)).text} of the source is missing")
    if not state.can_hold(segment):
        raise RefusedError("bad", f"{name}: the file's encoding lacks some of its characters")
    return segment


def _corrections(
    state: ReviewState, said: Mapping[int, Segment | None], numbers: Sequence[int]
) -> list[KeptCorrection]:
    """What was said of these units, each with its key."""
    units = {n: state.outcomes[n].unit for n in numbers}
    return [
        KeptCorrection(unit.source.text, one.text, unit.key)
        for n, unit in units.items()
        if (one := said.get(n)) is not None
    ]


def _unit(number: int, state: ReviewState) -> dict[str, Any]:
    row, said = row_of(state.outcomes[number], state.longest), state.said.get(number)
    name, target, flags = "open", row["target"], state.flags.get(number, ())
    told = [flag._asdict() for flag in flags]
    if number in state.said:
        target = "" if said is None else said.text
        name = "left" if said is None else "accepted" if target == row["target"] else "edited"
    if target == row["target"]:
        told += [one for one in row["reasons"] if one["name"] not in {flag.name for flag in flags}]
    near = [{**one, "place": Path(one["place"]).name} for one in row["near"]]
    return {
        "id": number,
        **{name: row[name] for name in _SENT},
        "near": near,
        "output": row["target"],
        "target": target,
        "state": name,
        "flags": told,
    }
