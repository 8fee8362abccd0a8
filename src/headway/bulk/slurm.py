"""An array job of Slurm whose tasks share the shards."""

import shlex
from collections.abc import Sequence

_PARTS, _CORES = 16, 16
_SCRIPT = """\
#!/bin/bash
# {parts} machines share the shards of one folder, which all of them see. Sent again
# (sbatch), it does what is missing. For another number of machines change both lines with {parts}.
#SBATCH --job-name=headway-translate
#SBATCH --array=1-{parts}
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task={cores}
#SBATCH --mem=16G
#SBATCH --time=12:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=headway-translate-%A-%a.log
PARTS={parts}
srun headway {command} \\
    --part "$SLURM_ARRAY_TASK_ID/$PARTS" --processes "$SLURM_CPUS_PER_TASK"
"""


def array_script(arguments: Sequence[str], n_cores: int | None) -> str:
    """For sbatch: `arguments` are those of the command, without the options that it adds; each
    machine takes so many cores."""
    return _SCRIPT.format(parts=_PARTS, cores=n_cores or _CORES, command=shlex.join(arguments))
