"""Training speed on a CPU beside other toolkits: target tokens a second, all in one run.

Takes the peers' scripts (--peers DIR) and trains headway's own Transformer with FlatAdam on the
same ids and the same batches of at most 4,096 padded tokens, with the same shape, dropout, label
smoothing 0.1, tied embeddings and two threads: by the compiled engine, in float32 and in bfloat16,
and by torch alone (`headway by torch`), which is what versions before 2026-11-26 did. --alone
leaves the peers out; their scripts have two threads always, headway has --threads then. --avx2 has
torch and the compiled engine do without AVX-512: an estimate of a processor that has none. There,
and on one that has neither AMX nor AVX512_BF16, all is in float32: bfloat16 is slower. Every
contestant is a process of its own and has its turn in every round, so that what else the machine
does hits all alike. A figure is the median over a process's updates, real tokens only, end markers
included; a ratio is the median over rounds of headway's figure by the other's of the same round.
Where `others` (CPUs that other processes kept busy) is above 0.15, measure again. Exit status 1
when a toolkit is faster than headway at its better precision. The reference loop, written for speed
with no toolkit around it, is shown as well but does not decide that. `of matrix rate` is an
update's products (2 operations for each number that is multiplied, forward and twice backward) in
its seconds, by the rate of the faster of two products of 1,024 rows by d_model and d_ff on the
same threads, torch's and the compiled engine's, measured right before the update and right behind
it (the median of fifteen each, and the mean of both).
Run: python benchmarks/training_speed.py --peers DIR --shape tiny --rounds 3 --steps 40
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import record
import torch
from torch import Tensor

from headway.core import runtime
from headway.core.errors import ConfigError, HeadwayError
from headway.core.loss import projected_label_smoothed
from headway.core.optimizer import FlatAdam
from headway.core.rows import pad
from headway.core.subwords import SpecialIds
from headway.core.transformer import Transformer, TransformerConfig
from headway.engine.building import engine_library
from headway.engine.packing import aligned, packed, zeros
from headway.engine.training import NativeStep

SEED, BUSY, SMOOTHING = 1, 0.15, 0.1
OURS = ("headway fp32", "headway bf16")
BEFORE = "headway by torch"
AVX2 = {
    "HEADWAY_ENGINE_LEVEL": "x86-64-v3",
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
}
REFERENCE = ["--ring", "--ce", "fused", "--sdpa", "bmm", "--chunk", "256"]


class Contestant(NamedTuple):
    """One process to time."""

    name: str
    script: str
    """In the peers' folder; empty for headway."""
    arguments: list[str]
    environment: str = "main"
    """Its virtual environment below $PEERS_HOME/venv; without it the contestant is left out."""
    toolkit: bool = True
    """Whether headway must be faster."""


def contestants(shape: str) -> list[Contestant]:
    """Headway first and in the middle, the peers around it."""
    fp32, bf16 = (Contestant(name, "", ["--precision", name.split()[1]]) for name in OURS)
    before = [
        Contestant(f"{BEFORE} {dtype}", "", ["--precision", dtype, "--by", "torch"], toolkit=False)
        for dtype in ("fp32", "bf16")
    ]
    peers = [
        Contestant(f"{name} {dtype}", script, [*extra, "--dtype", dtype], environment)
        for name, script, extra, environment in (
            ("torch.nn.Transformer", "train_plain_torch.py", [], "main"),
            ("Hugging Face Marian", "train_hf.py", [], "main"),
            ("Eole", "train_eole.py", ["--peer", "eole"], "eole"),
        )
        for dtype in ("fp32", "bf16")
    ]
    if shape == "tiny":
        trainer = ["--dtype", "fp32", "--trainer"]
        peers.append(Contestant("Hugging Face Seq2SeqTrainer fp32", "train_hf.py", trainer))
    loops = [
        Contestant(f"reference loop {dtype}", "train_reference.py", [*REFERENCE, "--dtype", dtype])
        for dtype in ("fp32", "bf16w")
    ]
    return [
        fp32,
        *before,
        *peers[:3],
        bf16,
        *peers[3:],
        *(loop._replace(toolkit=False) for loop in loops),
    ]


def peers_home() -> Path:
    """Where the peers' scripts keep their environments and data, by their own rule."""
    return Path(os.environ.get("PEERS_HOME") or Path(tempfile.gettempdir()) / "headway-peers")


def peers_common(peers: Path) -> Any:
    """Their module of batches, timing and reports; reads ids with sentencepiece."""
    sys.path.insert(0, str(peers))
    return importlib.import_module("common")


