#!/bin/bash
# One training on several machines of a Slurm cluster: from two files to a run folder.
#
#     sbatch --nodes 2 --gpus-per-node 8 deploy/slurm.sh data/train.en data/train.de runs/en-de [flags of headway train]
#
# Files and run folder lie on a disk that all machines share; headway is in an environment that is active
# where sbatch is called. Five minutes before the time limit, or where the job must give way, training is
# saved and the job waits in the queue again: it goes on, on as many machines as there are then.
#SBATCH --job-name=headway
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@300
set -euo pipefail

source_file=$1 target_file=$2 out=$3
shift 3
machines=$(scontrol show hostnames "$SLURM_JOB_NODELIST")
processes=${SLURM_GPUS_ON_NODE:-1}

threads=$(( ${SLURM_CPUS_PER_TASK:-1} / processes ))
export OMP_NUM_THREADS=$(( threads > 0 ? threads : 1 ))
export TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1  # else a restart may look for the store where it was before

srun --kill-on-bad-exit=1 torchrun \
    --nnodes "$SLURM_JOB_NUM_NODES" --nproc-per-node "$processes" \
    --rdzv-backend c10d --rdzv-endpoint "${machines%%$'\n'*}:${HEADWAY_PORT:-29500}" --rdzv-id "$SLURM_JOB_ID" \
    --max-restarts 20 --shutdown-timeout 240 \
    -m headway train --resume --source "$source_file" --target "$target_file" --out "$out" "$@" &
step=$! stopping=

# srun passes SIGTERM on to torchrun, and that to headway, which saves and stops.
trap 'stopping=1; kill -TERM "$step"' TERM
status=0
wait "$step" || status=$?
if [ -n "$stopping" ]; then
    wait "$step" || true
    exec scontrol requeue "$SLURM_JOB_ID"
fi
exit "$status"
