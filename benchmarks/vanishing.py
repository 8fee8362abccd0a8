"""What vanishes over distance: gradients and memories of RNN, LSTM, GRU and Transformer.

All four have about the same number of parameters outside of their embeddings, and learn the same
task: behind the begin marker stands one of eight words, k - 1 more of the same eight follow, and
then the first one is asked for. Once every batch draws its own k from 1 to 400, small ones as often
as large ones (by their logarithm); and, with the first seed, once for each of a few k alone.
Reported, and drawn with --picture: how often the word is right at each distance (1 in 8 by chance),
and how long the gradient of its log-probability at position t is at position t - k, as a share of
the one at t, in texts of 400 words, before the training (over all k) and after it.
Run: python benchmarks/vanishing.py --seeds 1 2 --picture docs/vanishing.png
"""

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import record
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.loss import projected_label_smoothed
from headway.core.schedules import linear_rate
from headway.language_models.models import LANGUAGE_MODELS, PRESETS

BEGIN, ASKED, FIRST, N_KINDS = 2, 4, 5, 8
VOCABULARY_SIZE = FIRST + N_KINDS
LONGEST = 400
DISTANCES = (1, 2, 5, 10, 20, 50, 100, 200, 400)
ALONE = (20, 50, 100, 200)
"""Distances that are also learned each alone."""
TAILS = (0, 1, 5, 10, 25, 50, 100, 200, 400)
"""Distances whose gradients are printed; the picture has all."""
MODELS: dict[str, Callable[[int], dict[str, Any]]] = {
    "rnn": lambda d: {"layers": 1, "d_model": d},
    "lstm": lambda d: {"layers": 1, "d_model": d},
    "gru": lambda d: {"layers": 1, "d_model": d},
    "transformer": lambda d: {"layers": 2, "d_model": d, "d_ff": 4 * d, "heads": 4},
}
"""Options of each by its size."""
SCALES = ("embedding_scale", "output_scale")
"""Options that each has as in its preset."""


class Measured(NamedTuple):
    """What one training gave."""

    model: str
    d_model: int
    parameters: int
    """Outside of the embeddings."""
    seed: int
    seconds: float
    """Of the processor, for the training."""
    accuracy: list[float]
    """At each of `DISTANCES`, of a model that learned them all."""
    accuracy_alone: list[float]
    """At each of `ALONE`, of a model that learned no other; empty where it was not tried."""
    gradient_before: list[float]
    """At each distance from 0 to `LONGEST`, relative to that at 0."""
    gradient_after: list[float]


def texts(
    distance: int, n_rows: int, generator: torch.Generator
) -> tuple[Int[Tensor, "rows length"], Int[Tensor, " rows"]]:
    """Texts whose last token asks for the word so far before it, and the answers."""
    words = torch.randint(FIRST, VOCABULARY_SIZE, (n_rows, distance), generator=generator)
    begin, asked = (torch.full((n_rows, 1), token) for token in (BEGIN, ASKED))
    return torch.cat([begin, words, asked], 1), words[:, 0]


def built(name: str, d_model: int) -> nn.Module:
    """A model of that size."""
    config, model = LANGUAGE_MODELS[name]
    preset = PRESETS.get(name, {}).get("model", {})
    scales = {option: preset[option] for option in SCALES if option in preset}
    module: nn.Module = model(
        config(dropout=0.0, **scales, **MODELS[name](d_model)), vocabulary_size=VOCABULARY_SIZE
    )
    return module


def n_parameters(model: nn.Module) -> int:
    """Those that do not grow with the vocabulary."""
    return sum(p.numel() for p in model.parameters() if len(p) != VOCABULARY_SIZE)


def size_for(name: str, wanted: int) -> int:
    """The multiple of 8 that comes nearest to so many parameters."""
    with torch.device("meta"):
        sizes = {d: n_parameters(built(name, d)) for d in range(8, 520, 8)}
    return min(sizes, key=lambda d: abs(math.log(sizes[d] / wanted)))


