"""Which words decided what a model says of a text: two ways to ask.

Gradient times input (Shrikumar et al. 2017): what a word's embedding adds to the log odds of the
label, as if the model were as linear everywhere as it is just here. A LayerNorm makes it blind, as
its output does not change with the length of its input; so what norms divide by is held as it is
(Ali et al. 2022, section 4.2). Attention rollout (Abnar and Zuidema 2020): how much of a word comes
through all layers of attention and the streams beside them.
`headway.labelling.deletion` tells which of them to believe.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor, nn

from headway.core.attention import MultiHeadAttention
from headway.core.rows import pad
from headway.labelling.pooling import shares
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
    """The word whose label is asked, told at the first of its places; None: that of the text."""

    def without(self, words: Iterable[int]) -> "TextInWords":
        """The text as if these words had never stood there; the one that is asked stays."""
        left = [word for word in range(len(self.words)) if word not in {*words} - {self.asked}]
        gone = {place for word in words if word != self.asked for place in self.places[word]}
        kept = [place for place in range(len(self.ids)) if place not in gone]
        now = {place: i for i, place in enumerate(kept)}
        return TextInWords(
            [self.ids[place] for place in kept],
            [self.words[word] for word in left],
            [[now[place] for place in self.places[word]] for word in left],
            None if self.asked is None else left.index(self.asked),
        )


def in_words(text: str, spans: Sequence[tuple[int, int]]) -> tuple[list[str], list[list[int]]]:
    """The words of a text, and the pieces (by their `spans` of characters) that each is made of.

    A word begins behind a space, at punctuation, and at each piece of a script without spaces.
    """
    places: list[list[int]] = []
    ends: list[list[int]] = []
    for i, (begin, end) in enumerate(spans):
        start = end - len(text[begin:end].lstrip())
        if start == end:
            continue
        joined = ends and start == ends[-1][1] and all(map(_spaced, text[start - 1 : start + 1]))
        if joined or (ends and start < ends[-1][1]):
            places[-1].append(i)
            ends[-1][1] = max(end, ends[-1][1])
        else:
            places.append([i])
            ends.append([start, end])
    return [text[start:end].rstrip() for start, end in ends], places


def _spaced(character: str) -> bool:
    """Whether it is of a word of a script with spaces."""
    return character in "'’-" or (character.isalnum() and character < "\u2e80")


@dataclass(frozen=True)
class LabelReader:
    """A model that labels, asked about texts in words."""

    model: nn.Module
    """A `headway.labelling.labeller.Labeller`, not in training mode."""
    padding: int
    several: bool = False
    """Labels are there or not, each by itself."""
    features: Callable[[TextInWords], Int[NDArray, "length features"]] | None = None
    """What the model reads beside the ids."""
    of_word: Callable[[Tensor, Sequence[TextInWords]], Tensor] | None = None
    """Where words are labelled: what the model gives, to logits of the words that are asked."""
    norms_held: bool = True
    """False for gradient times input as it was before Ali et al., to see what they found."""

    @property
    def attentions(self) -> list[MultiHeadAttention]:
        """Of each layer of the encoder; none where it has no attention."""
        layers: Any = getattr(self.model.encoder, "layers", ())
        return [one.self_attention for one in layers if hasattr(one, "self_attention")]

    def read(self, texts: Sequence[TextInWords]) -> Float[Tensor, "texts *places labels"]:
        """Logits as the model gives them."""
        device = next(self.model.parameters()).device
        rows = [np.array(one.ids, np.int64) for one in texts]
        fed = [torch.from_numpy(pad(rows, self.padding)).to(device)]
        if self.features is not None:
            seen = [torch.from_numpy(self.features(one)) for one in texts]
            fed.append(nn.utils.rnn.pad_sequence(seen, batch_first=True).to(device))
        found: Tensor = self.model(*fed).float()
        return found

    def logits(self, texts: Sequence[TextInWords]) -> Float[Tensor, "texts labels"]:
        """Of the labels that are asked."""
        found = self.read(texts)
        return found if self.of_word is None else self.of_word(found, texts)

    @torch.no_grad()
    def probs(self, texts: Sequence[TextInWords]) -> Float[NDArray, "texts labels"]:
        """The probability of each label."""

        def read(some: list[int]) -> Tensor:
            logits = self.logits([texts[i] for i in some])
            return logits.sigmoid() if self.several else logits.softmax(-1)

        return np.stack(_in_batches(texts, read))

    def gradient_times_input(
        self, texts: Sequence[TextInWords], labels: Sequence[int]
    ) -> list[Float[NDArray, " words"]]:
        """Of each word, what it adds to the log odds of the label, in nats; below 0 it speaks
        against it. Exact where the log odds are linear in the embeddings."""

        def read(some: list[int]) -> Tensor:
            with torch.enable_grad(), _leaves(self.model, norms_held=self.norms_held) as leaves:
                logits = self.logits([texts[i] for i in some])
                chosen = torch.tensor([[labels[i]] for i in some], device=logits.device)
                log_odds = logits.gather(1, chosen)[:, 0]
                if not self.several:
                    log_odds = log_odds - logits.scatter(1, chosen, -torch.inf).logsumexp(1)
                gradients = torch.autograd.grad(log_odds.sum(), leaves)
            pairs = zip(leaves, gradients, strict=True)
            return torch.stack([(leaf * slope).sum(-1) for leaf, slope in pairs]).sum(0)

        return _by_word(texts, _in_batches(texts, read))

    @torch.no_grad()
    def attention(self, texts: Sequence[TextInWords]) -> list[Float[NDArray, " words"]]:
        """Of each word, the share of what is read that comes of it, by rollout: by the word that is
        asked, or by all places as they are pooled."""

        def read(some: list[int]) -> Tensor:
            chosen = [texts[i] for i in some]
            maps, encoded = self.seen(chosen)
            arrived = rollout(maps.mean(2))
            asked = [one.places[one.asked][0] for one in chosen if one.asked is not None]
            if asked:
                return arrived[range(len(asked)), asked]
            pooled = shares(encoded, self.model.head.pooling)  # type: ignore[union-attr, arg-type]
            return (pooled[:, None] @ arrived)[:, 0]

        return _by_word(texts, _in_batches(texts, read))

    def seen(
        self, texts: Sequence[TextInWords]
    ) -> tuple[Float[Tensor, "layers texts heads query key"], Any]:
        """The weights of all attentions, and what the head is given: of labels of whole texts a
        `headway.nn.encoder.Encoded`."""
        given: list[Any] = []
        head: Any = self.model.head
        hook = head.register_forward_pre_hook(lambda _, args: given.append(args[0]))
        with hook, watched(self.attentions) as maps:
            self.read(texts)
        return torch.stack(maps), given[0]

    def evidence(
        self, texts: Sequence[TextInWords], labels: Sequence[int]
    ) -> dict[str, list[Float[NDArray, " words"]]]:
        """By each way that the model allows."""
        found = {GRADIENT: self.gradient_times_input(texts, labels)}
        return found | ({ATTENTION: self.attention(texts)} if self.attentions else {})


def rollout(maps: Float[Tensor, "layers batch place place"]) -> Float[Tensor, "batch place place"]:
    """How much of each place (column) reaches each place (row) through all layers: half of what a
    layer gives is what came in, half is what its heads (their mean) gathered (eq. 1 and 2)."""
    found = torch.eye(maps.shape[-1], device=maps.device).expand(maps.shape[1:])
    for layer in maps:
        found = (found + layer @ found) / 2
    return found


def named(scores: Float[NDArray, " words"], k: int, asked: int | None = None) -> list[int]:
    """The numbers of the `k` words that speak most for the label, the first one first; not the word
    whose label it is."""
    found: list[int] = np.argsort(-scores, kind="stable").tolist()
    return [word for word in found if word != asked][:k]


def _in_batches(
    texts: Sequence[TextInWords], read: Callable[[list[int]], Tensor]
) -> list[NDArray[Any]]:
    """A row of each text, read with others that are about as long."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i].ids))
    found: dict[int, NDArray[Any]] = {}
    for first in range(0, len(order), BATCH):
        some = order[first : first + BATCH]
        found |= dict(zip(some, read(some).detach().cpu().numpy(), strict=True))
    return [found[i] for i in range(len(texts))]


