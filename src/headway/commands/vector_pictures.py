"""`headway map`: chosen words on a plane, as a picture or as a page."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from headway.commands.arguments import say
from headway.commands.vectors import opened
from headway.core.errors import ConfigError, DataError
from headway.pages import refuse_no_place

if TYPE_CHECKING:
    from headway.vectors.in_play import PlaceInText
    from headway.vectors.word_map import WordMap
    from headway.vectors.word_vectors import WordVectors


def map(
    place: Path,
    /,
    *,
    words: Path,
    out: Path | None = None,
    sentence: str | None = None,
) -> None:
    """Chosen words on a plane, as a picture (.png) or as a page (.html) that says more.

    Beside them are as many random vectors, put there in the same way: what looks like order in
    those is chance. The page has one-hot vectors beside the learned ones, a look-up as a product of
    matrices and, of a run of word vectors, the rows that learning from one place of a text changes.
    It loads nothing, runs no script, and speaks English and Chinese.

    Parameters
    ----------
    place
        A run of word vectors or of a model that has some, or a file of them.
    words
        A file of words, one a line; a blank line or `# name` begins a group, which gets a colour.
    out
        Where the map goes; map.html in the run's folder, or here, if nothing is said.
    sentence
        The text in which rows are in play; for the page of a run of word vectors.
    """
    from headway.vectors.word_map import read_groups, word_map

    page = out or (place / "map.html" if place.is_dir() else Path("map.html"))
    if page.suffix.lower() not in (".html", ".png"):
        raise ConfigError(f"a map is a .png or a .html; got {page}. Try --out map.html.")
    refuse_no_place(page, "--out")
    if sentence is not None and page.suffix.lower() == ".png":
        raise ConfigError("--sentence is for the page; got a picture. Try --out map.html.")
    asked, vectors = read_groups(words), opened(place)
    found = word_map(vectors, asked)
    for told, _ in found.told():
        say(told)
    _write(page, place, vectors, found, sentence)
    print(f"map: {page}")


def _write(
    page: Path, place: Path, vectors: "WordVectors", found: "WordMap", sentence: str | None
) -> None:
    """The map as a file; says what it could not show."""
    if page.suffix.lower() == ".png":
        from headway.core.disk import disk_errors
        from headway.inspection.attention_picture import EVERYDAY_GLYPHS, quiet_matplotlib
        from headway.vectors.map_picture import save_map

        title = f"Words of {place.name}: principal components"
        with disk_errors(page), quiet_matplotlib():
            lacking = save_map(found, page, title, EVERYDAY_GLYPHS)
        if lacking:
            say(
                f"no font of this machine has {lacking} of the letters: boxes stand for them. A "
                "page has the letters of the browser: --out map.html"
            )
        return
    from headway.core.disk import write_text
    from headway.vectors import map_page

    in_play = _in_play(place, sentence)
    rows = np.stack([vectors.vector(found.words[i]) for i in map_page.examples(found)])
    write_text(page, map_page.page(found, place.name, rows, in_play))


def _in_play(place: Path, sentence: str | None) -> "PlaceInText | str":
    """What a run of word vectors knows of a place in a text; how to ask, where nobody has.

    Raises DataError or RunError for what has no such place.
    """
    from headway.tasks import brought_by_run

    if sentence is None:
        return 'of a run of word vectors, in a text: headway map RUN --sentence "some words"'
    if not place.is_dir():
        raise DataError(
            "--sentence needs a run of word vectors; a file has the vectors of words, and not the "
            "matrix that they are learned with. Leave it out."
        )
    found: PlaceInText = brought_by_run(place, "map")(place, sentence)
    return found
