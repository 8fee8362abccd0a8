"""Modules under the names that they had in earlier versions, as guides showed them."""

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType

MOVED = {
    "headway.errors": "headway.core.errors",
    "headway.language_model": "headway.language_models.trained",
    "headway.inspection.subject": "headway.inspection.inspected_model",
    "headway.text": "headway.localization",
    "headway.text.everyday": "headway.demo",
    "headway.text.everyday.senses": "headway.demo.paragraphs",
    "headway.text.formats": "headway.localization.formats",
    "headway.text.formats.segments": "headway.localization.placeholders.segments",
    "headway.text.memory": "headway.localization.memory",
    "headway.text.memory.building": "headway.localization.memory.building",
    "headway.text.memory.units": "headway.localization.memory.units",
    "headway.text.units": "headway.localization.formats.units",
}


class OldPaths(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a module of `MOVED` where it is now: the same object under both names."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`."""
        return importlib.machinery.ModuleSpec(name, self) if name in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        """Put the module that it is now in its place."""
        sys.modules[module.__name__] = importlib.import_module(MOVED[module.__name__])


sys.meta_path.append(OldPaths())