def learn(model: nn.Module, updates: int, rate: float, seed: int, distance: int = 0) -> None:
    """By Adam, on batches of 32 texts; 0 draws a distance for each."""
    generator = torch.Generator().manual_seed(seed)
    adam = torch.optim.Adam(model.parameters(), fused=True)
    model.train()
    for step in range(1, updates + 1):
        drawn = round(LONGEST ** torch.rand((), generator=generator).item())
        fed, answer = texts(distance or drawn, 32, generator)
        loss = projected_label_smoothed(
            model.read(fed).features[:, -1],
            model.output_weight,
            answer,
            output_bias=model.output_bias,
            smoothing=0.0,
            padding=0,
        ).smoothed
        adam.zero_grad()
        (loss / len(fed)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        peak = linear_rate(step, peak=rate, warmup_steps=updates // 20, max_steps=updates)
        adam.param_groups[0]["lr"] = peak
        adam.step()


def accuracy(model: nn.Module, distance: int, seed: int) -> float:
    """The share of 512 new texts whose word is right."""
    fed, answer = texts(distance, 512, torch.Generator().manual_seed(10_000 * seed + distance))
    with torch.no_grad():
        found = torch.cat([model(part)[:, -1].argmax(-1) for part in fed.split(64)])
    return (found == answer).float().mean().item()


def gradients(model: nn.Module, seed: int) -> list[float]:
    """Length of the gradient of the answer's log-probability in each token's embedding, from the
    last token backwards, as a share of the last one's: geometric means over 32 texts."""
    fed, answer = texts(LONGEST, 32, torch.Generator().manual_seed(20_000 + seed))
    embedded: list[Tensor] = []
    handle = model.embedding.register_forward_hook(lambda *given: embedded.append(given[2]))
    log_probs = model(fed)[:, -1].log_softmax(-1)
    handle.remove()
    [gradient] = torch.autograd.grad(log_probs.gather(1, answer[:, None]).sum(), embedded)
    lengths: Float[Tensor, "rows length"] = gradient.double().norm(dim=-1).flip(1)
    relative = (lengths / lengths[:, :1]).clamp(min=1e-40)
    return relative.log().mean(0).exp().tolist()


def measure(
    name: str, *, wanted: int, updates: int, rate: float, seed: int, alone: Sequence[int]
) -> Measured:
    """One training on all distances, and one on each that is wanted alone."""
    torch.manual_seed(seed)
    model = built(name, size := size_for(name, wanted)).eval()
    before = gradients(model, seed)
    began = time.process_time()
    learn(model, updates, rate, seed)
    seconds = time.process_time() - began
    model.eval()
    right = [accuracy(model, distance, seed) for distance in DISTANCES]
    after = gradients(model, seed)
    right_alone = []
    for distance in alone:
        torch.manual_seed(seed)
        learn(single := built(name, size), updates, rate, seed, distance)
        right_alone.append(accuracy(single.eval(), distance, seed))
    return Measured(
        name, size, n_parameters(model), seed, seconds, right, right_alone, before, after
    )


def draw(rows: list[Measured], path: Path) -> None:
    """Gradients on the left, recall on the right, in the same colours; every seed is a line."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    colours = dict(zip(MODELS, ("#888888", "#d62728", "#ff9d2e", "#1f77b4"), strict=True))
    labels = {"rnn": "RNN", "lstm": "LSTM", "gru": "GRU", "transformer": "Transformer"}
    named: set[str] = set()
    for row in rows:
        colour = colours[row.model]
        label = "_" if row.model in named else labels[row.model]
        named.add(row.model)
        left.plot(row.gradient_before, color=colour, linestyle=":", linewidth=1)
        left.plot(row.gradient_after, color=colour, label=label)
        right.plot(DISTANCES, [100 * share for share in row.accuracy], "o-", color=colour, ms=4)
        if row.accuracy_alone:
            shares = [100 * share for share in row.accuracy_alone]
            right.plot(ALONE, shares, "s--", color=colour, ms=5, markerfacecolor="white")
    left.plot([], [], color="black", linestyle=":", linewidth=1, label="before training")
    left.set(
        title="How much of the gradient arrives",
        xlabel="distance back (tokens)",
        ylabel="gradient norm, relative to distance 0",
        yscale="log",
        ylim=(1e-12, 10),
    )
    left.legend(loc="lower right")
    right.plot([], [], "o-", color="black", ms=4, label="all distances learned together")
    right.plot([], [], "s--", color="black", ms=5, mfc="white", label="this distance alone")
    right.axhline(100 / N_KINDS, color="black", linestyle="--", linewidth=1)
    right.annotate("chance", (1, 100 / N_KINDS), xytext=(0, 3), textcoords="offset points")
    right.set(
        title="A word recalled after k tokens",
        xlabel="distance k (tokens)",
        ylabel="right (%)",
        xscale="log",
        xticks=DISTANCES,
        xticklabels=[str(distance) for distance in DISTANCES],
        ylim=(0, 103),
    )
    right.minorticks_off()
    right.legend(loc="center left")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=130)


def main() -> int:
    """Train each model with each seed, print, draw, record."""
    parser = record.parser(__doc__)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--parameters", type=int, default=50_000, metavar="N")
    parser.add_argument("--updates", type=int, default=500, metavar="N")
    parser.add_argument("--rate", type=float, default=2e-3, help="Adam's highest learning rate")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw a PNG")
    record.add_record_option(parser)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    torch.set_flush_denormal(True)  # gradients that vanish pass through numbers that are slow
    rows = []
    for number, seed in enumerate(asked.seeds):
        for name in asked.models:
            row = measure(
                name,
                wanted=asked.parameters,
                updates=asked.updates,
                rate=asked.rate,
                seed=seed,
                alone=() if number else ALONE,
            )
            rows.append(row)
            print(f"{name}, seed {seed}: {row.seconds:.0f} s, {row.accuracy_alone}", flush=True)
    what = [
        [f"{row.model} ({row.d_model}; {row.parameters:,})", row.seed, f"{row.seconds:.0f}"]
        for row in rows
    ]
    head = ["model (size; parameters)", "seed", "seconds"]
    shares = [[f"{100 * share:.0f}" for share in row.accuracy] for row in rows]
    print("\nRight (%) at each distance\n")
    print(record.table([*head, *DISTANCES], [a + b for a, b in zip(what, shares, strict=True)]))
    print("\nRight (%) where a distance was learned alone\n")
    tried = [n for n, row in enumerate(rows) if row.accuracy_alone]
    cells = [[f"{100 * share:.0f}" for share in rows[n].accuracy_alone] for n in tried]
    singles = [what[n] + a for n, a in zip(tried, cells, strict=True)]
    print(record.table([*head, *ALONE], singles))
    for when in ("before", "after"):
        curves = [getattr(row, f"gradient_{when}") for row in rows]
        cells = [[f"{curve[k]:.0e}" for k in TAILS] for curve in curves]
        print(f"\nGradient at each distance, relative to distance 0, {when} training\n")
        print(record.table([*head, *TAILS], [a + b for a, b in zip(what, cells, strict=True)]))
    if asked.picture:
        draw(rows, asked.picture)
    figures = {"updates": asked.updates, "rate": asked.rate, "distances": DISTANCES}
    runs = [row._asdict() for row in rows]
    record.write(asked.record, "vanishing", seeds=asked.seeds, figures={**figures, "runs": runs})
    return 0


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
