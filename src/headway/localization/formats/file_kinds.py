"""What the name of a file tells: its kind, and the language that it is in."""

import re
from pathlib import Path

from headway.core.errors import DataError

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
_NOT_LANGUAGES = frozenset(
    "txt tsv tok raw src tgt trg ref hyp bpe out low lc gz bz xz zip csv tab json srt vtt".split()
)
KEYED = tuple(".json .arb .properties .strings .resx .srt .vtt .xml .yml .yaml".split())
"""Kinds of files that hold texts of one language by their keys: see `keyed.py`."""
PAIRED = tuple(".csv .tsv .jsonl .po .ts .tmx .xlf .xliff .sdlxliff .mqxliff".split())
"""Kinds of files that hold both sides of pairs: see `headway.localization.formats.readers`."""
NO_TEXT = frozenset(
    ".7z .adoc .css .dita .doc .docm .docx .epub .go .htm .html .idml .ini .ipynb .java .js .jsx "
    ".latex .md .mdx .odp .ods .odt .pdf .php .pot .ppt .pptx .py .rst .rtf .sgm .sgml .sql "
    ".stringsdict .svg .tbx .tex .toml .tsx .vue .xcstrings .xhtml .xls .xlsx .zip".split()
)
"""Kinds of documents: as lines of plain text they would come out destroyed."""


def is_language(name: str) -> bool:
    """Whether a suffix or a column's name looks like the code of a language."""
    return bool(_LANGUAGE.fullmatch(name)) and name.lower() not in _NOT_LANGUAGES


def suffix_of(path: Path) -> str:
    """What tells the kind of a file: its suffix in lower case, without `.gz`."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def is_plain_text(path: Path) -> bool:
    """Whether a file is of no kind that is known, and so translated line by line."""
    return suffix_of(path) not in {*KEYED, *PAIRED, *NO_TEXT}


def no_plain_text(path: Path) -> DataError:
    """For a document among what is read line by line."""
    return DataError(
        "what is read line by line is plain text (.txt, no suffix, or a language's, as .de); got "
        f"{path}, whose markup would be taken for text. Take the text out of it; if it is plain "
        "text, give it a name that says so."
    )
