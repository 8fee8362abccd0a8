"""A core that stands by itself, and packages in one order."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "headway"

ORDER = """
    version old_paths core pages plots
    operations languages tokenizers
    localization.placeholders localization.formats
    nn decoding metrics corpora
    localization.memory localization.terms localization.checks localization.places
    demo engine exchange vectors runs tasks distributed
    earlier_translators models translation language_models word2vec
    labelling masked_language_models classification tagging images
    translator api
    doctor study inspection filling serving bulk large_corpora
    commands cli __main__
""".split()
"""Packages and files directly below src/headway (of localization: its rooms). A file imports from
its own package and from those that stand before it; imports for types count."""

WITHOUT_TORCH = ("localization", "corpora", "languages", "tokenizers", "doctor", "demo", "vectors")


class Import(NamedTuple):
    file: Path
    line: int
    module: str
    """Absolute, the imported name appended: `from headway.nn import masks` is headway.nn.masks."""


def imports_of(root: Path) -> Iterator[Import]:
    """Every import of every file below `root` (the package): in functions and for types too."""
    for file in sorted(root.rglob("*.py")):
        package = root.name, *file.parent.relative_to(root).parts
        for line, module in _imports(file.read_text(encoding="utf-8"), package):
            yield Import(file, line, module)


@cache
def _imports(text: str, package: tuple[str, ...]) -> list[tuple[int, str]]:
    return [
        (getattr(node, "lineno", 0), module)
        for node in (ast.walk if "import_module" in text else _statements)(ast.parse(text))
        for module in _imported(node, package)
    ]


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Every statement below it, without the expressions, which are most of a file."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield child
            yield from _statements(child)


def _imported(node: ast.AST, package: tuple[str, ...]) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = package[: len(package) - node.level + 1] if node.level else []
        stem = [*base, *([node.module] if node.module else [])]
        return [".".join([*stem, alias.name]) for alias in node.names]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
        return [a.value for a in node.args if isinstance(a, ast.Constant) and type(a.value) is str]
    return []


def room(parts: tuple[str, ...] | list[str]) -> str:
    """The entry of `ORDER` that a path or module below headway belongs to."""
    first = parts[0].removesuffix(".py")
    return f"{first}.{parts[1].removesuffix('.py')}" if first == "localization" else first


def climbing_imports(root: Path) -> list[str]:
    """What breaks the order, one line each."""
    wrong = []
    for file, line, module in imports_of(root):
        parts = module.split(".")
        if parts[0] != root.name:
            continue
        where = f"{file.relative_to(root)}:{line}"
        if file == root / "__init__.py":
            if parts[1] not in ("version", "old_paths") and not _for_types(file, line):
                wrong.append(f"{where}: the package itself imports {module}; it must stay lazy")
            continue
        if file.name == "__init__.py" and file.parent.name == "localization":
            wrong.append(f"{where}: localization has rooms and no code of its own")
            continue
        here = room(file.relative_to(root).parts)
        there = room(parts[1:]) if len(parts) > 1 else "__version__"
        if there in ("__version__", here):
            continue
        if here not in ORDER:
            wrong.append(f"{where}: {here!r} has no place in the order")
        elif there not in ORDER:
            wrong.append(f"{where}: {module} has no place in the order")
        elif ORDER.index(there) >= ORDER.index(here):
            wrong.append(f"{where}: {here} imports {module}")
    return wrong


def _for_types(file: Path, line: int) -> bool:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    tests = [node for node in ast.walk(tree) if isinstance(node, ast.If)]
    return any(
        ast.unparse(node.test).endswith("TYPE_CHECKING")
        and node.lineno < line <= (node.end_lineno or 0)
        for node in tests
    )


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
        if found not in (root.name, own[file]) and own[file] != root.name:
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


def test_a_circle_is_found_also_where_one_import_waits_or_is_for_types(tmp_path: Path) -> None:
    root = tmp_path / "headway"
    (root / "nn").mkdir(parents=True)
    (root / "nn" / "a.py").write_text("from headway.nn.b import f\n", encoding="utf-8")
    (root / "nn" / "b.py").write_text("from headway.nn import c\n", encoding="utf-8")
    (root / "nn" / "c.py").write_text("import math\n", encoding="utf-8")
    assert circles(root) == []
    for line in (
        "def late():\n    import headway.nn.a",
        "if TYPE_CHECKING:\n    import headway.nn.a",
    ):
        (root / "nn" / "c.py").write_text(line + "\n", encoding="utf-8")
        assert circles(root) == [["headway.nn.a", "headway.nn.b", "headway.nn.c"]]


def test_no_file_imports_from_a_package_that_comes_after_its_own() -> None:
    assert climbing_imports(SOURCE) == []


def test_every_entry_of_the_order_exists() -> None:
    for entry in ORDER:
        place = SOURCE.joinpath(*entry.split("."))
        assert place.is_dir() or place.with_suffix(".py").exists(), entry


def test_what_reads_text_needs_no_torch() -> None:
    for file, line, module in imports_of(SOURCE):
        if file.relative_to(SOURCE).parts[0] in WITHOUT_TORCH:
            assert module.split(".")[0] != "torch", f"{file}:{line}"


@pytest.mark.parametrize(
    "line",
    [
        "import headway.runs.train",
        "import headway.runs.train as train",
        "from headway import runs",
        "from headway.runs import train",
        "from headway.runs.train import train",
        "from ..runs import train",
        "from .. import runs",
        "from ..runs.train import train",
        "def late():\n    from headway.runs import train",
        "class A:\n    def late(self):\n        import headway.runs",
        "try:\n    import headway.runs\nexcept ImportError:\n    pass",
        "import importlib\nimportlib.import_module('headway.runs.train')",
        "if TYPE_CHECKING:\n    from headway.runs import train",
        "from headway.decoding import methods",
        "import headway.attic",  # not in the order
    ],
)
def test_an_import_that_climbs_is_found(tmp_path: Path, line: str) -> None:
    root = tmp_path / "headway"
    (root / "nn").mkdir(parents=True)
    (root / "nn" / "positions.py").write_text("import math\n", encoding="utf-8")
    assert climbing_imports(root) == []
    (root / "nn" / "windowed.py").write_text(line + "\n", encoding="utf-8")
    assert len(climbing_imports(root)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "from headway.nn.positions import rotary",
        "from .positions import rotary",
        "from . import positions",
        "from headway.core.errors import ConfigError",
        "from headway.localization.formats import po",
        "from headway import __version__",
        "import torch",
    ],
)
def test_an_import_from_before_or_from_the_same_package_is_allowed(
    tmp_path: Path, line: str
) -> None:
    root = tmp_path / "headway"
    (root / "nn").mkdir(parents=True)
    (root / "nn" / "windowed.py").write_text(line + "\n", encoding="utf-8")
    assert climbing_imports(root) == []


def test_a_package_without_a_place_and_an_eager_package_are_found(tmp_path: Path) -> None:
    root = tmp_path / "headway"
    (root / "attic").mkdir(parents=True)
    (root / "attic" / "a.py").write_text("import headway.nn\n", encoding="utf-8")
    (root / "__init__.py").write_text("from headway.api import train\n", encoding="utf-8")
    assert len(climbing_imports(root)) == 2
