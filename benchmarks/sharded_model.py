"""What sharding a model (FSDP2) saves and costs beside one flat sum of gradients, by processes of
one thread on this machine: memory of a process and seconds of an update at `paper-big`.

    python benchmarks/sharded_model.py [--processes 2] [--preset paper-big] [--updates 4]

Both begin with the same weights and see the same random pairs, without dropout, and must agree
afterwards. `flat`: `FlatAdam`, its long vector of gradients summed by one all_reduce, as `headway
train --processes` does. `sharded`: torch's `fully_shard` around each layer and the whole, its
parameters, gradients and Adam's moments in parts. Memory is what a process has beyond what it had
before its model was built: at most while it updates, and at rest after that.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

import record
import torch
import torch.distributed as dist
from torch import Tensor

from headway.core.errors import HeadwayError
from headway.core.loss import projected_label_smoothed
from headway.core.optimizer import FlatAdam
from headway.core.presets import PRESETS
from headway.core.transformer import Transformer, TransformerConfig

SEED, RATE = 1, 1e-4
WAYS = ("flat", "sharded")


class Sharded:
    """A model in parts, and the Adam that updates them: as much of `FlatAdam` as is measured."""

    def __init__(self, model: Transformer) -> None:
        from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

        for layer in (*model.encoder, *model.decoder):
            fully_shard(layer)
        fully_shard(model)
        for module in model.modules():
            if hasattr(module, "set_gradient_divide_factor"):
                module.set_gradient_divide_factor(1.0)  # a sum, no mean
                module.set_force_sum_reduction_for_comms(True)  # all that gloo can do
        register_fsdp_forward_method(model, "features")
        self.model = model
        self.adam = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9, lr=RATE)

    def step(self) -> None:
        """Update, and forget the gradients."""
        self.adam.step()
        self.adam.zero_grad()

    def weights(self) -> dict[str, Tensor]:
        """Whole, in every process."""
        return {name: p.full_tensor() for name, p in self.model.named_parameters()}


class Flat:
    """The same as headway has it."""

    def __init__(self, model: Transformer) -> None:
        self.own = FlatAdam(model, torch.float32, betas=(0.9, 0.98), epsilon=1e-9)

    def step(self) -> None:
        """Sum, update, and forget the gradients."""
        self.own.collect()
        dist.all_reduce(self.own.gradient)
        self.own.step(RATE, 0.0)

    def weights(self) -> dict[str, Tensor]:
        """Whole, in every process."""
        return self.own.weights()


def learn(model: Transformer, batch: tuple[Tensor, Tensor], n_units: int) -> None:
    """Add this process's gradients of the mean over all processes."""
    source, target = batch
    features = model.features(source, target)
    loss = projected_label_smoothed(
        features, model.output_weight, target.roll(-1, 1), smoothing=0.1, padding=0
    )
    (loss.smoothed / n_units).backward()


def memory(field: str) -> int:
    """Bytes in memory: VmRSS now, VmHWM at most since `forget_most`."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return 1024 * int(line.split()[1])
    raise HeadwayError(f"/proc/self/status must tell {field}; this system has other fields.")


def forget_most() -> None:
    """Have VmHWM count from now."""
    Path("/proc/self/clear_refs").write_text("5")


def side(asked: argparse.Namespace) -> int:
    """One process of one way; process 0 prints what was found."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    random = torch.Generator().manual_seed(SEED)
    settings: dict[str, Any] = {**PRESETS[asked.preset]["model"], "dropout": 0.0}
    settings.pop("type")
    n_words = 500 if asked.tiny else 37_000
    if asked.tiny:
        settings |= {"d_model": 64, "d_ff": 128, "heads": 4}
    before = memory("VmRSS")
    torch.manual_seed(SEED)
    model = Transformer(TransformerConfig(**settings), vocabulary_size=n_words).train()
    n_parameters = sum(parameter.numel() for parameter in model.parameters())
    way: Any = Flat(model) if asked.side == "flat" else Sharded(model)
    times, peaks = list[float](), list[int]()
    for _ in range(asked.updates):
        ids = torch.randint(4, n_words, (2, size, asked.rows, asked.length), generator=random)
        forget_most()
        dist.barrier()
        clock = time.perf_counter()
        learn(model, (ids[0, rank], ids[1, rank]), ids[1].numel())
        way.step()
        dist.barrier()
        times.append(time.perf_counter() - clock)
        peaks.append(memory("VmHWM") - before)
    at_rest = memory("VmRSS") - before
    sums = {
        name: float(weight.detach().double().abs().sum())
        for name, weight in way.weights().items()
        if weight.dim() > 1  # biases begin at 0: Adam makes steps of what is rounding there
    }
    if rank == 0:
        found = {"parameters": n_parameters, "seconds": times, "peak": max(peaks[1:]),
                 "at_rest": at_rest, "sums": sums}  # fmt: skip
        print(json.dumps(found), flush=True)
    dist.destroy_process_group()
    return 0


