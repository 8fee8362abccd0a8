"""Finished runs of models that were trained elsewhere."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import Tensor

from headway.core.config import Sections, merge
from headway.core.disk import checksum
from headway.core.run_folder import RunFolder
from headway.core.tensor_files import save_tensors
from headway.operations.locks import Say
from headway.operations.shipped import only_writer_of_run, refuse_undecodable
from headway.runs.settings import Settings
from headway.runs.task_spec import TaskSpec
from headway.runs.train import write_record


@dataclass(frozen=True)
class ImportedRun:
    """All that is written of one, once everything was checked: a `headway.runs.task_spec.Data`
    without examples."""

    kind: Any
    """For data.json: as `headway import` calls it, or how often what was put right."""
    spec: TaskSpec
    vocabulary: Any
    files: Sequence[Path]
    """All that was read."""
    sections: Sections
    """What config.toml says beside the defaults."""
    weights: Mapping[str, Tensor]
    title: str
    use: Sequence[str]
    """Commands, for the card."""
    about: str = ""
    """What it is, for the card; else how many sub-words it has."""

    @cached_property
    def checksums(self) -> dict[str, str]:
        """See `headway.runs.task_spec.Data`."""
        return {str(file): checksum(file) for file in self.files}

    @property
    def settings(self) -> Settings:
        """All of them. Raises ConfigError for what the task does not allow."""
        return Settings.of(merge({"run": {"task": self.spec.name}}, self.sections), self.spec)

    def record(self) -> dict[str, Any]:
        """What data.json says."""
        return {"imported": self.kind}

    def save_vocabulary(self, folder: RunFolder) -> None:
        """What the task reads it from."""
        self.vocabulary.save(folder.tokenizer)

    def card(self) -> str:
        """README.md."""
        files = "\n".join(f"- `{name}` (sha256 {sum_})" for name, sum_ in self.checksums.items())
        use = "\n".join(self.use)
        about = self.about or f"A model of {len(self.vocabulary):,} sub-words"
        return f"""# {self.title}

{about}; every setting is in `config.toml`. It was not
trained here and has not been scored here; its license and its makers are those of the files below.

{files}

## Use

```
{use}
```
"""


def write_imported(
    read: Callable[[Path, Path, Say], ImportedRun], model: Path, out: Path, say: Say
) -> RunFolder:
    """Make a finished run of a model that lies in a folder, or in a file. `read` checks all of it,
    given that place and where the run will be; nothing is written where that fails.

    Raises:
        DataError: a file is missing or damaged, or they do not go together.
        ConfigError: the model has something that cannot be held.
        RunError: `out` is taken.
    """
    refuse_undecodable(model.absolute())
    with only_writer_of_run(out, say) as folder:
        folder.refuse_taken()
        found = read(model, folder.path, say)
        sections = found.settings.sections()
        write_record(folder, found, None)
        found.save_vocabulary(folder)
        folder.write_settings(sections)
        save_tensors(found.weights, folder.model)
        folder.write_card(found.card())
        folder.finish(sections)
    return folder
