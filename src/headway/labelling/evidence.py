"""Which words decided what a model says of a text: two ways to ask.

Gradient times input (Shrikumar et al. 2017): what a word's embedding adds to the log odds of the
label, as if the model were as linear everywhere as it is just here. A LayerNorm makes it blind, as
its output does not change with the length of its input; so what norms divide by is held as it is
(Ali et al. 2022, section 4.2). Attention rollout (Abnar and Zuidema 2020): how much of a word comes
through all layers of attention and the streams beside them.
`headway.labelling.deletion` tells which of them to believe.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor, nn

from headway.core.attention import MultiHeadAttention
from headway.nn.attention_weights import watched

BATCH = 64
"""Texts that are read together."""
GRADIENT, ATTENTION = "gradient times input", "attention"
"""The ways, as they are called."""


class TextInWords(NamedTuple):
    """A text as a model reads it, and which of its places are which word."""

    ids: Sequence[int]
    """Its markers included."""
    words: Sequence[str]
    places: Sequence[Sequence[int]]
    """Of each word; markers are of none."""
    asked: int | None = None
    """The place whose label is asked; None: the label is the text's."""

    def without(self, words: Iterable[int]) -> "TextInWords":
        """The text as if these words had never stood there."""
        gone = {place for word in words for place in self.places[word]} - {self.asked}
        kept = [place for place in range(len(self.ids)) if place not in gone]
        now = {place: i for i, place in enumerate(kept)}
        left = [word for word in range(len(self.words)) if self.places[word][0] in now]
        return TextInWords(
            [self.ids[place] for place in kept],
            [self.words[word] for word in left],
            [[now[place] for place in self.places[word] if place in now] for word in left],
            None if self.asked is None else now[self.asked],
        )


def in_words(text: str, spans: Sequence[tuple[int, int]]) -> tuple[list[str], list[list[int]]]:
    """The words of a text, and the pieces (by their `spans` of characters) that each is made of.

    A word begins behind a space, at punctuation, and at each piece of a script without spaces.
    """
    places: list[list[int]] = []
    ends: list[list[int]] = []
    for i, (begin, end) in enumerate(spans):
        if not text[begin:end].strip():
            continue
        start = end - len(text[begin:end].lstrip())
        if ends and (start < ends[-1][1] or (start == ends[-1][1] and _joined(text, start))):
            places[-1].append(i)
            ends[-1][1] = max(end, ends[-1][1])
        else:
            places.append([i])
            ends.append([start, end])
    return [text[start:end].rstrip() for start, end in ends], places


def _joined(text: str, at: int) -> bool:
    """Whether the characters on both sides are of one word."""
    return all(_of_spaced_word(one) for one in text[at - 1 : at + 1])


def _of_spaced_word(character: str) -> bool:
    return character in "'’-" or (character.isalnum() and character < "\u2e80")


