"""An array job of Slurm whose tasks share the shards."""

_PARTS, _CORES = 16, 16
_SCRIPT = """\
#!/bin/bash
# So many machines share the shards of a folder that all of them see. Sent again (sbatch), it does
# what is missing. For another number change --array and PARTS.
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
srun {command} \\
    --part "$SLURM_ARRAY_TASK_ID/$PARTS" --processes "$SLURM_CPUS_PER_TASK"
"""


def array_script(command: str, n_cores: int | None) -> str:
    """For sbatch: the command, to which the share of each machine is added; `n_cores` of each."""
    return _SCRIPT.format(parts=_PARTS, cores=n_cores or _CORES, command=command)
