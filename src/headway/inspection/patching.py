"""An attribute that is another for a while."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def patched(thing: Any, name: str, value: Any) -> Iterator[None]:
    """While it is open, `thing.name` is `value`; behind it all is as it was, a method too."""
    own = name in vars(thing)
    before = getattr(thing, name)
    setattr(thing, name, value)
    try:
        yield
    finally:
        if own:
            setattr(thing, name, before)
        else:
            delattr(thing, name)
