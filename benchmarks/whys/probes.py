"""What needs no training: scores of random vectors, and gradients of models that are just drawn."""

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway.core.attention import causal_mask
from headway.core.loss import projected_label_smoothed
from headway.translation.corpus_task import CorpusTask
from headway.translation.spec import PlannedTranslation
from whys.lessons import opened_lesson
from whys.training import built

N_QUERIES = N_KEYS = 64
N_TIMED = 15


def scores(settings: Mapping[str, Any], root: Path, threads: int) -> dict[str, Any]:
    """Scores of random queries and keys, whose components have mean 0 and variance 1.

    Of q . k, of q . k / sqrt(d_k), and of v . tanh(W q + U k) with weights as they are first drawn.
    """
    torch.set_num_threads(threads)
    torch.manual_seed(settings["seed"])
    d_k = settings["d_k"]
    query, key = torch.randn(N_QUERIES, d_k), torch.randn(N_KEYS, d_k)
    to_query, to_key = nn.Linear(d_k, d_k), nn.Linear(d_k, d_k)
    to_score = torch.randn(d_k) * d_k**-0.5
    for linear in (to_query, to_key):
        nn.init.xavier_uniform_(linear.weight)
        nn.init.zeros_(linear.bias)
    kinds: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
        "dot": lambda q, k: q @ k.T,
        "scaled": lambda q, k: (q / d_k**0.5) @ k.T,
        "additive": lambda q, k: (to_query(q)[:, None] + to_key(k)[None]).tanh() @ to_score,
    }
    return {name: of_scores(score, query, key) for name, score in kinds.items()}


def of_scores(
    score: Callable[[Tensor, Tensor], Tensor],
    query: Float[Tensor, "query d_k"],
    key: Float[Tensor, "key d_k"],
) -> dict[str, float]:
    """Variance of the scores, what softmax makes of them, its gradient, and the time."""
    with torch.no_grad():
        found = score(query, key)
        weights = found.softmax(-1)
        entropy = torch.special.entr(weights).sum(-1).mean().item()
        jacobian = weights.diag_embed() - weights[:, :, None] * weights[:, None, :]
    asked = query.clone().requires_grad_()
    times = []
    for _ in range(N_TIMED):
        began = time.perf_counter()
        score(asked, key).softmax(-1).square().sum().backward()
        times.append(time.perf_counter() - began)
    return {
        "variance": found.var().item(),
        "entropy": entropy,
        "largest": weights.max(-1).values.mean().item(),
        "gradient": jacobian.flatten(1).norm(dim=1).median().item(),
        "milliseconds": 1000 * median(times),
    }


def gradients(settings: Mapping[str, Any], root: Path, threads: int) -> dict[str, Any]:
    """Length of the first gradient in each encoder layer of a model that is just drawn, the lowest
    layer first, and how alike the encoder's outputs at different positions are."""
    torch.set_num_threads(threads)
    lesson, seed = opened_lesson(settings["lesson"], root), settings["seed"]
    model: Any = built(settings["model"], lesson, seed).train()
    training = PlannedTranslation(batch_tokens=1024)
    rows = torch.arange(20).numpy()
    task = CorpusTask(
        lesson.prepared, training, valid_rows=rows, seed=seed, device=torch.device("cpu")
    )
    batch = task.next_batch()
    source, fed, expected = task.tensors(*batch.rows)
    loss = projected_label_smoothed(
        model.features(source, fed),
        model.output_weight,
        expected,
        output_bias=model.output_bias,
        smoothing=0.0,
        padding=task.special.padding,
    )
    (loss.smoothed / batch.units).backward()
    by_layer = [
        math.hypot(
            *(p.grad.double().norm().item() for p in layer.parameters() if p.grad is not None)
        )
        for layer in model.encoder
    ]  # in float64: squares of what float32 can hold pass its end
    with torch.no_grad():
        encoded = model.eval().encode(source)[0]
        some = nn.functional.normalize(encoded[:, : min(5, encoded.shape[1])].double(), dim=-1)
        alike = (some @ some.transpose(1, 2))[
            :, *causal_mask(some.shape[1])[0, 0].logical_not().nonzero(as_tuple=True)
        ]
    return {
        "loss": loss.nll.item() / batch.units,
        "by_layer": by_layer,
        "norm": math.hypot(*by_layer),
        "alike": alike.mean().item(),
    }