@dataclass(frozen=True)
class LabelReader:
    """A model that labels, asked about texts in words."""

    model: nn.Module
    """A `headway.labelling.labeller.Labeller`, not in training mode."""
    padding: int
    device: torch.device
    norms_held: bool = True
    """False for gradient times input as it was before Ali et al., to see what they found."""

    @property
    def attentions(self) -> list[MultiHeadAttention]:
        """Of each layer of the encoder; none where it has no attention."""
        layers: Any = getattr(self.model.encoder, "layers", ())
        return [one.self_attention for one in layers if hasattr(one, "self_attention")]

    def ids(self, texts: Sequence[TextInWords]) -> Int[Tensor, "texts length"]:
        """Of some texts, padded behind."""
        longest = max(len(one.ids) for one in texts)
        rows = [[*one.ids, *[self.padding] * (longest - len(one.ids))] for one in texts]
        return torch.tensor(rows, device=self.device)

    def logits(self, texts: Sequence[TextInWords]) -> Float[Tensor, "texts labels"]:
        """Of the labels that are asked."""
        found: Tensor = self.model(self.ids(texts)).float()
        if texts[0].asked is None:
            return found
        return found[range(len(texts)), [one.asked for one in texts]]

    @torch.inference_mode()
    def probs(self, texts: Sequence[TextInWords]) -> Float[NDArray, "texts labels"]:
        """The probability of each label."""
        found: dict[int, NDArray[Any]] = {}
        for some in batches(texts):
            rows = self.logits([texts[i] for i in some]).softmax(-1).cpu().numpy()
            found |= dict(zip(some, rows, strict=True))
        return np.stack([found[i] for i in range(len(texts))])

    def gradient_times_input(
        self, texts: Sequence[TextInWords], labels: Sequence[int]
    ) -> list[Float[NDArray, " words"]]:
        """Of each word, what it adds to the log odds of the label, in nats; below 0 it speaks
        against it. Exact where the log odds are linear in the embeddings."""
        found: dict[int, NDArray[Any]] = {}
        for some in batches(texts):
            with torch.enable_grad(), _leaves(self.model, norms_held=self.norms_held) as leaves:
                chosen = torch.tensor([[labels[i]] for i in some], device=self.device)
                logits = self.logits([texts[i] for i in some])
                others = logits.scatter(1, chosen, -torch.inf).logsumexp(1)
                log_odds = logits.gather(1, chosen)[:, 0] - others
                gradients = torch.autograd.grad(log_odds.sum(), leaves)
            by_place = sum((leaf * g).sum(-1) for leaf, g in zip(leaves, gradients, strict=True))
            found |= _by_word(some, texts, by_place.detach().cpu().numpy())  # type: ignore[union-attr]
        return [found[i] for i in range(len(texts))]

    @torch.inference_mode()
    def attention(self, texts: Sequence[TextInWords]) -> list[Float[NDArray, " words"]]:
        """Of each word, the share of what is read that comes of it, by rollout: for the place that
        is asked, or the one that is pooled; else the mean over all places."""
        found: dict[int, NDArray[Any]] = {}
        for some in batches(texts):
            chosen = [texts[i] for i in some]
            arrived = rollout(self.maps(chosen).mean(2))
            for row, text in enumerate(chosen):
                first = getattr(self.model.head, "pooling", "") == "first"
                asked = 0 if first else text.asked
                rows = slice(0, len(text.ids)) if asked is None else slice(asked, asked + 1)
                by_place = arrived[row, rows].mean(0).cpu().numpy()
                found |= _by_word([some[row]], texts, by_place[None])
        return [found[i] for i in range(len(texts))]

    def maps(self, texts: Sequence[TextInWords]) -> Float[Tensor, "layers texts heads query key"]:
        """The weights of all attentions."""
        with watched(self.attentions) as maps:
            self.model(self.ids(texts))
        return torch.stack(maps)

    def evidence(
        self, texts: Sequence[TextInWords], labels: Sequence[int]
    ) -> dict[str, list[Float[NDArray, " words"]]]:
        """By each way that the model allows."""
        found = {GRADIENT: self.gradient_times_input(texts, labels)}
        if self.attentions:
            found[ATTENTION] = self.attention(texts)
        return found


def rollout(
    maps: Float[Tensor, "layers batch length length"],
) -> Float[Tensor, "batch length length"]:
    """How much of each place (column) reaches each place (row) through all layers: half of what a
    layer gives is what came in, half is what its heads (their mean) gathered (eq. 1 and 2)."""
    found = torch.eye(maps.shape[-1], device=maps.device).expand(maps.shape[1:])
    for layer in maps:
        found = (found + layer @ found) / 2
    return found


def named(scores: Float[NDArray, " words"], k: int) -> list[int]:
    """The numbers of the `k` words that speak most for the label, the first one first."""
    found: list[int] = np.argsort(-scores, kind="stable")[:k].tolist()
    return found


def batches(texts: Sequence[TextInWords]) -> Iterator[list[int]]:
    """The numbers of texts that are read together, alike in length."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i].ids))
    for first in range(0, len(order), BATCH):
        yield order[first : first + BATCH]


def _by_word(
    some: Sequence[int], texts: Sequence[TextInWords], by_place: NDArray[Any]
) -> dict[int, NDArray[Any]]:
    return {
        i: np.array([row[[*places]].sum() for places in texts[i].places])
        for i, row in zip(some, by_place, strict=True)
    }


@contextmanager
def _leaves(model: nn.Module, *, norms_held: bool) -> Iterator[list[Tensor]]:
    """While it is open, what the embedding gives is noted, and gradients end there."""
    leaves: list[Tensor] = []

    def keep(_module: nn.Module, _given: object, output: Tensor) -> Tensor:
        leaves.append(output.detach().requires_grad_())
        return leaves[-1]

    embedding: Any = model.encoder.embedding  # type: ignore[union-attr]
    norms = [one for one in model.modules() if isinstance(one, nn.LayerNorm) and norms_held]
    hooks = [embedding.register_forward_hook(keep)]
    hooks += [one.register_forward_hook(_held) for one in norms]
    try:
        with torch.backends.cudnn.flags(enabled=False):  # its LSTM has gradients in training alone
            yield leaves
    finally:
        for hook in hooks:
            hook.remove()


def _held(norm: nn.Module, given: tuple[Tensor], output: Tensor) -> Tensor:
    """What a LayerNorm gives, linear in what goes in: what it divides by is held."""
    x, found = given[0], cast(nn.LayerNorm, norm)
    centred = x - x.mean(-1, keepdim=True)
    spread = (centred.square().mean(-1, keepdim=True) + found.eps).sqrt().detach()
    return torch.addcmul(found.bias, centred / spread, found.weight).to(output.dtype)
