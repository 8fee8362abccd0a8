"""Modules under the names that they had in earlier versions, as guides showed them."""

import importlib
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any, cast

MOVED = {
    "headway.errors": "headway.core.errors",
    "headway.language_model": "headway.language_models.trained",
    "headway.inspection.subject": "headway.inspection.inspected_model",
    "headway.text.everyday": "headway.demo",
    "headway.text.formats.segments": "headway.localization.placeholders.segments",
    "headway.text.memory.building": "headway.localization.memory.building",
    "headway.text.memory.units": "headway.localization.memory.units",
    "headway.text.units": "headway.localization.formats.units",
}
PACKAGES = ("headway.text", "headway.text.formats", "headway.text.memory")
"""What some of them stood in: empty, so that none is found a second time."""


class OldPaths:
    """Finds a module of `MOVED` where it is now: the same object under both names."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`: importing that takes longer than all of this."""
        if name not in (*MOVED, *PACKAGES):
            return None
        return importlib.machinery.ModuleSpec(name, cast(Any, self), is_package=name in PACKAGES)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """As any other."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the module that it is now in its place."""
        if name := MOVED.get(module.__name__):
            sys.modules[module.__name__] = importlib.import_module(name)


sys.meta_path.append(OldPaths())
