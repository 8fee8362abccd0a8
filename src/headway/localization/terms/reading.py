"""Glossaries from files, by kind."""

from collections.abc import Sequence
from pathlib import Path

from headway.core.errors import DataError
from headway.core.lines import shown
from headway.corpora.corpus import Corpus, languages
from headway.localization.formats.file_kinds import suffix_of
from headway.localization.terms import tables, tbx
from headway.localization.terms.glossary import Glossary, GlossaryRow


def read_terms(corpus: Corpus, files: Sequence[Path]) -> Glossary:
    """The glossary of a corpus, in its languages; raises DataError where it cannot be read."""
    own = corpus.source_language, corpus.target_language
    return read_glossary(files, *(languages(corpus, *own) if corpus.parts else own))


def read_glossary(
    paths: Sequence[Path], source_language: str | None, target_language: str | None
) -> Glossary:
    """The terms of some files (.tsv, .csv, .tbx; each also .gz), taken together.

    The languages say which column, or which terms of a TBX, are meant, where the file names them.

    Raises:
        DataError: a file is of another kind or cannot be read, is for other languages, has no
            terms, or contradicts itself or another one.
    """
    readers = {".tsv": tables.read_tsv, ".csv": tables.read_csv, ".tbx": tbx.read_tbx}
    rows: list[GlossaryRow] = []
    for path in paths:
        suffix = suffix_of(path)
        if suffix not in readers:
            raise DataError(
                f"a glossary is a .tsv, .csv or .tbx file; got {shown(path)}. "
                "Write one term a line: source, a tab, target; and name it .tsv."
            )
        found = list(readers[suffix](path, source_language, target_language))
        if not found:
            raise DataError(f"a glossary has at least one term; {shown(path)} has none.")
        rows += found
    return Glossary.of(rows, ", ".join(shown(path) for path in paths))
