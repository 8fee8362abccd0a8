"""The house has floors: a file imports only from lower ones, or from its own folder."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "headway"

FLOORS = {
    "errors": -1,  # open to all
    "version": -1,
    "runtime": 0,
    "argument_types": 0,
    "config": 0,
    "disk": 0,
    "pages": 0,
    "plots": 0,
    "locks": 1,
    "processes": 1,
    "text": 1,
    "data": 2,
    "nn": 3,
    "models": 4,
    "objectives": 5,
    "schedules": 5,
    "metrics": 5,
    "decoding": 5,
    "efficiency": 5,
    "exchange": 6,
    "native": 6,
    "training": 7,
    "runs": 8,
    "tasks": 9,
    "api": 10,
    "language_model": 10,
    "translator": 10,
    "comparison": 11,
    "inspection": 11,
    "serving": 11,
    "workflow": 11,
    "commands": 12,
    "cli": 13,
    "__main__": 14,
}
"""A file or folder directly below src/headway, and its floor."""

PAPER_IN_CODE = ("nn", "models")
"""These know no files, vocabularies, optimizers or settings formats."""


class Import(NamedTuple):
    file: Path
    line: int
    module: str
    """Absolute, the imported name appended: `from headway.nn import masks` is headway.nn.masks."""


def imports_of(root: Path) -> Iterator[Import]:
    """Every import of every file below `root` (the package), inside functions too."""
    for file in sorted(root.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in _walk_at_run_time(tree):
            for module in _imported(node, _package(root, file)):
                yield Import(file, getattr(node, "lineno", 0), module)


def _walk_at_run_time(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those below `if TYPE_CHECKING:`."""
    yield node
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        children = list(node.orelse)
    for child in children:
        yield from _walk_at_run_time(child)


def _package(root: Path, file: Path) -> list[str]:
    return [root.name, *file.parent.relative_to(root).parts]


def _imported(node: ast.AST, package: list[str]) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = package[: len(package) - node.level + 1] if node.level else []
        stem = [*base, *([node.module] if node.module else [])]
        return [".".join([*stem, alias.name]) for alias in node.names]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
        return [a.value for a in node.args if isinstance(a, ast.Constant) and type(a.value) is str]
    return []


def climbing_imports(root: Path) -> list[str]:
    """What breaks the rule, one line each."""
    wrong = []
    for file, line, module in imports_of(root):
        parts = module.split(".")
        if parts[0] != root.name:
            continue
        where = f"{file.relative_to(root)}:{line}"
        here = file.relative_to(root).parts[0].removesuffix(".py")
        there = parts[1] if len(parts) > 1 else "__version__"
        if here == "__init__" and there == "version":
            continue
        if here == "__init__":
            wrong.append(f"{where}: the package itself imports {module}; it must stay lazy")
        elif here not in FLOORS:
            wrong.append(f"{where}: {here!r} has no floor")
        elif there in ("__version__", here):
            continue
        elif there not in FLOORS:
            wrong.append(f"{where}: {module} has no floor")
        elif FLOORS[there] >= FLOORS[here]:
            wrong.append(f"{where}: {here} (floor {FLOORS[here]}) imports {module}")
    return wrong


def circles(root: Path) -> list[list[str]]:
    """Files that import each other in a ring, one list a ring; imports inside functions too."""
    names = {
        ".".join([root.name, *file.relative_to(root).with_suffix("").parts]).removesuffix(
            ".__init__"
        ): file
        for file in root.rglob("*.py")
    }
    own = {file: name for name, file in names.items()}
    after: dict[str, set[str]] = {name: set() for name in names}
    for file, _, module in imports_of(root):
        found = next((m for m in (module, module.rpartition(".")[0]) if m in names), root.name)
        if found not in (root.name, own[file]):
            after[own[file]].add(found)
    rings = []
    for name in after:
        reached, waiting = set(), [name]
        while waiting:
            for other in after[waiting.pop()] - reached:
                reached.add(other)
                waiting.append(other)
        if name in reached:
            rings.append(sorted(reached))
    return [ring for number, ring in enumerate(rings) if ring not in rings[:number]]