def run(way: str, asked: argparse.Namespace) -> dict[str, Any]:
    """All processes of one way; raises HeadwayError where one fails."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    common = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "OMP_NUM_THREADS": "1",
              "WORLD_SIZE": str(asked.processes)}  # fmt: skip
    command = [sys.executable, __file__, "--side", way, *sys.argv[1:]]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                         env={**os.environ, **common, "RANK": str(rank)})
        for rank in range(asked.processes)
    ]  # fmt: skip
    try:
        said = [process.communicate(timeout=asked.timeout)[0] for process in processes]
    finally:
        for process in processes:
            with suppress(ProcessLookupError):
                process.kill()
    if any(process.returncode for process in processes):
        raise HeadwayError(f"every process must end well; {way} ended with "
                           f"{[process.returncode for process in processes]}.")  # fmt: skip
    found: dict[str, Any] = json.loads(said[0].splitlines()[-1])
    return found


def apart(found: dict[str, list[dict[str, Any]]]) -> float:
    """How far the weights are apart at most, by the sum of each matrix, relative."""
    flat, sharded = (found[way][0]["sums"] for way in WAYS)
    return max(abs(flat[name] / sharded[name] - 1) for name in flat)


def main() -> int:
    """Both ways in turn, as many times as asked; exit status 1 where they do not agree."""
    parser = record.parser(__doc__)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--preset", choices=[*PRESETS], default="paper-big")
    parser.add_argument("--updates", type=int, default=4, help="the first does not count")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=8, help="of a process in each batch")
    parser.add_argument("--length", type=int, default=16)
    parser.add_argument("--timeout", type=float, default=900, help="of one way, in seconds")
    parser.add_argument("--tiny", action="store_true", help="a model of a few numbers")
    parser.add_argument("--side", choices=WAYS, help=argparse.SUPPRESS)
    record.add_record_option(parser)
    asked = parser.parse_args()
    if asked.side:
        return side(asked)
    found: dict[str, list[dict[str, Any]]] = {way: [] for way in WAYS}
    for _ in range(asked.rounds):
        for way, its in found.items():
            its.append(run(way, asked))
    n = found["flat"][0]["parameters"]
    rows = []
    for way, its in found.items():
        seconds = [median(one["seconds"][1:]) for one in its]
        by = median(
            a / median(b["seconds"][1:]) for a, b in zip(seconds, found["flat"], strict=True)
        )
        peak, at_rest = (max(one[key] for one in its) for key in ("peak", "at_rest"))
        rows.append([way, f"{median(seconds):.2f}", f"{by:.2f}", f"{at_rest / 1e9:.2f}",
                     f"{at_rest / n:.1f}", f"{peak / 1e9:.2f}", f"{peak / n:.1f}"])  # fmt: skip
    header = ["way", "s an update", "by flat", "GB at rest", "bytes a parameter", "GB at most",
              "bytes a parameter at most"]  # fmt: skip
    print(f"{n:,} parameters, {asked.processes} processes, each {asked.rows} pairs of "
          f"{asked.length} tokens an update; weights differ by {apart(found):.1e}\n")  # fmt: skip
    print(record.table(header, rows))
    figures = {"parameters": n, "processes": asked.processes, "found": found}
    record.write(asked.record, "sharded_model", seeds=[SEED], figures=figures)
    return 0 if apart(found) < 1e-5 else 1


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
