"""The folder of a demo: its corpus as files that anybody can read, and never somebody else's."""

from collections.abc import Mapping
from pathlib import Path

from headway.core.disk import refuse_undecodable
from headway.core.errors import RunError


def write_corpus(out: Path, files: Mapping[Path, str]) -> None:
    """Write texts under their names in `out`, which is new or holds the same demo.

    Raises:
        RunError: the folder holds something else.
    """
    refuse_undecodable(out.absolute())
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        _refuse_others(out, files)
    out.mkdir(parents=True, exist_ok=True)
    for file, lines in files.items():
        part = file.with_name(f".{file.name}.part")
        part.write_text(lines, encoding="utf-8", newline="\n")
        part.replace(file)


def _refuse_others(out: Path, files: Mapping[Path, str]) -> None:
    """The folder may hold an earlier demo, however far it came, and nothing else."""
    found = [file for file in files if file.is_file()]
    changed = [file for file in found if file.read_bytes() != files[file].encode()]
    if changed or not found:
        which = f"another {changed[0].name}" if changed else "no corpus of the demo"
        raise RunError(
            f"the demo writes to a new folder, or goes on in its own; {out} holds {which}. "
            "Give another with --out, or remove it."
        )
