"""Which installed font can draw a text: matplotlib's own has no Chinese."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.font_manager import FontProperties

# In file names of Linux, Windows and macOS, the better ones for Chinese first.
_PREFERRED = (
    "notosanscjksc", "notosanssc", "sourcehansanssc", "sourcehansans", "msyh", "deng", "simhei",
    "pingfang", "hiragino sans gb", "stheiti", "wqy", "notosanscjk", "droidsansfallback",
    "notoserifcjk", "notoserifsc", "simsun", "songti", "arial unicode",
)  # fmt: skip


EVERYDAY_GLYPHS = Path(__file__).with_name("everyday_glyphs.otf")
"""The characters of the demo's corpus, so that its pictures are whole on any machine."""


def font_for(text: str) -> "FontProperties | None":
    """A font that has every character of `text`: matplotlib's own, ours, an installed one, or None.

    Fonts are looked for on the disk each time, so one that was just installed is found.
    """
    from matplotlib.font_manager import FontProperties, findfont, findSystemFonts

    needed = {ord(character) for character in text if not character.isspace()}
    with quiet_matplotlib():
        for path in (findfont(FontProperties(family="DejaVu Sans")), str(EVERYDAY_GLYPHS)):
            if _covers(path, needed):
                return FontProperties(fname=path)
        for path in _by_preference(findSystemFonts()):
            if _covers(path, needed):
                return FontProperties(fname=path)
    return None


@contextmanager
def quiet_matplotlib() -> Iterator[None]:
    """matplotlib logs that it builds its font cache, or that it has no folder for it: not here."""
    logger = logging.getLogger("matplotlib")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def _by_preference(paths: Iterable[str]) -> list[str]:
    def rank(path: str) -> tuple[int, str]:
        name = Path(path).name.lower().replace("-", "").replace("_", "")
        found = [i for i, known in enumerate(_PREFERRED) if known in name]
        return (found[0] if found else len(_PREFERRED), path)

    return sorted(paths, key=rank)


def _covers(path: str, needed: set[int]) -> bool:
    from matplotlib.ft2font import FT2Font

    try:
        font = FT2Font(path)
    except (OSError, RuntimeError):  # a damaged file, or a kind that FreeType does not read
        return False
    return all(font.get_char_index(character) for character in needed)
