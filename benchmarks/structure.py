"""How much of headway one has to read: the figures of the house, counted.

    python benchmarks/structure.py

The two ways are run with default flags (`train --budget`, `translate`), in processes of their own;
a file counts if one of its functions ran, the compiled search counts with its C. Imports for types
count as imports. Nothing is timed.
"""

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import record

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "headway"
LONG, MANY = 100, 12
OF_ONE = (
    "core/", "translation/", "translator.py", "language_models/", "earlier_translators/",
    "models.py", "engine/", "exchange/", "localization/", "filling/", "doctor/", "demo/", "nn/",
    "word2vec/", "vectors/", "labelling/",
    "masked_language_models/", "classification/", "tagging/", "images/",
    "serving/own.py", "tasks/__init__.py", "study/layer_types.py",
)  # fmt: skip
"""What is of one task or model, the table of tasks, and names of layers; all else is shared."""
PO = 'msgid ""\nmsgstr "Language: zh\\n"\n\nmsgid "{}"\nmsgstr ""\n\nmsgid "{}"\nmsgstr ""\n'
WATCH = """
import inspect, json, sys, threading
seen = set()
def note(frame, event, _):
    if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        seen.add(frame.f_code.co_filename)
sys.setprofile(note); threading.setprofile(note)
from headway.cli import main
for command in json.loads(sys.argv[1]):
    assert main(command) == 0, command
sys.setprofile(None)
print(json.dumps(sorted(seen)))
"""


def lines_of(file: Path) -> int:
    """How many lines it has."""
    return len(file.read_text(encoding="utf-8").splitlines())


def entered(cache: Path, *commands: list[str]) -> dict[str, int]:
    """The files of headway of which a function runs, with their lines; with a cache of its own, so
    that nothing was prepared before."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent), "HEADWAY_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", WATCH, json.dumps(commands)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found = [Path(name) for name in json.loads(done.stdout.splitlines()[-1])]
    files = [file for file in found if file.is_relative_to(SOURCE)]
    if any("engine" in file.parts for file in files):
        files += sorted((SOURCE / "engine").glob("*.[ch]"))
    return {str(file.relative_to(SOURCE)): lines_of(file) for file in files}


def ways(folder: Path, budget: str) -> dict[str, dict[str, int]]:
    """The plain job, and a PO file of two units."""
    from headway.demo import generate

    pairs, cache = generate(400, 3), folder / "cache"
    for name, side in zip(("a.en", "a.zh"), zip(*pairs, strict=True), strict=True):
        (folder / name).write_text("".join(f"{text}\n" for text in side), encoding="utf-8")
    (folder / "new.en").write_text(f"{pairs[0][0]}\n", encoding="utf-8")
    (folder / "app.po").write_text(PO.format(pairs[0][0], pairs[1][0]), encoding="utf-8")
    files = ["--source", f"{folder}/a.en", "--target", f"{folder}/a.zh"]
    train = ["train", *files, "--out", f"{folder}/run", "--budget", budget]
    translate = ["translate", f"{folder}/run"]
    plain = [*translate, f"{folder}/new.en", "--out", f"{folder}/new.zh"]
    return {
        "train --budget, translate": entered(cache, train, plain),
        "translate app.po": entered(
            cache, [*translate, f"{folder}/app.po", "--out", f"{folder}/b.po"]
        ),
    }


def _modules() -> dict[Path, list[ast.AST]]:
    """All nodes of every module."""
    files = sorted(SOURCE.rglob("*.py"))
    return {one: [*ast.walk(ast.parse(one.read_text(encoding="utf-8")))] for one in files}


def _dotted(file: Path) -> str:
    name = ".".join(["headway", *file.relative_to(SOURCE).with_suffix("").parts])
    return name.removesuffix(".__init__")


def _imported(nodes: list[ast.AST], known: set[str]) -> Iterator[str]:
    """The modules of headway that one imports, those for types and inside functions too."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield from {full, node.module} & known if full not in known else [full]


