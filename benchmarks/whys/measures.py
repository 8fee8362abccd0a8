"""What is measured of a trained model where a question asks for it; each gives figures by name."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from statistics import mean
from typing import Any, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core import checkpoint
from headway.core.attention import MultiHeadAttention
from headway.core.embedding import project
from headway.core.optimizer import load_weights
from headway.core.rows import pad
from headway.nn.attention_weights import look
from whys.lessons import Lesson, Pair
from whys.training import Figures, Trained, ids_written, scored, texts_written

N_POSITIONS = 12
"""Accuracy is told for so many target positions."""
N_PROBED = 60
"""Sentences of which words are deleted, three of each."""


def tensors(lesson: Lesson, pairs: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
    """Source, what the decoder is fed, and what it should say."""
    vocabulary, special = lesson.prepared.subwords, lesson.prepared.subwords.special
    sources, targets = (
        [torch.tensor(ids, dtype=torch.long).numpy() for ids in vocabulary.encode_batch(list(side))]
        for side in zip(*pairs, strict=True)
    )
    return (
        torch.from_numpy(pad(sources, special.padding, end=special.end)),
        torch.from_numpy(pad(targets, special.padding, begin=special.decoder_begin)),
        torch.from_numpy(pad(targets, special.padding, end=special.end)),
    )


def log_probs(
    model: Any, source: Int[Tensor, "batch source"], fed: Int[Tensor, "batch target"]
) -> Float[Tensor, "batch target vocabulary"]:
    """By one pass with the truth fed."""
    features = model.features(source, fed)
    return project(features, model.output_weight, model.output_bias).log_softmax(-1)


# -- truth fed against own words --------------------------------------------------------------


def own_words(trained: Trained) -> Figures:
    """How often the token at each position is right, fed the truth and fed its own words."""
    lesson, pairs = trained.lesson, trained.lesson.tests["test"][:200]
    source, fed, expected = tensors(lesson, pairs)
    forced = log_probs(trained.model, source, fed).argmax(-1)
    written = ids_written(trained.model, lesson, [text for text, _ in pairs])
    end, padding = lesson.prepared.subwords.special.end, lesson.prepared.subwords.special.padding
    n = expected.shape[1]
    own = torch.full_like(expected, -1)
    for row, ids in enumerate(written):
        said = [*ids, end][:n]
        own[row, : len(said)] = torch.tensor(said)
    real = expected != padding
    both = {"forced": forced == expected, "own": own == expected}
    return {
        "accuracy": {
            name: {
                "all": 100 * right[real].float().mean().item(),
                "by_position": by_position(right, real),
            }
            for name, right in both.items()
        }
    }


def by_position(right: Tensor, real: Tensor) -> list[float]:
    """The share that is right at each target position, where there are 20 or more (%)."""
    columns = range(min(N_POSITIONS, right.shape[1]))
    return [
        100 * right[:, i][real[:, i]].float().mean().item()
        for i in columns
        if int(real[:, i].sum()) >= 20
    ]


# -- what attention is good for ---------------------------------------------------------------


def attended(model: Any, source: Tensor, fed: Tensor) -> Tensor | None:
    """Attention on the source at every step, the truth fed; None where a model has none."""
    state, maps = model.start(source), []
    for token in fed.unbind(1):
        step = model.step(state, token, want_attention=True)
        if step.attention is None:
            return None
        state = step.state
        maps.append(step.attention)
    return torch.stack(maps, 1)  # [batch, target, source]


def deletion(trained: Trained) -> Figures:
    """What the truth loses (nats) where the most attended token is taken out of the source, and
    where a random other one is; with one attention map to be drawn."""
    model, lesson = cast(Any, trained.model), trained.lesson
    pairs = lesson.tests["test"][:N_PROBED]
    source, fed, expected = tensors(lesson, pairs)
    maps = attended(model, source, fed)
    if maps is None:
        return {}
    before = log_probs(model, source, fed)
    special = lesson.prepared.subwords.special
    drawn = random.Random(trained.seed)
    rows, places, most, others, peaks = [], [], [], [], []
    for row in range(len(pairs)):
        n_source = int((source[row] != special.padding).sum()) - 1  # without its end marker
        n_target = int((expected[row] != special.padding).sum()) - 1
        if n_source < 2:
            continue
        for place in drawn.sample(range(n_target), min(3, n_target)):
            here = maps[row, place, :n_source]
            chosen = int(here.argmax())
            rows.append(row)
            places.append(place)
            most.append(chosen)
            others.append(drawn.choice([i for i in range(n_source) if i != chosen]))
            peaks.append(here.max().item())
    truth = expected[rows, places]
    whole = before[rows, places, truth]

    def lost(deleted: Sequence[int]) -> float:
        shorter = without(source[rows], deleted, special.padding)
        after = log_probs(model, shorter, fed[rows])[range(len(rows)), places, truth]
        return (whole - after).mean().item()

    first = next(i for i, (text, _) in enumerate(pairs) if 5 <= len(text.split()) <= 10)
    return {
        "deleted": {"most": lost(most), "random": lost(others), "peak": mean(peaks)},
        "alignment": alignment(lesson, pairs[first], maps[first]),
    }


def without(source: Tensor, deleted: Sequence[int], padding: int) -> Tensor:
    """Each row without one of its tokens."""
    kept = [torch.cat([row[:i], row[i + 1 :]]) for row, i in zip(source, deleted, strict=True)]
    return nn.functional.pad(torch.stack(kept), (0, 1), value=padding)


def alignment(lesson: Lesson, pair: Pair, weights: Tensor) -> Figures:
    """One attention map with its tokens."""
    vocabulary = lesson.prepared.subwords
    source, target = ([*vocabulary.pieces(ids)] for ids in vocabulary.encode_batch(list(pair)))
    rows = weights[: len(target) + 1, : len(source) + 1]
    return {
        "source": [*source, "</s>"],
        "target": [*target, "</s>"],
        "weights": [[round(weight, 4) for weight in row] for row in rows.tolist()],
    }


# -- heads ------------------------------------------------------------------------------------


def attentions(model: Any) -> Iterator[tuple[str, MultiHeadAttention]]:
    """Every attention of a Transformer, by a name that says where."""
    for number, layer in enumerate(model.encoder, 1):
        yield f"encoder {number}", layer.self_attention
    for number, layer in enumerate(model.decoder, 1):
        yield f"decoder {number}", layer.self_attention
        yield f"cross {number}", layer.cross_attention


@contextmanager
def removed(some: Iterable[tuple[MultiHeadAttention, int]]) -> Iterator[None]:
    """Heads that give nothing while the block lasts."""
    kept = []
    for attention, head in some:
        size = attention.to_output.in_features // attention.heads
        columns = attention.to_output.weight.data[:, head * size : (head + 1) * size]
        kept.append((columns, columns.clone()))
        columns.zero_()
    try:
        yield
    finally:
        for columns, before in reversed(kept):
            columns.copy_(before)


def heads(trained: Trained) -> Figures:
    """Validation loss with each head taken away, and with ever more of those that matter least."""
    model, task = trained.model, trained.task
    every = [
        (f"{name}.{head + 1}", (attention, head))
        for name, attention in attentions(model)
        for head in range(attention.heads)
    ]
    whole = task.validation_loss(model)
    worse = {}
    for name, one in every:
        with removed([one]):
            worse[name] = task.validation_loss(model) - whole
    order = sorted(every, key=lambda one: worse[one[0]])
    shares = []
    for n in range(0, len(order) + 1, max(1, len(order) // 8)):
        with removed(one for _, one in order[:n]):
            shares.append([n, task.validation_loss(model)])
    return {"heads": {"whole": whole, "worse": worse, "least_first": shares}}


def diagonal(trained: Trained) -> Figures:
    """How much of self-attention in the encoder each position keeps for itself."""
    pairs = trained.lesson.tests["test"][:100]
    source, fed, _ = tensors(trained.lesson, pairs)
    maps = look(cast(Any, trained.model), source, fed).encoder  # [layers, batch, heads, s, s]
    real = source != trained.lesson.prepared.subwords.special.padding
    own = maps.diagonal(dim1=-2, dim2=-1)  # [layers, batch, heads, s]
    some = real[None, :, None, :].expand_as(own)
    uniform = (1 / real.sum(-1).float())[:, None].expand_as(real)[real]
    return {
        "diagonal": {
            "share": own[some].mean().item(),
            "by_layer": [layer[some[0]].mean().item() for layer in own],
            "uniform": uniform.mean().item(),
        }
    }


# -- weights averaged -------------------------------------------------------------------------


def averaged(trained: Trained) -> Figures:
    """The same figures of the average of the last checkpoints."""
    trainer, model = trained.trainer, trained.model
    steps = trainer.progress.validated[-trainer.settings.average :]
    load_weights(model, checkpoint.average(trainer.folder.checkpoints, steps))
    pairs = trained.lesson.tests["test"]
    figures = {
        "n": len(steps),
        "valid_loss": trained.task.validation_loss(model),
        **scored(trained.lesson, pairs, texts_written(model, trained.lesson, pairs)),
    }
    load_weights(model, trainer.optimizer.weights())
    return {"averaged": figures}


MEASURES: dict[str, Callable[[Trained], Figures]] = {
    "own words": own_words,
    "deletion": deletion,
    "heads": heads,
    "diagonal": diagonal,
    "averaged": averaged,
}
"""By the names that cells ask for them with."""
