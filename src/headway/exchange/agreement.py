"""Whether another program computes what a model computes: every export is checked by this.

Two questions are asked of some sentences: how likely is each token of given translations, and what
does greedy search write. Texts may differ where two tokens are equally likely, nowhere else.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from headway.core.disk import whole_folder
from headway.core.errors import HeadwayError, RunError
from headway.core.subwords import SpecialIds
from headway.core.transformer import Transformer
from headway.operations.shipped import refuse_undecodable

TOLERANCE = 1e-3
"""Nats by which a token's log-probability may differ: a hundred times what float32 rounds off."""
_ROWS = 16  # sentences at a time
Ids = list[int]


@contextmanager
def exported_folder(folder: Path) -> Iterator[Path]:
    """A folder to write a model into, which has its name once nothing has failed.

    Raises RunError where there is one of that name with something in it.
    """
    refuse_undecodable(folder)
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise RunError(
            f"an exported model gets a folder of its own; {folder} is there already. "
            "Give another name, or remove it."
        )
    with whole_folder(folder) as part:
        yield part


@runtime_checkable
class ForeignModel(Protocol):
    """The same model in another program."""

    @property
    def name(self) -> str:
        """The program, with its version."""
        ...

    def log_probs(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[list[float]]:
        """Of each target's tokens, and of the end marker behind them; no marker is given."""
        ...

    def written(self, sources: Sequence[Ids], limit: int) -> list[Ids]:
        """What greedy search writes, without the end marker: at most `limit` tokens, and none of
        `SpecialIds.unwritten`."""
        ...


class Agreement(NamedTuple):
    """How far two programs are apart; both figures in nats."""

    other: str
    n_sentences: int
    n_tokens: int
    """Of given translations, end markers included."""
    log_prob: float
    """The most that a token's log-probabilities differ."""
    choice: float
    """The most by which a token that the other one chose is less likely than the best."""

    def __str__(self) -> str:
        return (
            f"checked with {self.other}: {self.n_sentences:,} sentences, {self.n_tokens:,} tokens; "
            f"log-probabilities differ by {self.log_prob:.1e} at most, greedy choices by "
            f"{self.choice:.1e}"
        )

    def refuse_difference(self) -> None:
        """Raise HeadwayError where the two do not compute the same."""
        if not (self.log_prob <= TOLERANCE and self.choice <= TOLERANCE):  # so NaN is no agreement
            raise HeadwayError(
                f"an exported model computes what the run does, to {TOLERANCE:g} nats a token; "
                f"{self}. Nothing was written. Please report this, with the versions of both."
            )


@torch.inference_mode()
def agreement(
    model: Transformer,
    special: SpecialIds,
    other: ForeignModel,
    sources: Sequence[Ids],
    targets: Sequence[Ids],
    limit: int,
) -> Agreement:
    """Compare a model with the same model in another program; ids have no markers.

    Greedy search writes at most `limit` tokens.
    """
    differences = [0.0]
    theirs = other.log_probs(sources, targets)
    for row, logits, expected in _forced(model, special, sources, targets):
        ours = logits.log_softmax(-1).gather(1, expected[:, None])[:, 0]
        differences.append((ours - torch.tensor(theirs[row])).abs().max().item())
    gaps = [0.0]
    written = other.written(sources, limit)
    for row, logits, expected in _forced(model, special, sources, written):
        chosen = logits.gather(1, expected[:, None])[:, 0]
        logits[:, list(special.unwritten)] = -torch.inf
        n_chosen = min(len(written[row]) + 1, limit)  # at the limit no end marker was chosen
        gaps.append((logits.amax(1) - chosen)[:n_chosen].max().item())
    n_tokens = sum(len(target) + 1 for target in targets)
    return Agreement(other.name, len(sources), n_tokens, _most(differences), _most(gaps))


def _most(values: Sequence[float]) -> float:
    """The greatest; NaN where one is that."""
    return torch.tensor(values).max().item()


def _forced(
    model: Transformer, special: SpecialIds, sources: Sequence[Ids], targets: Sequence[Ids]
) -> Iterator[tuple[int, Float[Tensor, "length vocabulary"], Int[Tensor, " length"]]]:
    """Row by row the logits of a target fed, and what is expected: its tokens, and the end."""
    for some in batches(len(sources)):
        source = padded([[*sources[row], special.end] for row in some], special.padding)
        fed = padded([[special.decoder_begin, *targets[row]] for row in some], special.padding)
        for row, logits in zip(some, model(source, fed).float(), strict=True):
            expected = torch.tensor([*targets[row], special.end])
            yield row, logits[: len(expected)], expected


def batches(n_rows: int) -> list[range]:
    """Of sentences that are compared at a time."""
    return [range(begin, min(n_rows, begin + _ROWS)) for begin in range(0, n_rows, _ROWS)]


def padded(rows: Sequence[Ids], padding: int) -> Int[Tensor, "rows longest"]:
    """Rows of one length."""
    tensors = [torch.tensor(row) for row in rows]
    return pad_sequence(tensors, batch_first=True, padding_value=padding)
