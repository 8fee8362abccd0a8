"""Settings of a run that goes on: from another's weights, or from where it was stopped."""

from collections.abc import Mapping
from typing import Any

from headway.config import Sections, merge
from headway.errors import ConfigError
from headway.runs.kind import Kind
from headway.runs.parent import Parent
from headway.runs.settings import Settings
from headway.tasks.translation.fitting import TUNED_RATE
from headway.tasks.translation.pairs import TranslationData
from headway.text.corpora import languages
from headway.text.languages import same_language
from headway.text.mixing import parse_pairs_file

FREE = {"text": {"sample_lines"}, "model": {"dropout", "attention_dropout", "activation_dropout"}}
"""What another run's weights do not depend on."""
INHERITED_TRAINING = ("batch_tokens", "label_smoothing", "clip_norm", "average", "valid_sentences")


def inherited(kind: Kind, parent: Parent, given: Sections) -> Sections:
    """What the user gave, on top of what the parent has.

    Vocabulary, text settings and shape are the parent's, and so are how it searches and the size of
    its batches. The learning rate is a third of the parent's, or the same if that was tuned itself;
    it falls in a straight line.

    Raises:
        ConfigError: what was given contradicts the vocabulary, text settings or shape.
    """
    before = Settings.of_run(parent.folder, kind)
    stored = before.sections()
    training = {key: stored["training"][key] for key in INHERITED_TRAINING}
    factor = 1.0 if before.training.init_from else TUNED_RATE
    training["learning_rate"] = factor * before.training.learning_rate
    decoding = dict(stored["decoding"])
    if before.training.tune_length_penalty:
        del decoding["length_penalty"]  # it is found again, on the new text
    base = {
        "text": stored["text"],
        "data": {
            "max_length": before.data.max_length,
            "tags": before.data.tags or ("",),
            **direction(before.data, Settings.of(given, kind).data),
        },
        "model": stored["model"],
        "training": training,
        "decoding": decoding,
    }
    sections = merge(base, given)
    refuse_contradictions(parent, stored, Settings.of(sections, kind).sections())
    return sections


def direction(before: TranslationData, now: TranslationData) -> dict[str, str | None]:
    """The parent's languages for files that hold both sides, unless they hold other languages."""
    if now.source or now.source_language or now.target_language or not now.pairs:
        return {}
    known = (before.source_language, before.target_language)
    for code in languages(now.corpus()):
        if code is not None and not any(same_language(code, wanted) for wanted in known):
            return {}
    return {"source_language": known[0], "target_language": known[1]}


def refuse_contradictions(parent: Parent, before: Sections, now: Sections) -> None:
    """Raise ConfigError where the vocabulary, the text settings or the shape would be others."""
    for section, free in FREE.items():
        for key, value in now[section].items():
            had = before[section].get(key)
            if value != had and key not in free:
                raise ConfigError(
                    "a run that begins with another's weights keeps its vocabulary, text settings "
                    f"and shape; [{section}] {key} is {had!r} in {parent.folder.path}, got "
                    f"{value!r}. Leave it out, or train without --init-from."
                )


def refuse_changed_uses(given: Mapping[str, Any], stored: Mapping[str, Any]) -> None:
    """Raise ConfigError when a resumed run is given other weights, tags or languages of files."""
    for key in ("pairs", "valid_pairs"):
        if not given.get(key):
            continue
        had = [parse_pairs_file(text)[1] for text in stored[key]]
        uses = [parse_pairs_file(text)[1] for text in given[key]]
        if uses != had:
            raise ConfigError(
                "A resumed run keeps the weights, tags and languages of its files; "
                f"--{key.replace('_', '-')} is {' '.join(stored[key])}, got "
                f"{' '.join(given[key])}. Leave it out, or start a new run."
            )
