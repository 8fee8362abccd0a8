"""What the documents point at exists: links, headings, files, functions, verbs and settings."""

import ast
import re
import unicodedata
from functools import cache
from pathlib import Path

import pytest

from headway.commands.demo import FOLDER as DEMO_FOLDER
from headway.commands.verbs import VERBS
from headway.language_models.models import LANGUAGE_MODELS

ROOT = Path(__file__).parent.parent

LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
CODE_REFERENCE = re.compile(r"[`\[]([\w./-]+\.(?:py|c|h))(?:::?([A-Za-z_][\w.]*))?[`\]]")
"""`file.py`, `file.py:name` or `file.py::name`, in back-ticks or as the text of a link."""
FOLDERS = ("", "src/headway/", "src/", "docs/")
"""A reference may leave these out: `core/attention.py:attend`."""
CODE_SPAN = re.compile(r"`([^`\n]+)`")
FILE_NAME = re.compile(
    r"(?<![\w./*-])[\w/][\w./-]*"
    r"\.(?:py|png|svg|toml|jsonl?|txt|md|html|safetensors|csv|tsv|tmx|po|xlf|xliff|gz|ya?ml|otf)(?!\w)"
)
"""Names of files in back-ticks, alone or within a command."""
WRITTEN = {
    "demo/attention.png": "commands/demo.py",
    "demo/encoder-attention.png": "commands/demo.py",
    "translated/.headway/manifest.json": "bulk/shards.py",
    "translated/.headway/untranslated.tsv": "bulk/shards.py",
    "config.toml": "core/run_folder.py",
    "tokenizer.json": "core/run_folder.py",
    "model.safetensors": "core/run_folder.py",
    "metrics.jsonl": "core/run_folder.py",
    "data.json": "core/run_folder.py",
    "checks.json": "core/run_folder.py",
    "labels.json": "core/run_folder.py",
    "precision.json": "core/run_folder.py",
    "glossary.tsv": "core/run_folder.py",
    "vocab.json": "core/run_folder.py",
    "languages.json": "core/run_folder.py",
    "README.md": "core/run_folder.py",
    "report.json": "large_corpora/summary.py",
    "report.txt": "large_corpora/summary.py",
    "prepared.json": "corpora/sharded.py",
    "checkpoints/step-N/weights.safetensors": "core/checkpoint.py",
    "checkpoints/step-N/resume.safetensors": "core/checkpoint.py",
    "checkpoints/step-N/state.json": "core/checkpoint.py",
}
"""Files that a command writes, and the source that holds their names; a document may leave the
folder out."""
READERS_OWN = {
    "vocab.txt", "memory.tsv", "memory.tsv.gz", "memory.tmx", "corpus.jsonl", "big.tmx", "mine.po",
    "terms.tsv", "codes.txt", "report.html", "a.en.gz",
    "en.json", "de.json", "old.tmx", "keys.tsv", "wiki.txt", "words.txt", "talk.tsv",
    "picture.png", "page.html", "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
}  # fmt: skip
"""Examples of what a reader has, or chooses to call an output."""
NOT_FOLLOWED = ("同上", "见上表", "the same |", "as above |")
"""A row that names no test of its own cannot be checked, by a reader or by this file."""


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


@cache
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


@cache
def _names(file: Path) -> set[str]:
    """Functions, classes, methods (`Class.method` and `method`) and constants of a module; of C
    every word."""
    if file.suffix in (".c", ".h"):
        return set(re.findall(r"\w+", file.read_text(encoding="utf-8")))
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


def code_spans(document: Path) -> list[str]:
    """What stands in single back-ticks."""
    return CODE_SPAN.findall(FENCE.sub("", document.read_text(encoding="utf-8")))


def unknown_files(document: Path, root: Path = ROOT) -> list[str]:
    """Names of files in back-ticks that are neither there, nor written by a command, nor the
    reader's own."""
    return [
        name
        for span in code_spans(document)
        for name in FILE_NAME.findall(span)
        if not any((root / folder / name).is_file() for folder in FOLDERS)
        and not any(f"/{written}".endswith(f"/{name}") for written in WRITTEN)
        and name not in READERS_OWN
    ]


def unknown_verbs_and_settings(document: Path) -> list[str]:
    """`headway VERB` and `--section.key`, in back-ticks or fenced, that nothing takes."""
    fenced = [block.group() for block in FENCE.finditer(document.read_text(encoding="utf-8"))]
    found = []
    for code in (*code_spans(document), *fenced):
        verbs = re.findall(r"^headway +([a-z]+)", code, re.MULTILINE)
        found += [verb for verb in verbs if verb not in VERBS]
        keys = re.findall(r"--[a-z]+\.([a-z][a-z0-9-]+)", code)
        found += [key for key in keys if key.replace("-", "_") not in fields_of_the_package()]
    return found


