"""The same work on a cluster: a script of Slurm jobs, each of which waits for the one before."""

import shlex
from collections.abc import Sequence

from headway.large_corpora.stages import SHARED_STAGES, STAGES


def slurm_script(command: Sequence[str], n_jobs: int) -> str:
    """What submits all stages, those that can be shared as arrays of `n_jobs`; `command` is the
    one that prepares."""
    lines = [
        "#!/bin/sh",
        "# All stages of headway prepare --shards: sh THIS. Every machine sees the same folders;",
        "# options of your cluster (partition, time, account) come from SBATCH_* variables.",
        "set -e",
    ]
    before = ""
    for stage in STAGES:
        shared = stage in SHARED_STAGES
        array = f" --array=1-{n_jobs}" if shared else ""
        part = f" --part $SLURM_ARRAY_TASK_ID/{n_jobs}" if shared else ""
        wait = f" --dependency=afterok:${before}" if before else ""
        called = f"{shlex.join(command)} --stage {stage}{part}"
        lines.append(
            f"{stage}=$(sbatch --parsable --job-name=prepare-{stage}{array}{wait} "
            f"--wrap {shlex.quote(called)})"
        )
        before = stage
    return "\n".join([*lines, f'echo "the last job is ${before}"']) + "\n"
