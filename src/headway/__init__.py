"""Parallel text in, a translator of your own out.

>>> import headway
>>> run = headway.train(source="a.en", target="a.de", out="runs/x")
>>> headway.Translator.load("runs/x").translate(["A dog runs."], beam=5)

Importing this package loads nothing heavy; torch comes with the first name that needs it.
"""

import importlib
from typing import TYPE_CHECKING, Any

from headway.version import __version__

if TYPE_CHECKING:
    from headway.api import train
    from headway.inspection.api import inspect
    from headway.language_model import TrainedLanguageModel
    from headway.translator import Translator
    from headway.workflow.calls import translate_files

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
    "TrainedLanguageModel": "headway.language_model",
    "Translator": "headway.translator",
    "translate_files": "headway.workflow.calls",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'headway' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