def _by_word(
    texts: Sequence[TextInWords], rows: Sequence[NDArray[Any]]
) -> list[Float[NDArray, " words"]]:
    return [
        np.array([row[[*places]].sum() for places in text.places])
        for text, row in zip(texts, rows, strict=True)
    ]


@contextmanager
def _leaves(model: nn.Module, *, norms_held: bool) -> Iterator[list[Tensor]]:
    """While it is open, what the embedding gives is noted, and gradients end there."""
    leaves: list[Tensor] = []

    def keep(_module: nn.Module, _given: object, output: Tensor) -> Tensor:
        leaves.append(output.detach().requires_grad_())
        return leaves[-1]

    encoder: Any = model.encoder
    inputs = filter(None, (encoder.embedding, getattr(model, "spelling", None)))
    norms = [one for one in model.modules() if isinstance(one, nn.LayerNorm) and norms_held]
    with ExitStack() as hooks:
        for one in inputs:
            hooks.enter_context(one.register_forward_hook(keep))
        for norm in norms:
            hooks.enter_context(norm.register_forward_hook(_held))
        with torch.backends.cudnn.flags(enabled=False):  # its LSTM has gradients in training alone
            yield leaves


def _held(norm: nn.Module, given: tuple[Tensor], output: Tensor) -> Tensor:
    """What a LayerNorm gives, linear in what goes in: what it divides by is held."""
    x, found = given[0], cast(nn.LayerNorm, norm)
    centred = x - x.mean(-1, keepdim=True)
    spread = (centred.square().mean(-1, keepdim=True) + found.eps).sqrt().detach()
    return torch.addcmul(found.bias, centred / spread, found.weight).to(output.dtype)
