"""Everything that a pair can be found to have, by name: what `--drop` may be given."""

from headway.data.doctor import accents, agreement, belonging, characters, leftovers
from headway.data.doctor.findings import Symptom
from headway.data.doctor.languages import OTHER_LANGUAGE
from headway.data.doctor.repeats import NEAR_DUPLICATE, NEAR_LEAKAGE, TRANSLATED_TWICE
from headway.data.doctor.sides import EXCHANGED, SAME_SIDE
from headway.data.doctor.writing import WRONG_SCRIPT
from headway.text.reasons import NOTICED, REASONS

_SYMPTOMS: tuple[Symptom, ...] = (
    *belonging.SYMPTOMS,
    *accents.SYMPTOMS,
    *characters.SYMPTOMS,
    *agreement.SYMPTOMS,
    *leftovers.SYMPTOMS,
    *(OTHER_LANGUAGE, WRONG_SCRIPT, EXCHANGED, SAME_SIDE),
    *(NEAR_DUPLICATE, TRANSLATED_TWICE, NEAR_LEAKAGE),
)
_NOT_OF_FILES = frozenset(("held_out", "no_tokens", "too_many_tokens", "header"))


def droppable() -> dict[str, str]:
    """Findings and reasons, by name: what each means in words."""
    found = {symptom.name: symptom.title for symptom in _SYMPTOMS}
    found["misaligned"] = "stretches in which the sides are shifted"
    found["doubtful_note"] = NOTICED["doubtful_note"]
    return found | {name: words for name, words in REASONS.items() if name not in _NOT_OF_FILES}
