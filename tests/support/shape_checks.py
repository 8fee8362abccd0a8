"""The type checker that the suite lays over every function of headway."""

from typing import Any, Self, TypeVar

from beartype import beartype

T = TypeVar("T")

SHAPED = (
    *("core", "nn", "decoding", "metrics", "models", "earlier_translators", "language_models"),
    *("translation", "translator", "runs", "tasks", "exchange", "study"),
    "inspection",
    *("labelling", "masked_language_models", "classification", "tagging", "images"),
    *(f"operations.{name}" for name in ("recovery", "time_budget", "frozen", "acceleration")),
    "engine.shortlist",
    *(f"word2vec.{name}" for name in ("model", "plain", "predicting")),
    *(f"vectors.{name}" for name in ("contextual", "embedded_files", "evaluation", "in_play")),
    *(f"vectors.{name}" for name in ("map_page", "map_picture", "word_map")),
)
"""The parts of the package whose functions are checked: all that say shapes, and more; but for the
files of `vectors` that answer in 0.3 s and therefore load what says shapes for types alone."""


def checked(thing: T) -> T:
    """`beartype`, but `Self` may be anything: a method decorated on its own cannot know it."""
    annotations = getattr(thing, "__annotations__", {})
    if not isinstance(thing, type) and Self in annotations.values():
        thing.__annotations__ = {
            name: Any if annotation is Self else annotation
            for name, annotation in annotations.items()
        }
    return beartype(thing)
