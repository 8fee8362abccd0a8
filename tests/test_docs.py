"""What the documents point at exists: relative links, headings, and `file:function` references."""

import ast
import re
import unicodedata
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
CODE_REFERENCE = re.compile(r"[`\[]([\w./-]+\.py)(?:::?([A-Za-z_][\w.]*))?[`\]]")
"""`file.py`, `file.py:name` or `file.py::name`, in back-ticks or as the text of a link."""
FOLDERS = ("", "src/headway/", "src/", "docs/")
"""A reference may leave these out: `nn/attention.py:attend`."""


def documents() -> list[Path]:
    return [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]


def broken_links(document: Path) -> list[str]:
    """Links to files, and to headings in them, that do not exist."""
    broken = []
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    for target in LINK.findall(text):
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue  # another site; the suite reaches no network
        path, _, anchor = target.partition("#")
        file = (document.parent / path) if path else document
        heading = anchor if file.suffix == ".md" else ""
        if not file.exists() or (heading and heading not in _anchors(file)):
            broken.append(target)
    return broken


def _anchors(document: Path) -> set[str]:
    """The names that headings get on GitHub: lower case, dashes for spaces, no punctuation."""
    headings = re.findall(r"^#+ +(.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {
        "".join(
            "-" if c == " " else c
            for c in heading.strip().lower()
            if c in " -_" or unicodedata.category(c)[0] in "LNM"
        )
        for heading in headings
    }


def broken_references(document: Path, root: Path = ROOT) -> list[str]:
    """`path/to/file.py` and `path/to/file.py:name` in back-ticks that do not exist."""
    broken = []
    for path, name in CODE_REFERENCE.findall(document.read_text(encoding="utf-8")):
        file = next((root / f / path for f in FOLDERS if (root / f / path).is_file()), None)
        if file is None or (name and name not in _names(file)):
            broken.append(f"{path}:{name}" if name else path)
    return broken


def _names(file: Path) -> set[str]:
    """Functions, classes, methods (`Class.method` and `method`) and constants of a module."""
    names: set[str] = set()

    def collect(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names.update({node.name, prefix + node.name})
                collect(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names.update(prefix + t.id for t in targets if isinstance(t, ast.Name))

    collect(ast.parse(file.read_text(encoding="utf-8")).body, "")
    return names


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_and_reference_of_a_document_exists(document: Path) -> None:
    assert broken_links(document) == []
    assert broken_references(document) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "here.md").write_text("# The look of it, 一\n", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n[a](here.md) [b](gone.md) [c](https://x.org/y) ![d](<here.md>)\n"
        "[e](here.md#the-look-of-it-一) [f](here.md#other) [g](#page) [h](#none)\n"
        '[i](gone.png "title")\n```\n[j](in/code.md)\n```\n',
        encoding="utf-8",
    )
    assert broken_links(page) == ["gone.md", "here.md#other", "#none", "gone.png"]


def test_a_reference_to_a_name_that_is_gone_is_found(tmp_path: Path) -> None:
    (tmp_path / "src" / "headway" / "nn").mkdir(parents=True)
    module = tmp_path / "src" / "headway" / "nn" / "masks.py"
    module.write_text("LIMIT = 3\nclass A:\n    def b(self): ...\ndef c(): ...\n", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(
        "`nn/masks.py` `src/headway/nn/masks.py:c` `headway/nn/masks.py:A.b` `nn/masks.py:b` "
        "`nn/masks.py:LIMIT` [nn/masks.py:c](x) `nn/masks.py::c` "
        "`nn/masks.py:d` `nn/gone.py:c` `nn/gone.py` [nn/masks.py::e](x)",
        encoding="utf-8",
    )
    assert broken_references(page, tmp_path) == [
        "nn/masks.py:d",
        "nn/gone.py:c",
        "nn/gone.py",
        "nn/masks.py:e",
    ]
