"""Whether the text files of a run are still those that it was trained and validated on."""

from collections.abc import Mapping
from pathlib import Path

from headway.errors import DataError
from headway.training.run_folder import RunFolder


def refuse_changed(run: Path, checksums: Mapping[str, str]) -> None:
    """Raise DataError where one of these files (SHA-256 by name) is another than data.json says."""
    folder = RunFolder.open(run)
    stored = folder.record()["sha256"] if folder.data.exists() else {}
    for name, sum_ in checksums.items():
        place = str(Path(name).absolute())
        if stored.get(place, sum_) != sum_:
            raise DataError(
                f"runs are compared on what they were validated on; {place} has changed since "
                f"{run} was trained. Give a test set, or put the file back."
            )
