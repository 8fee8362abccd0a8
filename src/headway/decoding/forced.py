"""Outputs that are known already, fed to a decoder: where does it look while it writes them?"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from headway.models.interfaces import StepDecoder
from headway.text.subwords import SpecialIds

AT_ONCE = 128


@torch.no_grad()
def attention_over(
    decoder: StepDecoder,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    special: SpecialIds,
    device: torch.device,
) -> list[Float[Tensor, "length source"] | None]:
    """For each target the weights on the source positions with which each token is written, on the
    CPU; None from a decoder that gives none. Ids are without markers."""
    found: list[Float[Tensor, "length source"] | None] = []
    for start in range(0, len(sources), AT_ONCE):
        some = targets[start : start + AT_ONCE]
        rows = [torch.tensor([*ids, special.end]) for ids in sources[start : start + AT_ONCE]]
        state = decoder.start(
            pad_sequence(rows, batch_first=True, padding_value=special.padding).to(device)
        )
        last = torch.full((len(rows),), special.decoder_begin, device=device)
        fed = pad_sequence(
            [torch.tensor(ids, dtype=torch.long) for ids in some],
            batch_first=True,
            padding_value=special.padding,
        ).to(device)
        looks: list[Tensor] = []
        for n in range(fed.shape[1]):
            _, state, attention = decoder.step(state, last, True)
            if attention is None:
                break
            looks.append(attention.float().cpu())
            last = fed[:, n]
        whole = torch.stack(looks, 1) if looks else None
        found += [None if whole is None else whole[n, : len(ids)] for n, ids in enumerate(some)]
    return found
