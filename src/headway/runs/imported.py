"""Finished runs of models that were trained elsewhere."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from headway.core.disk import checksum
from headway.core.run_folder import RunFolder
from headway.core.tensor_files import save_tensors
from headway.operations.locks import Say
from headway.operations.shipped import only_writer_of_run, refuse_undecodable
from headway.runs.settings import Settings
from headway.runs.train import write_record


@dataclass(frozen=True)
class ImportedModel:
    """Where a model is from: a `headway.runs.task_spec.Data` without examples."""

    kind: str
    """As `headway import` calls it."""
    vocabulary: Any
    checksums: Mapping[str, str]

    @classmethod
    def of(cls, kind: str, vocabulary: Any, files: Sequence[Path]) -> "ImportedModel":
        """From these files."""
        return cls(kind, vocabulary, {str(file): checksum(file) for file in files})

    def record(self) -> dict[str, Any]:
        """What data.json says."""
        return {"imported": self.kind}

    def save_vocabulary(self, folder: RunFolder) -> None:
        """What the task reads it from."""
        self.vocabulary.save(folder.tokenizer)


@dataclass(frozen=True)
class ImportedRun:
    """All that is written of one, once everything was checked."""

    data: ImportedModel
    settings: Settings
    weights: Mapping[str, Tensor]
    title: str
    use: Sequence[str]
    """Commands, for the card."""

    def card(self) -> str:
        """README.md."""
        sums = self.data.checksums.items()
        files = "\n".join(f"- `{name}` (sha256 {sum_})" for name, sum_ in sums)
        use = "\n".join(self.use)
        return f"""# {self.title}

A model of {len(self.data.vocabulary):,} sub-words; every setting is in `config.toml`. It was not
trained here and has not been scored here; its license and its makers are those of the files below.

{files}

## Use

```
{use}
```
"""


def write_imported(
    model: Path, out: Path, say: Say, read: Callable[[Path], ImportedRun]
) -> RunFolder:
    """Write what `read` makes of the folder `model` for a run in a place; nothing where it fails.

    Raises RunError where `out` is taken, and what `read` raises.
    """
    refuse_undecodable(model.absolute())
    with only_writer_of_run(out, say) as folder:
        folder.refuse_taken()
        found = read(folder.path)
        write_record(folder, found.data, None)
        found.data.save_vocabulary(folder)
        folder.write_settings(found.settings.sections())
        save_tensors(found.weights, folder.model)
        folder.write_card(found.card())
        folder.finish(found.settings.sections())
    return folder