def test_no_files_import_each_other_in_a_circle() -> None:
    assert circles(SOURCE) == []


def test_a_circle_is_found_also_where_one_import_waits_in_a_function(tmp_path: Path) -> None:
    root = tmp_path / "headway"
    (root / "nn").mkdir(parents=True)
    (root / "nn" / "a.py").write_text("from headway.nn.b import f\n", encoding="utf-8")
    (root / "nn" / "b.py").write_text("from headway.nn import c\n", encoding="utf-8")
    (root / "nn" / "c.py").write_text("import math\n", encoding="utf-8")
    assert circles(root) == []
    (root / "nn" / "c.py").write_text("def late():\n    import headway.nn.a\n", encoding="utf-8")
    assert circles(root) == [["headway.nn.a", "headway.nn.b", "headway.nn.c"]]


def test_no_file_imports_from_its_own_floor_or_a_higher_one() -> None:
    assert climbing_imports(SOURCE) == []


@pytest.mark.parametrize("folder", ["text", "data", "errors", "config", "disk"])
def test_text_and_settings_need_no_torch(folder: str) -> None:
    for file, line, module in imports_of(SOURCE):
        if file.relative_to(SOURCE).parts[0].removesuffix(".py") == folder:
            assert module.split(".")[0] != "torch", f"{file}:{line}"


@pytest.mark.parametrize("folder", PAPER_IN_CODE)
def test_models_know_no_files_settings_or_optimizers(folder: str) -> None:
    forbidden = {"headway.text", "headway.data", "headway.core.config", "headway.core.runtime"}
    for file, line, module in imports_of(SOURCE):
        if file.relative_to(SOURCE).parts[0] == folder:
            assert ".".join(module.split(".")[:2]) not in {*forbidden, "torch.optim"}, (
                f"{file}:{line}"
            )


@pytest.mark.parametrize(
    "line",
    [
        "import headway.core.trainer",
        "import headway.core.trainer as loop",
        "from headway import training",
        "from headway.training import loop",
        "from headway.core.trainer import fit",
        "from ..training import loop",
        "from .. import training",
        "from ..training.loop import fit",
        "def late():\n    from headway.training import loop",
        "class A:\n    def late(self):\n        import headway.training",
        "try:\n    import headway.training\nexcept ImportError:\n    pass",
        "import importlib\nimportlib.import_module('headway.core.trainer')",
        "from headway.decoding import beam",  # not higher than training, but than nn
        "import headway.attic",  # no such floor
    ],
)
def test_an_import_that_climbs_is_found(tmp_path: Path, line: str) -> None:
    root = tmp_path / "headway"
    (root / "nn").mkdir(parents=True)
    (root / "nn" / "masks.py").write_text("import math\n", encoding="utf-8")
    assert climbing_imports(root) == []
    (root / "nn" / "attention.py").write_text(line + "\n", encoding="utf-8")
    assert len(climbing_imports(root)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "from headway.nn.masks import causal",
        "from .masks import causal",
        "from . import masks",
        "from headway.core.errors import ConfigError",
        "from headway import __version__",
        "import torch",
        "if TYPE_CHECKING:\n    from headway.training import loop",
    ],
)
def test_an_import_from_below_or_from_the_same_folder_is_allowed(tmp_path: Path, line: str) -> None:
    root = tmp_path / "headway"
    (root / "nn").mkdir(parents=True)
    (root / "nn" / "attention.py").write_text(line + "\n", encoding="utf-8")
    assert climbing_imports(root) == []


def test_a_folder_without_a_floor_and_an_eager_package_are_found(tmp_path: Path) -> None:
    root = tmp_path / "headway"
    (root / "attic").mkdir(parents=True)
    (root / "attic" / "a.py").write_text("import headway.nn\n", encoding="utf-8")
    (root / "__init__.py").write_text("from headway.api import train\n", encoding="utf-8")
    assert len(climbing_imports(root)) == 2