@cache
def fields_of_the_package() -> set[str]:
    """Names with a type in the bodies of classes of a file: whatever is a setting is among them."""
    return {"type", "key"} | {  # which model; the word that stands for any of them
        node.target.id
        for file in (ROOT / "src").rglob("*.py")
        for holder in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(holder, ast.ClassDef)
        for node in holder.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_and_reference_of_a_document_exists(document: Path) -> None:
    assert broken_links(document) == []
    assert broken_references(document) == []
    assert unknown_files(document) == []
    assert unknown_verbs_and_settings(document) == []


@pytest.mark.parametrize("name", WRITTEN)
def test_files_that_a_command_is_said_to_write_are_named_in_its_source(name: str) -> None:
    source = (ROOT / "src" / "headway" / WRITTEN[name]).read_text(encoding="utf-8")
    constants = {
        node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)
    }
    assert Path(name).name in constants
    if name.startswith("demo/"):
        assert Path("demo") == DEMO_FOLDER


def test_lists_of_file_names_hold_nothing_that_no_document_names() -> None:
    named = {
        name
        for page in documents()
        for span in code_spans(page)
        for name in FILE_NAME.findall(span)
    }
    for listed in (*WRITTEN, *READERS_OWN):
        assert any(f"/{listed}".endswith(f"/{name}") for name in named), listed


@pytest.mark.parametrize("name", ["notes.zh-CN.md", "papers.md"])
def test_every_row_names_its_own_test(name: str) -> None:
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert [words for words in NOT_FOLLOWED if words in text] == []


def test_the_chinese_page_has_one_word_for_one_thing() -> None:
    """Left: what other Chinese texts write; right: what this page writes instead."""
    text = CODE_SPAN.sub("", (ROOT / "docs" / "notes.zh-CN.md").read_text(encoding="utf-8"))
    for other, ours in {
        "「": "“", "」": "”", "one-hot": "独热", "padding": "填充", "teacher forcing": "教师强制",
        "pre-norm": "Pre-LN", "post-norm": "Post-LN", "核长": "卷积核大小", "point-wise": "逐位置",
        "逐点": "逐位置", "片段": "子词",
    }.items():  # fmt: skip
        assert other not in text.lower(), f"{other}: {ours}"
    assert not re.search("尚未(?!实现|实测)", text)


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


def test_a_picture_a_verb_and_a_setting_that_nothing_has_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "`demo/attention.png` `attention.png` `demo/cross-attention.png` `state.json` `.tsv`\n"
        "`headway tokenize vocab.txt` `headway train --config configs/none.toml` `configs/x-*.toml`"
        "\n"
        "`nn.Linear` `gone.md` `benchmarks/none.py --files 3` `headway guess` `--model.heads 4`\n"
        "```\nheadway demo --model.hats 3\n```\n",
        encoding="utf-8",
    )
    assert unknown_files(page) == [
        "demo/cross-attention.png",
        "configs/none.toml",
        "gone.md",
        "benchmarks/none.py",
    ]
    assert unknown_verbs_and_settings(page) == ["guess", "hats"]


PACKAGES = sorted(path.parent for path in (ROOT / "src" / "headway").glob("*/README.md"))


def test_every_package_has_a_map() -> None:
    folders = {path.parent for path in (ROOT / "src" / "headway").glob("*/*.py")}
    assert folders == {*PACKAGES}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_the_map_of_a_package_names_each_of_its_files(package: Path) -> None:
    named = re.findall(r"^\| `([\w/]+\.py)` \|", (package / "README.md").read_text("utf-8"), re.M)
    files = [path for path in package.rglob("*.py") if len(path.read_text("utf-8").split("\n")) > 3]
    assert sorted(named) == sorted(path.relative_to(package).as_posix() for path in files)


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_each_readme_names_every_package_and_every_type_of_language_model(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    assert {package.name for package in PACKAGES} <= {*re.findall(r"\b(\w+)/", text)}
    types = re.search(r"--task language-model .*--model\.type (.*)", text)
    assert types
    assert {*LANGUAGE_MODELS} <= {*re.findall(r"[a-z]+", types[1])}


def test_the_core_is_walked_through_and_named_in_the_readmes_tree() -> None:
    files = [path.name for path in (ROOT / "src" / "headway" / "core").glob("[!_]*.py")]
    walk = (ROOT / "docs" / "core.md").read_text("utf-8")
    tree = (ROOT / "README.md").read_text("utf-8").partition("src/headway/\n")[2]
    tree = tree.partition("```")[0]
    assert [name for name in files if f"core/{name}" not in walk or f" {name}" not in tree] == []
    assert len(tree.splitlines()) <= 40
