"""LayerNorm against BatchNorm where neither is the Transformer: an LSTM and a convolutional net."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.schedules import linear_rate

N_SHAPES, PIXELS, CHANNELS = 6, 16, 16
N_LETTERS, N_STEPS, WIDTH = 8, 14, 48
N_TESTED = 600
RATES = {1: 2e-3, 32: 4e-3}
"""Peaks by the number of examples in a batch."""
UPDATES = {1: 3000, 32: 500}

Drawn = tuple[Tensor, Int[Tensor, " batch"]]


def images(n: int, generator: torch.Generator) -> Drawn:
    """Shapes of some brightness and contrast somewhere in noise, and which shape each is."""
    which = torch.randint(N_SHAPES, (n,), generator=generator)
    place = torch.randint(PIXELS - 7, (n, 2), generator=generator)
    canvas = torch.zeros(n, 1, PIXELS, PIXELS)
    shape = shapes()
    for row, (y, x) in enumerate(place.tolist()):
        canvas[row, 0, y : y + 7, x : x + 7] = shape[which[row]]
    contrast = 0.3 * 10 ** torch.rand(n, 1, 1, 1, generator=generator)
    brightness = torch.randn(n, 1, 1, 1, generator=generator)
    noise = 0.15 * torch.randn(canvas.shape, generator=generator)
    return contrast * (canvas + noise) + brightness, which


def shapes() -> Float[Tensor, "shapes 7 7"]:
    """A bar across, a bar down, a cross, a saltire, a ring and a block."""
    drawn = torch.zeros(N_SHAPES, 7, 7)
    eye = torch.eye(7)
    drawn[0, 3], drawn[1, :, 3] = 1, 1
    drawn[2] = torch.maximum(drawn[0], drawn[1])
    drawn[3] = torch.maximum(eye, eye.flip(0))
    drawn[4, 1:6, 1:6] = 1
    drawn[4, 2:5, 2:5] = 0
    drawn[5, 2:5, 2:5] = 1
    return drawn


def letters(n: int, generator: torch.Generator) -> Drawn:
    """Rows of letters, and the first of each, which is asked for at the end."""
    rows = torch.randint(N_LETTERS, (n, N_STEPS), generator=generator)
    return rows, rows[:, 0]


class ChannelNorm(nn.Module):
    """LayerNorm of an image: over all channels and pixels of each example."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(1, channels)

    def forward(self, x: Tensor) -> Tensor:
        """As it came, normalized."""
        return self.norm(x)


CONVOLUTIONAL: dict[str, Callable[[int], nn.Module]] = {
    "none": lambda channels: nn.Identity(),
    "layer": ChannelNorm,
    "batch": nn.BatchNorm2d,
}
RECURRENT: dict[str, Callable[[int], nn.Module]] = {
    "none": lambda size: nn.Identity(),
    "layer": nn.LayerNorm,
    "batch": nn.BatchNorm1d,
}


def convolutional(norm: str) -> nn.Module:
    """Three convolutions, each with its norm, and the largest of each channel."""
    layers: list[nn.Module] = []
    for n_in, stride in ((1, 2), (CHANNELS, 2), (CHANNELS, 1)):
        layers += [nn.Conv2d(n_in, CHANNELS, 3, stride=stride, padding=1)]
        layers += [CONVOLUTIONAL[norm](CHANNELS), nn.ReLU()]
    return nn.Sequential(
        *layers, nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(CHANNELS, N_SHAPES)
    )


class Lstm(nn.Module):
    """An LSTM whose four gates are normalized before they open (as Ba et al. 2016, section 5.4)."""

    def __init__(self, norm: str) -> None:
        super().__init__()
        self.embedding = nn.Embedding(N_LETTERS, WIDTH)
        self.from_input = nn.Linear(WIDTH, 4 * WIDTH)
        self.from_memory = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.norm = RECURRENT[norm](4 * WIDTH)
        self.to_output = nn.Linear(WIDTH, N_LETTERS)

    def forward(self, rows: Int[Tensor, "batch length"]) -> Float[Tensor, "batch letters"]:
        """Scores of the letters after the last one."""
        cell = hidden = torch.zeros(len(rows), WIDTH)
        for x in self.embedding(rows).unbind(1):
            gates = self.norm(self.from_input(x) + self.from_memory(hidden))
            enter, forget, new, out = gates.chunk(4, -1)
            cell = cell * (forget + 1).sigmoid() + enter.sigmoid() * new.tanh()
            hidden = out.sigmoid() * cell.tanh()
        return self.to_output(hidden)


NETS: dict[str, tuple[Callable[[str], nn.Module], Callable[[int, torch.Generator], Drawn]]] = {
    "conv": (convolutional, images),
    "lstm": (Lstm, letters),
}


def compare(settings: Mapping[str, Any], root: Path, threads: int) -> dict[str, Any]:
    """Train one of the nets with one of the norms, on batches of some size; what share is right, or
    why torch refuses to train it."""
    torch.set_num_threads(threads)
    torch.manual_seed(seed := settings["seed"])
    generator = torch.Generator().manual_seed(seed)
    build, draw = NETS[settings["net"]]
    net, size = build(settings["norm"]), settings["batch"]
    adam = torch.optim.Adam(net.parameters(), fused=True)
    updates, losses, began = UPDATES[size], [], time.process_time()
    for step in range(1, updates + 1):
        given, wanted = draw(size, generator)
        try:
            scores = net(given)
        except ValueError as error:  # so says torch of a mean over one value
            return {"refused": str(error)}
        loss = nn.functional.cross_entropy(scores, wanted)
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        rate = linear_rate(step, peak=RATES[size], warmup_steps=updates // 10, max_steps=updates)
        adam.param_groups[0]["lr"] = rate
        adam.step()
        losses.append(loss.item())
    seconds = time.process_time() - began
    given, wanted = draw(N_TESTED, torch.Generator().manual_seed(1_000 + seed))
    with torch.no_grad():
        right = (net.eval()(given).argmax(-1) == wanted).float().mean().item()
    tail = losses[-len(losses) // 10 :]
    return {
        "refused": "",
        "right": 100 * right,
        "loss": sum(tail) / len(tail),
        "training_s": round(seconds, 2),
    }
