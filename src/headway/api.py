"""headway from Python: `headway.train(...)` does what `headway train` does."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from headway.config import Sections, merge, read_toml
from headway.tasks.translation_run import Request, train_translator

PathLike = str | Path


def train(
    *,
    out: PathLike,
    source: Sequence[PathLike] | PathLike = (),
    target: Sequence[PathLike] | PathLike = (),
    pairs: Sequence[PathLike] | PathLike = (),
    valid_source: Sequence[PathLike] | PathLike = (),
    valid_target: Sequence[PathLike] | PathLike = (),
    valid_pairs: Sequence[PathLike] | PathLike = (),
    config: PathLike | None = None,
    preset: str | None = None,
    init_from: PathLike | None = None,
    resume: bool = False,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    say: Callable[[str], None] | None = None,
) -> Path:
    """Train a translator on pairs of texts; returns the run folder.

    `pairs` and `valid_pairs` are files with how they are used: `mine.tsv@8:tag=mine` is seen eight
    times in a pass, with `<mine> ` before its source texts. `init_from` is a finished run whose
    weights, sub-words and shape the new one begins with.

    `settings` holds sections as in config.toml, such as `{"training": {"budget": "30m"}}`; it goes
    on top of `config` (a TOML file), which goes on top of `preset`. Messages go to `say`, by
    default to stderr. Raises a `headway.errors.UserError` for what the caller can put right.
    """
    named = {
        "source": source,
        "target": target,
        "pairs": pairs,
        "valid_source": valid_source,
        "valid_target": valid_target,
        "valid_pairs": valid_pairs,
    }
    files = {key: paths(value) for key, value in named.items() if paths(value)}
    sections: Sections = merge(
        read_toml(Path(config)) if config else {},
        settings or {},
        {"data": files} if files else {},
        {"training": {"init_from": str(init_from)}} if init_from else {},
    )
    request = Request(sections, Path(out), preset, resume)
    return train_translator(request, say or to_stderr).path


def paths(value: Sequence[PathLike] | PathLike) -> list[str]:
    """One path or several, as a list."""
    return [str(value)] if isinstance(value, str | Path) else [str(path) for path in value]


def to_stderr(message: str) -> None:
    """Where messages go unless somebody else listens."""
    print(message, file=sys.stderr, flush=True)