def headway_side(asked: argparse.Namespace) -> int:
    """Train headway's model on the peers' batches; report as they do, as one JSON line."""
    common = peers_common(asked.peers)
    started = runtime.start(
        runtime.RuntimeSettings(
            device="cpu", precision=asked.precision, threads=asked.threads, seed=SEED
        )
    )
    shape = common.SHAPES[asked.shape]
    config = TransformerConfig(
        encoder_layers=shape["layers"],
        decoder_layers=shape["layers"],
        d_model=shape["d"],
        d_ff=shape["ff"],
        heads=shape["heads"],
        dropout=shape["dropout"],
    )
    clock = time.process_time if asked.cpu_time else time.perf_counter
    rate = matrix_rate(config, asked.precision, asked.threads, clock)
    rates = [rate()]
    model = Transformer(config, vocabulary_size=common.V, padding=common.PAD).train()
    special = SpecialIds(common.PAD, common.UNK, common.EOS, common.EOS)
    native = asked.by == "native"
    dtype = torch.float32 if native else started.dtype
    optimizer = FlatAdam(model, dtype, betas=(0.9, 0.98), epsilon=1e-9)
    loss_of = NativeStep(model, asked.precision, asked.threads).loss if native else by_torch(model)
    batches = batches_of(common)
    times, source_tokens, target_tokens, shares = [], [], [], []
    for _ in range(asked.steps):
        began = clock()
        pairs = next(batches)
        sources, targets = ([pair[side] for pair in pairs] for side in (0, 1))
        n_source, n_target = (sum(map(len, some)) + len(pairs) for some in (sources, targets))
        loss = loss_of(sources, targets, special, SMOOTHING)
        (loss / n_target).backward()
        optimizer.step(5e-4, 1.0)
        nats = loss.item() / n_target
        times.append(clock() - began)
        source_tokens.append(n_source)
        target_tokens.append(n_target)
        rates.append(rate())
        beside = sum(rates[-2:]) / 2  # others share this machine, now more and now less
        shares.append(operations(config, common.V, n_source, n_target) / times[-1] / beside)
    common.report_steps(
        f"headway {asked.by} {asked.precision}",
        asked.shape,
        times,
        source_tokens,
        target_tokens,
        asked.warm,
        loss=round(nats, 3),
        params=sum(parameter.numel() for parameter in model.parameters()),
        torch=torch.__version__,
        matrix_gflops=round(median(rates) / 1e9),
        matrix_share=round(median(shares[asked.warm :]), 3),
    )
    return 0


def batches_of(common: Any) -> Iterator[list[tuple[Any, Any]]]:
    """The peers' batches: pairs of ids without markers."""
    whole = common.load_ids()
    pairs = [tuple(np.array(side[:-1]) for side in pair) for pair in whole]
    epoch = 0
    while True:
        for rows in common.batches(whole, seed=epoch):
            yield [(pairs[row][0], pairs[row][1]) for row in rows]
        epoch += 1


def by_torch(
    model: Transformer,
) -> Callable[[Sequence[Any], Sequence[Any], SpecialIds, float], Tensor]:
    """Losses as `headway.core.translation_task` has them."""

    def loss(
        sources: Sequence[Any], targets: Sequence[Any], special: SpecialIds, smoothing: float
    ) -> Tensor:
        source, expected = (
            torch.from_numpy(pad(side, special.padding, end=special.end))
            for side in (sources, targets)
        )
        fed = torch.from_numpy(pad(targets, special.padding, begin=special.decoder_begin))
        return projected_label_smoothed(
            model.features(source, fed),
            model.output_weight,
            expected,
            smoothing=smoothing,
            padding=special.padding,
        ).smoothed

    return loss


def operations(config: TransformerConfig, n_words: int, n_source: int, n_target: int) -> int:
    """Of an update's products with weights; attention has a hundredth of that in short texts."""
    square, inner = config.d_model**2, 2 * config.d_model * config.d_ff
    read = config.encoder_layers * (4 * square + inner) + config.decoder_layers * 2 * square
    written = config.decoder_layers * (6 * square + inner) + n_words * config.d_model
    return 6 * (n_source * read + n_target * written)


