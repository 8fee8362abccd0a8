"""How far a translation in an XLIFF file has come: what its states mean, and those we write."""

from headway.localization.placeholders.segments import EXACT

_NOT_YET_TRANSLATED = frozenset(("new", "needs-translation", "initial", "NotStarted"))
_NOT_TRUSTED = _NOT_YET_TRANSLATED | frozenset(
    "needs-adaptation needs-l10n needs-work rejected "
    "Draft RejectedTranslation RejectedSignOff Unspecified "  # sdlxliff
    "PartiallyEdited Pretranslated AssembledFromFragments MachineTranslated Rejected".split()
)  # mqxliff
_FINISHED = frozenset(("translated", "signed-off", "final"))
_REVIEWED = frozenset(("reviewed", "final"))
_SUGGESTED = frozenset(
    "fuzzy-match mt-suggestion rejected-grammar rejected-inaccurate rejected-length "
    "rejected-spelling".split()
)
MADE_BY_MACHINE = "headway:machine-translated"
"""The `subState` of a segment (2.x) that nobody has gone over yet."""
_FUZZY = "headway:fuzzy-match"
_EXACT = "headway:exact-match"


def not_yet_translated(state: str | None) -> bool:
    """Whether a state says that what stands there is still to be translated."""
    return state in _NOT_YET_TRANSLATED


def is_trusted(state: str | None, qualifier: str | None, sub_state: str, *, approved: bool) -> bool:
    """Nothing says that the translation is provisional, rejected, or that of another text.

    `needs-review-translation` and its like are trusted: there is a translation, which somebody
    else is to check. A suggestion (`state-qualifier`) is one no longer when it is approved or in a
    finished state. A state that is not known says nothing.
    """
    if state in _NOT_TRUSTED:
        return False
    if sub_state in (MADE_BY_MACHINE, _FUZZY):
        return state in _REVIEWED
    return qualifier not in _SUGGESTED or state in _FINISHED or approved


def of_target(percent: int | None) -> dict[str, str]:
    """Attributes of a new `target` (1.x): by a machine, or a match of so many percent."""
    if percent == EXACT:
        return {"state": "translated", "state-qualifier": "exact-match"}
    qualifier = "mt-suggestion" if percent is None else "fuzzy-match"
    return {"state": "needs-review-translation", "state-qualifier": qualifier}


def of_segment(percent: int | None) -> dict[str, str]:
    """Attributes of a `segment` (2.x) with a new target."""
    near = MADE_BY_MACHINE if percent is None else _FUZZY
    return {"state": "translated", "subState": _EXACT if percent == EXACT else near}


def of_studio(percent: int | None) -> dict[str, str]:
    """Attributes of a `sdl:seg` with a new translation; a person has to confirm it."""
    machine = {"conf": "Draft", "origin": "mt", "origin-system": "headway"}
    if percent is None:
        return machine
    return machine | {"origin": "tm", "percent": str(percent)}


def of_memoq(percent: int | None) -> dict[str, str]:
    """Attributes of a `trans-unit` of memoQ, without their prefix."""
    return {"status": "Pretranslated", "percent": str(percent or 0)}
