"""Recurrent layers: what is remembered of the past is made anew at every step.

A layer is its equation: `elman`, `lstm` or `gru`. Step by step it runs as it is written; whole
sequences go through one kernel of torch's that equals it in value and gradient.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core.dropout import Dropout

Recurrence = Literal["rnn", "lstm", "gru"]
Memory = tuple[Tensor, ...]
"""What one layer remembers, each `[batch, d_model]`, its output first."""


def elman(
    given: Float[Tensor, "batch gates"], back: Float[Tensor, "batch gates"], before: Memory
) -> Memory:
    """h = tanh(W x + U h' + b) (Elman 1990); `given` is W x + b, `back` is U h'."""
    return ((given + back).tanh(),)


def lstm(
    given: Float[Tensor, "batch gates"], back: Float[Tensor, "batch gates"], before: Memory
) -> Memory:
    """Long short-term memory (Hochreiter and Schmidhuber 1997), with the forget gate of Gers et al.
    2000. The cell c is carried on by a sum, so that what is kept does not fade:

        i, f, o = sigmoid(W x + U h' + b), each with its own W, U and b
        z = tanh(W x + U h' + b)
        c = f * c' + i * z
        h = o * tanh(c)
    """
    _, cell = before
    take, keep, candidate, show = (given + back).chunk(4, dim=-1)
    cell = keep.sigmoid() * cell + take.sigmoid() * candidate.tanh()
    return show.sigmoid() * cell.tanh(), cell


def gru(
    given: Float[Tensor, "batch gates"], back: Float[Tensor, "batch gates"], before: Memory
) -> Memory:
    """Gated recurrent unit (Cho et al. 2014, eq. 5 to 8):

        r, z = sigmoid(W x + U h' + b), each with its own W, U and b
        n = tanh(W x + b + r * (U h' + b'))
        h = z * h' + (1 - z) * n

    Differs from the paper, whose n has U (r * h'): the reset gate acts behind the product, as in
    cuDNN and torch, so that all three products are one.
    """
    [hidden] = before
    reset_given, update_given, candidate_given = given.chunk(3, dim=-1)
    reset_back, update_back, candidate_back = back.chunk(3, dim=-1)
    reset = (reset_given + reset_back).sigmoid()
    update = (update_given + update_back).sigmoid()
    candidate = (candidate_given + reset * candidate_back).tanh()
    return (update * hidden + (1 - update) * candidate,)


class Cell(NamedTuple):
    """One kind of recurrence."""

    equation: Callable[[Tensor, Tensor, Memory], Memory]
    kernel: Callable[..., tuple[Tensor, ...]]
    """Torch's, for whole sequences: the outputs, and then the memory after the last step."""
    n_products: int
    """Of W x, and as many of U h', side by side in one matrix, in torch's order."""
    remembers: tuple[str, ...]


CELLS: dict[Recurrence, Cell] = {
    "rnn": Cell(elman, torch.rnn_tanh, 1, ("hidden",)),
    "lstm": Cell(lstm, torch.lstm, 4, ("hidden", "cell")),
    "gru": Cell(gru, torch.gru, 3, ("hidden",)),
}


def in_one_piece(weights: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """The same, side by side in memory: cuDNN wants them so, else it warns and copies them."""
    flat = torch.cat([weight.flatten() for weight in weights])
    pieces = flat.split([weight.numel() for weight in weights])
    return tuple(piece.view_as(weight) for piece, weight in zip(pieces, weights, strict=True))


class RecurrentLayer(nn.Module):
    """Reads a sequence from left to right."""

    def __init__(self, recurrence: Recurrence, d_input: int, d_model: int) -> None:
        super().__init__()
        self.cell = CELLS[recurrence]
        self.from_input = nn.Linear(d_input, self.cell.n_products * d_model)
        self.from_hidden = nn.Linear(d_model, self.cell.n_products * d_model)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Xavier from the input, orthogonal from the past (Saxe et al. 2014), biases zero but for
        the forget gate's: 1, so that at first an LSTM keeps (Gers et al. 2000)."""
        n = self.cell.n_products
        for part in self.from_input.weight.chunk(n):
            nn.init.xavier_uniform_(part)
        for part in self.from_hidden.weight.chunk(n):
            nn.init.orthogonal_(part)
        for linear in (self.from_input, self.from_hidden):
            nn.init.zeros_(linear.bias)
        if "cell" in self.cell.remembers:
            nn.init.ones_(self.from_input.bias.detach().chunk(n)[1])

    def step(self, x: Float[Tensor, "batch d_input"], before: Memory) -> Memory:
        """One step, by the equation; the output is the first of what is remembered."""
        return self.after(self.from_input(x), before)

    def after(self, given: Float[Tensor, "batch gates"], before: Memory) -> Memory:
        """One step where W x + b is at hand."""
        return self.cell.equation(given, self.from_hidden(before[0]), before)

    def forward(
        self, x: Float[Tensor, "batch length d_input"], before: Memory
    ) -> tuple[Float[Tensor, "batch length d_model"], Memory]:
        """All steps, by the kernel; with the outputs, what is remembered after the last one."""
        given, back = self.from_input, self.from_hidden
        own = (given.weight, back.weight, given.bias, back.bias)
        weights = in_one_piece(own) if x.is_cuda else own
        past = [tensor[None].contiguous() for tensor in before]
        state: Any = past if len(past) > 1 else past[0]
        found = self.cell.kernel(x, state, weights, True, 1, 0.0, self.training, False, True)
        return found[0], tuple(tensor[0] for tensor in found[1:])


@dataclass(frozen=True)
class RecurrentState:
    """What a stack remembers, by name, each `[batch, layers, d_model]`; a `State` of search."""

    memory: dict[str, Tensor]

    def select(self, rows: Int[Tensor, " kept"]) -> "RecurrentState":
        """The state of the given rows; see `headway.core.interfaces.State`."""
        return RecurrentState({name: part[rows] for name, part in self.memory.items()})

    def of_layer(self, n: int, names: Sequence[str], dtype: torch.dtype) -> Memory:
        """What layer `n` remembers under these names, in their order."""
        return tuple(self.memory[name][:, n].to(dtype) for name in names)


class RecurrentStack(nn.Module):
    """Layers one upon another, with dropout before each and behind the last.

    With `variational` one mask serves all steps of a stretch (Gal and Ghahramani 2016). Differs
    from them: none on the products with the past, which the kernel has no room for.
    """

    def __init__(
        self,
        recurrence: Recurrence,
        d_model: int,
        n_layers: int,
        *,
        dropout: float = 0.0,
        variational: bool = False,
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            RecurrentLayer(recurrence, d_model, d_model) for _ in range(n_layers)
        )
        self.dropout = Dropout(dropout)
        self.variational = variational

    def __iter__(self) -> Iterator[RecurrentLayer]:
        return cast("Iterator[RecurrentLayer]", iter(self.layers))

    def blank(self, x: Float[Tensor, "batch *length d_model"]) -> RecurrentState:
        """Before the first step nothing is remembered: zeros."""
        names, shape = next(iter(self)).cell.remembers, (len(x), len(self.layers), x.shape[-1])
        return RecurrentState({name: x.new_zeros(shape) for name in names})

    def drop(self, x: Float[Tensor, "batch length d_model"]) -> Tensor:
        """A mask for each step, or one for all of them."""
        if not self.variational:
            return self.dropout(x)
        return x * self.dropout(torch.ones_like(x[:, :1]))

    def forward(
        self, x: Float[Tensor, "batch length d_model"], before: RecurrentState
    ) -> tuple[Float[Tensor, "batch length d_model"], RecurrentState]:
        """All steps at once; with the outputs, what is remembered after the last one."""
        after = []
        for n, layer in enumerate(self):
            x, memory = layer(self.drop(x), before.of_layer(n, layer.cell.remembers, x.dtype))
            after.append(memory)
        return self.drop(x), self.state(after)

    def step(
        self, x: Float[Tensor, "batch d_model"], before: RecurrentState
    ) -> tuple[Float[Tensor, "batch d_model"], RecurrentState]:
        """One step, without dropout."""
        after = []
        for n, layer in enumerate(self):
            memory = layer.step(x, before.of_layer(n, layer.cell.remembers, x.dtype))
            x = memory[0]
            after.append(memory)
        return x, self.state(after)

    def state(self, after: list[Memory]) -> RecurrentState:
        """What the layers remember, together."""
        names = next(iter(self)).cell.remembers
        parts = (torch.stack(parts, 1) for parts in zip(*after, strict=True))
        return RecurrentState(dict(zip(names, parts, strict=True)))


# -- an encoder that reads both ways ----------------------------------------------------------


class BidirectionalOutput(NamedTuple):
    """What an encoder makes of a source."""

    outputs: Float[Tensor, "batch source d_model"]
    """Half from the left, half from the right."""
    summary: Float[Tensor, "batch d_model"]
    """After the last token read each way: the last from the left, the first from the right."""


class TwoWayLayer(nn.Module):
    """One layer: half of its units read from the left, half from the right."""

    def __init__(self, recurrence: Recurrence, d_input: int, d_model: int) -> None:
        super().__init__()
        self.from_left = RecurrentLayer(recurrence, d_input, d_model // 2)
        self.from_right = RecurrentLayer(recurrence, d_input, d_model // 2)

    def forward(
        self, x: Float[Tensor, "batch source d_input"], mirror: Int[Tensor, "batch source"]
    ) -> Float[Tensor, "batch source d_model"]:
        """`mirror` is where each place is found when real tokens are read backwards."""
        right = self.read(self.from_right, mirrored(x, mirror))
        return torch.cat([self.read(self.from_left, x), mirrored(right, mirror)], dim=-1)

    def read(self, layer: RecurrentLayer, x: Float[Tensor, "batch source d_input"]) -> Tensor:
        """One way; nothing is remembered at first."""
        blank = x.new_zeros(len(x), layer.from_hidden.in_features)
        return layer(x, tuple(blank for _ in layer.cell.remembers))[0]


class TwoWayEncoder(nn.Module):
    """Such layers one upon another, with dropout before each and behind the last: each place knows
    what follows it as well (Schuster and Paliwal 1997; Bahdanau et al. 2015, section 3.2)."""

    def __init__(
        self, recurrence: Recurrence, d_input: int, d_model: int, n_layers: int, *, dropout: float
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            TwoWayLayer(recurrence, d_model if n else d_input, d_model) for n in range(n_layers)
        )
        self.dropout = Dropout(dropout)

    def __iter__(self) -> Iterator[TwoWayLayer]:
        return cast("Iterator[TwoWayLayer]", iter(self.layers))

    def forward(
        self, x: Float[Tensor, "batch source d_input"], visible: Bool[Tensor, "batch source"]
    ) -> BidirectionalOutput:
        """Padding stands behind the real tokens and cannot be told from nothing at all."""
        n_real = visible.sum(1)
        mirror = mirror_of(n_real, visible.shape[1])
        for layer in self:
            x = layer(self.dropout(x), mirror)
        last = (n_real - 1).clamp(min=0)
        left, right = x.chunk(2, dim=-1)
        rows = torch.arange(len(x), device=x.device)
        return BidirectionalOutput(
            self.dropout(x), torch.cat([left[rows, last], right[:, 0]], dim=-1)
        )


def mirror_of(n_real: Int[Tensor, " batch"], length: int) -> Int[Tensor, "batch source"]:
    """Places of each row's real tokens from the last to the first, then those of its padding."""
    place = torch.arange(length, device=n_real.device).expand(len(n_real), -1)
    return torch.where(place < n_real[:, None], n_real[:, None] - 1 - place, place)


def mirrored(
    x: Float[Tensor, "batch source d"], mirror: Int[Tensor, "batch source"]
) -> Float[Tensor, "batch source d"]:
    """Each row's places in the order of `mirror`; twice gives the row back."""
    return x.gather(1, mirror[:, :, None].expand(-1, -1, x.shape[-1]))
