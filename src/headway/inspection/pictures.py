"""The attention of one text as PNG files: a picture for each attention of each layer."""

from collections.abc import Iterator
from pathlib import Path

from headway.errors import ConfigError
from headway.inspection.attention_picture import AttentionMap, draw_attention
from headway.inspection.sight import Sight

_WEIGHTS = ".weights"
MOST_TOKENS = 120
"""Of a picture: beyond, its labels cannot be read and its file is large."""


def draw_pictures(sight: Sight, folder: Path) -> Iterator[str]:
    """Write them, named as the parts of the model are, such as `decoder.1.cross.png`.

    Gives the lines that explain numbers in the place of labels that no installed font can draw.
    Raises ConfigError for a model without attention, and for a text that is too long.
    """
    names = [name.removesuffix(_WEIGHTS) for name in sight.trace if name.endswith(_WEIGHTS)]
    if not names:
        raise ConfigError(
            f"--png draws attention; a model of type {sight.subject.settings.model_type} has none."
        )
    passage = sight.passage
    source = sight.subject.shown(passage.source, passage.names)
    fed = sight.subject.shown(passage.fed, passage.names)
    if max(len(source), len(fed)) > MOST_TOKENS:
        raise ConfigError(
            f"--png draws texts of at most {MOST_TOKENS} tokens; this one has "
            f"{max(len(source), len(fed))}. The page has all of it: leave --png out."
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        weights = sight.trace[name + _WEIGHTS]
        rows = source if name.startswith("encoder") else fed
        columns = source if name.endswith("cross") else rows
        file = folder / f"{name}.png"
        for line in draw_attention([AttentionMap(weights, rows, columns, name)], file, title=name):
            yield f"{file.name}: {line}"
