"""Parallel text in, a translator of your own out.

>>> import headway
>>> run = headway.train(source="a.en", target="a.de", out="runs/x")
>>> headway.Translator.load("runs/x").translate(["A dog runs."], beam=5)

Importing this package loads nothing heavy; torch comes with the first name that needs it.
"""

import importlib
from typing import TYPE_CHECKING, Any

from headway import old_paths  # noqa: F401
from headway.version import __version__

if TYPE_CHECKING:
    from headway.api import train
    from headway.filling.calls import translate_files
    from headway.inspection.api import inspect
    from headway.language_models.trained import TrainedLanguageModel
    from headway.translator import Translator

__all__ = [
    "TrainedLanguageModel",
    "Translator",
    "__version__",
    "inspect",
    "train",
    "translate_files",
]

_HOMES = {
    "inspect": "headway.inspection.api",
    "train": "headway.api",
    "TrainedLanguageModel": "headway.language_models.trained",
    "Translator": "headway.translator",
    "translate_files": "headway.filling.calls",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'headway' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
