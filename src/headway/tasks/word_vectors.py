"""Word vectors wherever they are: in a file, or in a run whose task brings them."""

from pathlib import Path
from typing import TYPE_CHECKING

from headway.core.lines import check_file
from headway.operations.locks import Say
from headway.operations.shipped import place_of
from headway.tasks import brought_by_run

if TYPE_CHECKING:
    from headway.vectors.word_vectors import WordVectors


def word_vectors(place: Path, say: Say) -> "WordVectors":
    """Those of a file or of a run; what is left out of a file is said.

    Raises:
        DataError: it is no file of word vectors.
        RunError: it is a folder without a run, or its model has no word vectors.
    """
    if not place_of(place).is_dir():
        from headway.vectors.files import open_vectors  # a side room

        return open_vectors(place, say)
    found: WordVectors = brought_by_run(place, "vectors")(place)
    return found


def refuse_no_vectors(place: Path) -> None:
    """Raise DataError or RunError where there is neither a file nor a run that brings vectors."""
    if place.is_dir():
        brought_by_run(place, "vectors")
    else:
        check_file(place)
