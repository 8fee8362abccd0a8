"""The type checker that the suite lays over every function of headway."""

from functools import wraps
from typing import Any, Self, get_args

import numpy as np
from beartype import BeartypeConf, beartype
from beartype.door import die_if_unbearable
from jaxtyping import AbstractArray
from jaxtyping._storage import get_shape_memo, pop_shape_memo, push_shape_memo
from torch import Tensor

ARRAYS = (Tensor, np.ndarray)
FAULTS = BeartypeConf(violation_type=TypeError)
"""As Python says of a wrong type: in files of others headway takes it for what is wrong."""

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


def says_shapes(annotation: Any) -> bool:
    """Whether sizes are named anywhere in it."""
    if isinstance(annotation, type) and issubclass(annotation, AbstractArray):
        return True
    parts = annotation if isinstance(annotation, list) else get_args(annotation)
    return any(map(says_shapes, parts))


def kind(thing: Any) -> Any:
    """What an annotation may ask of it: of two of a kind either both fit or none. Of a list, where
    beartype looks at one element by chance, the first."""
    its = type(thing)
    if issubclass(its, ARRAYS):
        return its, thing.dtype, thing.shape
    if issubclass(its, tuple):
        return its, *[kind(one) for one in thing]
    if issubclass(its, list):
        return (its, kind(thing[0])) if thing else its
    return thing if issubclass(its, str) else its


def checked(thing: Any = None, *, typechecker: None = None) -> Any:
    """Stands in for `jaxtyping.jaxtyped`, which takes the arguments of each call apart to check
    them twice: beartype checks them once, and what is returned, in a memory of the sizes that the
    names of axes stand for, if there are any; and of each kind of arguments the first.

    `Self` may be anything: a method decorated on its own cannot know it; so may names that are
    imported for types alone.
    """
    if thing is None:
        return checked
    if isinstance(thing, type):
        if "__dataclass_fields__" in vars(thing):
            thing.__init__ = checked(thing.__init__)  # type: ignore[misc]
        return thing
    for name, annotation in thing.__annotations__.items():
        meant = annotation
        if isinstance(annotation, str):
            try:
                meant = eval(annotation, thing.__globals__)
            except NameError:
                meant = Any
        thing.__annotations__[name] = Any if meant is Self else meant
    if not any(map(says_shapes, thing.__annotations__.values())):
        return beartype(thing, conf=FAULTS)
    known: dict[Any, tuple[Any, set[Any]]] = {}
    returned = thing.__annotations__.get("return", Any)

    @beartype(conf=FAULTS)
    @wraps(thing)
    def at_first(*arguments: Any, **named: Any) -> Any:
        *sizes, kept = get_shape_memo()
        kept["sizes"] = [one.copy() for one in sizes]  # those of the arguments
        return thing(*arguments, **named)

    @wraps(thing)
    def with_sizes(*arguments: Any, **named: Any) -> Any:
        given = *[kind(one) for one in arguments], *[(one, kind(named[one])) for one in named]
        if given not in known:
            *_, kept = push_shape_memo({})
            try:
                found = at_first(*arguments, **named)
            finally:
                pop_shape_memo()
            known[given] = (kept["sizes"], {kind(found)})
            return found
        found = thing(*arguments, **named)
        sizes, kinds = known[given]
        if (its := kind(found)) not in kinds:
            for memory, its_sizes in zip(push_shape_memo({}), sizes, strict=False):
                memory.update(its_sizes)
            try:
                die_if_unbearable(found, returned, conf=FAULTS)
            finally:
                pop_shape_memo()
            kinds.add(its)
        return found

    return with_sizes