def rings(imports: dict[str, set[str]]) -> list[list[str]]:
    """Modules that reach each other by their imports, one list a ring."""
    reached: dict[str, set[str]] = {}
    for start in imports:
        seen, ahead = set[str](), [*imports[start]]
        while ahead:
            if (one := ahead.pop()) not in seen:
                seen.add(one)
                ahead += imports[one]
        reached[start] = seen
    found = {
        tuple(sorted(two for two in reached[one] if one in reached[two]))
        for one in imports
        if one in reached[one]
    }
    return [list(ring) for ring in sorted(found)]


def names_in_shared_code(modules: dict[Path, list[ast.AST]]) -> list[str]:
    """Where code that is of no task and no model names one: its word, its class, or a branch by
    such a word. Keys of what is printed are no such names."""
    from headway.tasks import TASKS, task_spec

    words, classes = set(TASKS), set[str]()
    for spec in map(task_spec, TASKS):
        words |= set(spec.models)
        for both in spec.models.values():
            classes |= {getattr(one, "func", one).__name__ for one in both}
    found = []
    for file, nodes in modules.items():
        name = file.relative_to(SOURCE).as_posix()
        if not name.startswith(OF_ONE):
            found += [f"{name}:{line}" for line in _named(nodes, words, classes)]
    return found


def _named(nodes: list[ast.AST], words: set[str], classes: set[str]) -> Iterator[int]:
    keys: list[ast.AST | None] | None = None
    for node in nodes:
        if isinstance(node, ast.Constant) and node.value in words:
            if keys is None:
                functions = (one for one in nodes if isinstance(one, ast.FunctionDef))
                inside = [one for function in functions for one in ast.walk(function)]
                keys = [n for one in inside if isinstance(one, ast.Dict) for n in one.keys]
                keys += [one.slice for one in nodes if isinstance(one, ast.Subscript)]
            if node not in keys:
                yield node.lineno
        if isinstance(node, ast.Name) and node.id in classes:
            yield node.lineno
        if isinstance(node, ast.Compare) and re.search(
            r"\b(model_type|\.task|spec\.name) (==|!=)", ast.unparse(node)
        ):
            yield node.lineno


def figures() -> dict[str, object]:
    """What is counted without running anything."""
    modules = _modules()
    all_nodes = [node for nodes in modules.values() for node in nodes]
    names = Counter(node.name for node in all_nodes if isinstance(node, ast.ClassDef))
    functions = [
        node for node in all_nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    inside = sum(
        isinstance(node, ast.Import | ast.ImportFrom)
        for function in functions
        for node in ast.walk(function)
    )
    sizes = [lines_of(file) for file in SOURCE.rglob("*") if file.suffix in (".py", ".c", ".h")]
    by_name = {_dotted(file): nodes for file, nodes in modules.items()}
    imports = {name: {*_imported(its, {*by_name})} - {name} for name, its in by_name.items()}
    n_importers = Counter(one for some in imports.values() for one in some)
    found = rings(imports)
    return {
        "lines of src, with C, and files": [sum(sizes), len(sizes)],
        "median file": median(sizes),
        "class names borne twice": sum(n > 1 for n in names.values()),
        "rings of files, and the largest": [len(found), max(map(len, found), default=0)],
        "files with one importer": sum(n == 1 for n in n_importers.values()),
        "imports inside functions": inside,
        "task or model names in shared code": names_in_shared_code(modules),
        f"functions over {LONG} lines": sum(
            (one.end_lineno or one.lineno) - one.lineno + 1 > LONG for one in functions
        ),
        f"functions of over {MANY} arguments": sum(
            len(one.args.args) + len(one.args.kwonlyargs) > MANY for one in functions
        ),
    }


def main() -> int:
    """Count, and print."""
    options = record.parser(__doc__ or "")
    options.add_argument("--budget", default="60s", help="of the training that is watched")
    options.add_argument("--files", action="store_true", help="name the files of each way")
    given = options.parse_args()
    for name, value in figures().items():
        print(f"{name:<36} {value}")
    with tempfile.TemporaryDirectory() as folder:
        for name, way in ways(Path(folder), given.budget).items():
            print(f"{name:<36} {[len(way), sum(way.values())]} files, lines")
            if given.files:
                print("\n".join(f"{n:6} {file}" for file, n in way.items()))
    return 0


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