def matrix_rate(
    config: TransformerConfig, precision: Any, threads: int, clock: Callable[[], float]
) -> Callable[[], float]:
    """What measures operations a second, now, of the fastest product of this machine."""
    d_model, d_ff, n_rows = config.d_model, config.d_ff, 1024
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    x, weight = torch.randn(n_rows, d_model), torch.randn(d_ff, d_model)
    some, other = x.to(dtype), weight.to(dtype)
    library = engine_library()
    times = max(1, 10**9 // (n_rows * d_model * d_ff))  # a thread is not begun for nothing
    matrix = packed(weight.numpy(), np.zeros(d_ff, np.float32), library.panel, precision)
    rooms = [(x.numpy(), zeros(n_rows, d_ff), aligned(4 * x.numel()), zeros(2 * n_rows))
             for _ in range(threads)]  # fmt: skip

    def product(thread: int) -> None:
        places = [room.ctypes.data for room in rooms[thread]]
        for _ in range(times):
            library.library.headway_product(matrix.structure, n_rows, *places)

    pool = ThreadPoolExecutor(threads)
    ways: tuple[tuple[int, Callable[[], object]], ...] = (
        (1, lambda: torch.mm(some, other.T)),
        (threads * times, lambda: [*pool.map(product, range(threads))]),
    )

    def rate() -> float:
        typical_s = [median(seconds_of(way, clock) for _ in range(15)) / n for n, way in ways]
        return 2 * n_rows * d_model * d_ff / min(typical_s)

    return rate


def seconds_of(work: Callable[[], object], clock: Callable[[], float]) -> float:
    """How long it takes."""
    began = clock()
    work()
    return clock() - began


def run_once(contestant: Contestant, asked: argparse.Namespace) -> dict[str, Any]:
    """One process's report; raises HeadwayError when it gives none."""
    home = peers_home()
    if contestant.script:
        python = home / "venv" / contestant.environment / "bin" / "python"
        command = [str(python), str(asked.peers / contestant.script)]
    else:
        command = [sys.executable, __file__, "--side", "headway", "--peers", str(asked.peers)]
        command += ["--threads", str(asked.threads), *(["--cpu-time"] if asked.cpu_time else [])]
    command += ["--shape", asked.shape, "--steps", str(asked.steps), "--warm", str(asked.warm)]
    process = subprocess.run(
        [*command, *contestant.arguments],
        env={**os.environ, **(AVX2 if asked.avx2 else {}), "PEERS_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    lines = [line for line in process.stdout.splitlines() if line.startswith('{"kind"')]
    if process.returncode or not lines:
        raise HeadwayError(
            f"{contestant.name} must report its speed; it ended with exit status "
            f"{process.returncode}:\n{process.stdout[-2000:]}"
        )
    report: dict[str, Any] = json.loads(lines[-1])
    return report


def others(report: dict[str, Any]) -> float:
    """CPUs kept busy by processes other than the contestant; a peer's child measures it itself."""
    return round(report.get("others_run", report["other_cpus"]), 2)


def ratio(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> float:
    """Median over rounds."""
    return median(a["tgt_tok_s"] / b["tgt_tok_s"] for a, b in zip(ours, theirs, strict=True))


def summary(reports: dict[str, list[dict[str, Any]]]) -> str:
    """A line for each contestant, the fastest first."""
    rows = []
    for name, its in reports.items():
        speeds = [report["tgt_tok_s"] for report in its]
        ratios = [f"{ratio(reports[our], its):.2f}" if our in reports else "-" for our in OURS]
        memory = max(report.get("rss_mb", report["peak_rss_mb"]) for report in its)
        busy = max(map(others, its))
        rounds = " ".join(f"{speed:,}" for speed in speeds)
        share = f"{median(r['matrix_share'] for r in its):.0%}" if "matrix_share" in its[0] else "-"
        rows.append((median(speeds), [name, f"{median(speeds):,.0f}", rounds, *ratios, share,
                                      f"{memory:,}", f"{busy:.2f}"]))  # fmt: skip
    rows.sort(key=lambda row: -row[0])
    header = ["trainer", "target tokens/s", "rounds", *(f"{our} / it" for our in OURS)]
    header.append("of matrix rate")
    return record.table([*header, "peak MB", "others"], [cells for _, cells in rows])


def verdict(asked: list[Contestant], reports: dict[str, list[dict[str, Any]]]) -> tuple[str, bool]:
    """Who wins: headway at its better precision against the fastest toolkit and the loop."""
    speed = {name: median(report["tgt_tok_s"] for report in its) for name, its in reports.items()}
    ours = max((name for name in OURS if name in speed), key=speed.__getitem__)
    lines, wins = [], True
    for name in (f"{BEFORE} {our.split()[1]}" for our in OURS):
        if name in reports:
            its = f"headway {name.split()[-1]}"
            by = ratio(reports[its], reports[name])
            lines.append(f"{its} is {by:.2f} times as fast as {name}")
    for kind, toolkit in (("toolkit", True), ("reference loop", False)):
        names = [one.name for one in asked if one.script and one.toolkit == toolkit]
        if not names:
            continue
        fastest = max(names, key=speed.__getitem__)
        by = ratio(reports[ours], reports[fastest])
        winner = "headway" if by > 1 else fastest
        lines.append(f"{winner} wins: {ours} is {by:.2f} times as fast as the best {kind}, "
                     f"{fastest}")  # fmt: skip
        wins = wins and (not toolkit or by > 1)
    return "\n".join(lines), wins


def installed(asked: argparse.Namespace) -> list[Contestant]:
    """Those that were asked for and are here; what is left out is said."""
    chosen, here = [], runtime.start(runtime.RuntimeSettings(device="cpu"))
    in_bf16 = here.dtype == torch.bfloat16 and not asked.avx2
    for one in contestants(asked.shape):
        if (one.script and asked.alone) or ("bf16" in one.name and not in_bf16):
            continue
        if one.script and asked.only and not any(word in one.name for word in asked.only):
            continue
        if one.script and not (peers_home() / "venv" / one.environment).exists():
            print(f"left out, not installed: {one.name}")
            continue
        chosen.append(one)
    if not (asked.alone or any(one.script for one in chosen)):
        raise ConfigError(
            f"Speed is measured beside peers; none is installed in {peers_home()}, or --only names "
            f"none. Run {asked.peers / '00_setup_venvs.sh'} main eole, set PEERS_HOME, "
            "or say --alone."
        )
    return chosen


def main() -> int:
    """Time everybody in turn, print, record; exit status 1 if a toolkit is faster."""
    parser = record.parser(__doc__)
    parser.add_argument("--peers", type=Path, metavar="DIR", required=True, help="their scripts")
    parser.add_argument("--shape", choices=("tiny", "base"), default="tiny")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=40, help="updates a process makes")
    parser.add_argument("--warm", type=int, default=5, help="of these, the first do not count")
    parser.add_argument(
        "--only", nargs="+", metavar="WORD", help="only peers with such a word in the name"
    )
    parser.add_argument("--alone", action="store_true", help="headway now, and as it was before")
    parser.add_argument("--avx2", action="store_true", help="nobody takes AVX-512")
    parser.add_argument("--cpu-time", action="store_true", help="with one thread alone: count "
                        "the process's own seconds, as on a machine that others use")  # fmt: skip
    parser.add_argument("--threads", type=int, default=2, help="headway's; 2 beside peers")
    record.add_record_option(parser)
    parser.add_argument("--side", choices=("headway",), help=argparse.SUPPRESS)
    parser.add_argument("--precision", choices=("fp32", "bf16"), help=argparse.SUPPRESS)
    parser.add_argument(
        "--by", choices=("native", "torch"), default="native", help=argparse.SUPPRESS
    )
    asked = parser.parse_args()
    if asked.rounds < 1 or asked.steps < asked.warm + 2:
        parser.error("--rounds must be at least 1, and --steps two more than --warm")
    if asked.side:
        return headway_side(asked)
    if asked.threads != 2 and not asked.alone:
        parser.error("--threads other than 2 is for --alone: the peers' scripts have two")
    if asked.cpu_time and (asked.threads != 1 or not asked.alone):
        parser.error("--cpu-time is for --alone --threads 1: threads that wait would count as well")
    chosen = installed(asked)
    reports: dict[str, list[dict[str, Any]]] = {one.name: [] for one in chosen}
    for n in range(asked.rounds):
        for one in chosen:
            report = run_once(one, asked)
            reports[one.name].append(report)
            print(f"round {n + 1}: {one.name}: {report['tgt_tok_s']:,} target tokens/s, others "
                  f"{others(report):.2f}", flush=True)  # fmt: skip
    said, wins = verdict(chosen, reports)
    where = f"{runtime.cpu_name()}{', AVX2 forced' if asked.avx2 else ''}"
    print(f"\n{asked.shape}, {where}, {asked.threads} thread(s)\n\n{summary(reports)}\n\n{said}")
    busy = any(others(report) > BUSY for its in reports.values() for report in its)
    if busy and not asked.cpu_time:
        print(f"the machine was not quiet (others above {BUSY}): measure again")
    how = {
        name: getattr(asked, name) for name in ("shape", "avx2", "cpu_time", "threads", "rounds")
    }
    figures = {**how, "reports": reports}
    record.write(asked.record, "training_speed", seeds=[SEED], figures=figures)
    return 0 if wins else 1


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
