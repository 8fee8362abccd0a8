"""Settings of a run that goes on from another's weights."""

from typing import Any

from headway.core.cleaning import LEAST_PAIRS
from headway.core.config import Sections, merge
from headway.core.errors import ConfigError
from headway.core.settings import Settings
from headway.corpora.cache import silent
from headway.corpora.corpus import languages
from headway.languages.codes import same_language
from headway.runs.parent import (
    FREE_OF_MODEL,
    Parent,
    refuse_contradictions,
    refuse_other_type,
    tuned_rate,
)
from headway.runs.task_spec import Say, TaskSpec
from headway.translation import tuning_data
from headway.translation.fitting import HELD_BACK
from headway.translation.pairs import TranslationData

FREE = {"text": {"sample_lines", "own_codes"}, "model": FREE_OF_MODEL}
"""What another run's weights do not depend on."""
INHERITED_TRAINING = ("batch_tokens", "label_smoothing", "clip_norm", "average", "valid_sentences")


def inherited(spec: TaskSpec, parent: Parent, given: Sections, say: Say = silent) -> Sections:
    """What the user gave, on top of what the parent has.

    Vocabulary, text settings and shape are the parent's, and so are how it searches and the size of
    its batches. The learning rate is a third of the parent's, or the same if that was tuned itself;
    it falls in a straight line. The parent's data are seen again (`tuning_data.with_old_pairs`);
    where they are gone, the rate is lower still, and that is said. So it is for few new pairs.

    Raises:
        ConfigError: what was given contradicts the vocabulary, text settings or shape, or asks for
            data that are not there.
    """
    before = Settings.of_run(parent.folder, spec)
    stored = before.sections()
    training = {key: stored["training"][key] for key in INHERITED_TRAINING}
    training["learning_rate"] = tuned_rate(before)
    now = Settings.of(given, spec)
    refuse_other_type(parent, before, given)
    why_not, gone = nothing_to_mix_in(parent, before, now)
    if why_not:
        if now.data.old_share:
            raise ConfigError(
                f"--old-share mixes in the training pairs of {parent.folder.path}; {why_not}. "
                "Change that, or leave --old-share out."
            )
        say(f"nothing of what {parent.folder.path} learned from is mixed in: {why_not}")
    held_back = gone or (not why_not and tuning_data.are_few(now.data))
    if held_back and "learning_rate" not in given.get("training", {}):
        training |= {"learning_rate": HELD_BACK * tuned_rate(before), "held_back": HELD_BACK}
    if gone:
        if now.data.validation() is None and tuning_data.are_few(now.data):
            raise ConfigError(
                f"fewer than {2 * LEAST_PAIRS} new pairs are learned together with the "
                f"training pairs of {parent.folder.path}; {why_not}. Put those files back where "
                f"they were, or give {2 * LEAST_PAIRS} new pairs or more."
            )
        say(
            "WARNING: what the model forgets can be neither held nor measured. The learning rate "
            "is lower; a test set of your own tells more: headway evaluate"
        )
    decoding = dict(stored["decoding"])
    if before.training.tune_length_penalty:
        del decoding["length_penalty"]  # it is found again, on the new text
    # The share that is wanted: of the one that comes out, other weights would come on --resume.
    old: dict[str, Any] = {"old_run": str(parent.folder.path), "old_share": tuning_data.OLD_SHARE}
    base = {
        "text": stored["text"],
        "data": {
            "max_length": before.data.max_length,
            "tags": before.data.tags or ("",),
            **direction(before.data, now.data),
            **({"glossary": (parent.folder.glossary,)} if before.data.glossary else {}),
            **({"old_share": 0.0} if why_not else old),
        },
        "model": stored["model"],
        "training": training,
        "decoding": decoding,
    }
    sections = merge(base, given)
    refuse_contradictions(parent, stored, Settings.of(sections, spec).sections(), FREE)
    return sections


def nothing_to_mix_in(parent: Parent, before: Settings, now: Settings) -> tuple[str, bool]:
    """Why nothing of the parent's data is seen again, if so, in words; and whether it is gone."""
    if now.training.reinit:
        return "parts of the model are drawn anew (--reinit)", False
    given = now.data.corpus()
    codes = languages(given) if given.parts else (None, None)
    known = before.data.source_language, before.data.target_language
    for code, own in zip(codes, known, strict=True):
        if code and own and not same_language(code, own):
            return f"it translates {known[0]} -> {known[1]}, this {codes[0]} -> {codes[1]}", False
    why = tuning_data.missing(parent.folder)
    return why, bool(why)


def direction(before: TranslationData, now: TranslationData) -> dict[str, str | None]:
    """The parent's languages for files that hold both sides, unless they hold other languages."""
    if now.source or now.source_language or now.target_language or not now.pairs:
        return {}
    known = (before.source_language, before.target_language)
    for code in languages(now.corpus()):
        if code is not None and not any(same_language(code, wanted) for wanted in known):
            return {}
    return {"source_language": known[0], "target_language": known[1]}
