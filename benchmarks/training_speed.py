"""Training speed on a CPU beside other toolkits: target tokens a second, all in one run.

Takes the peers' scripts (--peers DIR) and trains headway's own Transformer, FlatAdam and chunked
loss, in float32 and in bfloat16, on the same ids and the same batches of at most 4,096 padded
tokens, with the same shape, dropout, label smoothing 0.1, tied embeddings and two threads. Every
contestant is a process of its own and has its turn in every round, so that what else the machine
does hits all alike. A figure is the median over a process's updates, real tokens only, end markers
included; a ratio is the median over rounds of headway's figure by the peer's of the same round.
Where `others` (CPUs that other processes kept busy) is above 0.15, measure again. Exit status 1
when a toolkit is faster than headway at its better precision. The reference loop, written for
speed with no toolkit around it, is shown as well but does not decide that.
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
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import record
import torch

from headway.core import runtime
from headway.core.errors import ConfigError, HeadwayError
from headway.core.loss import projected_label_smoothed
from headway.core.optimizer import FlatAdam
from headway.core.transformer import Transformer, TransformerConfig

THREADS, SEED, BUSY = 2, 1, 0.15
OURS = ("headway fp32", "headway bf16")
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
    return [fp32, *peers[:3], bf16, *peers[3:], *(loop._replace(toolkit=False) for loop in loops)]


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
        runtime.RuntimeSettings(device="cpu", precision=asked.precision, threads=THREADS, seed=SEED)
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
    model = Transformer(config, vocabulary_size=common.V, padding=common.PAD).train()
    optimizer = FlatAdam(model, started.dtype, betas=(0.9, 0.98), epsilon=1e-9)
    stream = common.stream(common.load_ids())
    times: list[float] = []
    source_tokens: list[int] = []
    target_tokens: list[int] = []
    for _ in range(asked.steps):
        clock = time.perf_counter()
        source, expected, n_source, n_target = next(stream)
        fed = torch.cat([torch.full_like(expected[:, :1], common.EOS), expected[:, :-1]], 1)
        loss = projected_label_smoothed(
            model.features(source, fed),
            model.output_weight,
            expected,
            smoothing=0.1,
            padding=common.PAD,
        )
        (loss.smoothed / n_target).backward()
        optimizer.step(5e-4, 1.0)
        nats = loss.smoothed.item() / n_target
        times.append(time.perf_counter() - clock)
        source_tokens.append(n_source)
        target_tokens.append(n_target)
    common.report_steps(
        f"headway {asked.precision}",
        asked.shape,
        times,
        source_tokens,
        target_tokens,
        asked.warm,
        loss=round(nats, 3),
        params=sum(parameter.numel() for parameter in model.parameters()),
        torch=torch.__version__,
    )
    return 0


def run_once(contestant: Contestant, asked: argparse.Namespace) -> dict[str, Any]:
    """One process's report; raises HeadwayError when it gives none."""
    home = peers_home()
    if contestant.script:
        python = home / "venv" / contestant.environment / "bin" / "python"
        command = [str(python), str(asked.peers / contestant.script)]
    else:
        command = [sys.executable, __file__, "--side", "headway", "--peers", str(asked.peers)]
    command += ["--shape", asked.shape, "--steps", str(asked.steps), "--warm", str(asked.warm)]
    process = subprocess.run(
        [*command, *contestant.arguments],
        env={**os.environ, "PEERS_HOME": str(home)},
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
        rows.append((median(speeds), [name, f"{median(speeds):,.0f}", rounds, *ratios,
                                      f"{memory:,}", f"{busy:.2f}"]))  # fmt: skip
    rows.sort(key=lambda row: -row[0])
    header = ["trainer", "target tokens/s", "rounds", *(f"{our} / it" for our in OURS)]
    return record.table([*header, "peak MB", "others"], [cells for _, cells in rows])


def verdict(asked: list[Contestant], reports: dict[str, list[dict[str, Any]]]) -> tuple[str, bool]:
    """Who wins: headway at its better precision against the fastest toolkit and the loop."""
    speed = {name: median(report["tgt_tok_s"] for report in its) for name, its in reports.items()}
    ours = max((name for name in OURS if name in speed), key=speed.__getitem__)
    lines, wins = [], True
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
    chosen = []
    for one in contestants(asked.shape):
        if one.script and asked.only and not any(word in one.name for word in asked.only):
            continue
        if one.script and not (peers_home() / "venv" / one.environment).exists():
            print(f"left out, not installed: {one.name}")
            continue
        chosen.append(one)
    if not any(one.script for one in chosen):
        raise ConfigError(
            f"Speed is measured beside peers; none is installed in {peers_home()}, or --only names "
            f"none. Run {asked.peers / '00_setup_venvs.sh'} main eole, or set PEERS_HOME."
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
    record.add_record_option(parser)
    parser.add_argument("--side", choices=("headway",), help=argparse.SUPPRESS)
    parser.add_argument("--precision", choices=("fp32", "bf16"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.rounds < 1 or asked.steps < asked.warm + 2:
        parser.error("--rounds must be at least 1, and --steps two more than --warm")
    if asked.side:
        return headway_side(asked)
    chosen = installed(asked)
    reports: dict[str, list[dict[str, Any]]] = {one.name: [] for one in chosen}
    for n in range(asked.rounds):
        for one in chosen:
            report = run_once(one, asked)
            reports[one.name].append(report)
            print(f"round {n + 1}: {one.name}: {report['tgt_tok_s']:,} target tokens/s, others "
                  f"{others(report):.2f}", flush=True)  # fmt: skip
    said, wins = verdict(chosen, reports)
    print(f"\n{asked.shape}\n\n{summary(reports)}\n\n{said}")
    if any(others(report) > BUSY for its in reports.values() for report in its):
        print(f"the machine was not quiet (others above {BUSY}): measure again")
    figures = {"shape": asked.shape, "rounds": asked.rounds, "reports": reports}
    record.write(asked.record, "training_speed", seeds=[SEED], figures=figures)
    return 0 if wins else 1


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
