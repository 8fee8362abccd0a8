"""What a run says of hidden places of a text."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from headway.core.errors import ConfigError
from headway.labelling.predictions import Answer, Asked, OpenedLabeller
from headway.labelling.task import Example, padded
from headway.labelling.vocabulary import around
from headway.language_models.units import TokenUnit
from headway.masked_language_models.masking import MASKS, mask_id
from headway.masked_language_models.spec import SPEC
from headway.tokenizers.words import Words

AT_ONCE = 64
"""Texts that are read together."""
_MASK = re.compile("|".join(map(re.escape, MASKS)))


class MaskedText(NamedTuple):
    """A text with hidden places."""

    text: str
    ids: list[int]
    """With markers."""
    places: list[int]
    """Of the masks, among the ids."""
    parts: list[tuple[str, int]]
    """The texts around the masks, as they were cut, and where each begins among the ids."""

    def window(self, place: int, longest: int | None) -> tuple[int, list[int]]:
        """How many ids are left out in front, and those that are read around a place, markers
        included: all, or the nearest where there are more than `longest`."""
        if longest is None or len(self.ids) <= longest:
            return 0, self.ids
        first, last = self.parts[0][1], len(self.ids) - 1
        size = longest - first - 1
        left = min(max(0, place - first - size // 2), last - first - size)
        return left, [*self.ids[:first], *self.ids[first + left :][:size], self.ids[last]]


class MaskFiller(OpenedLabeller):
    """A `headway.labelling.predictions.Predictor`."""

    spec = SPEC

    def masked(self, text: str) -> MaskedText:
        """The ids of a text in which [MASK] or <mask> stands, whichever the vocabulary has. A space
        before a mask is of the piece that is to be told, where pieces have their spaces.

        Raises ConfigError for a text without a mask.
        """
        tokens, unit = self.opened.vocabulary, self.opened.settings.text
        cut = TokenUnit(unit.unit, unit.segmenter).cut
        parts = _MASK.split(text)
        if len(parts) == 1:
            raise ConfigError(
                "what is to be filled in is written [MASK] (or <mask>), once or several times; "
                f"there is none in {text[:60]!r}. Write one where a word is to be told."
            )
        if not isinstance(tokens, Words):
            parts = [*map(str.rstrip, parts[:-1]), parts[-1]]
        mask, places, (ids, end) = mask_id(tokens), list[int](), around(tokens.special)
        parts, begins = [cut(part) for part in parts], list[int]()
        for n, row in enumerate(tokens.encode_batch(parts)):
            if n:
                places.append(len(ids))
                ids.append(mask)
            begins.append(len(ids))
            ids += row
        return MaskedText(text, [*ids, *end], places, list(zip(parts, begins, strict=True)))

    @property
    def longest(self) -> int | None:
        """Tokens that are read at once, where learned positions end."""
        config = self.opened.settings.model
        return config.max_length if config.positions == "learned" else None

    @torch.inference_mode()
    def logits(self, texts: Sequence[MaskedText]) -> list[Float[torch.Tensor, "masks vocabulary"]]:
        """Of each text those at its masks; one that is too long is read around each of them."""
        _, tokens, model, device = self.opened
        rows = dict[tuple[int, int], tuple[list[int], list[int]]]()
        for n, one in enumerate(texts):
            for place in one.places:
                left, ids = one.window(place, self.longest)
                rows.setdefault((n, left), (ids, []))[1].append(place - left)
        found: list[list[torch.Tensor]] = [[] for _ in texts]
        left_over = iter(rows.items())
        while some := list(islice(left_over, AT_ONCE)):
            examples = [Example(np.array(ids), None) for _, (ids, _) in some]
            given = model(padded(examples, tokens.special.padding).to(device))
            for ((n, _), (_, places)), row in zip(some, given, strict=True):
                found[n].append(row[places])
        return [*map(torch.cat, found)]

    def answers(self, asked: Asked, lines: Iterator[str]) -> Iterator[Answer]:
        """What is likeliest at each mask, each by itself while the others stay hidden; a blank
        line stays blank."""
        while some := list(islice(lines, AT_ONCE)):
            given = [self.masked(text) for text in some if text.strip()]
            told = zip(given, self.logits(given), strict=True)
            for text in some:
                if text.strip():
                    yield self.answer(*next(told), asked.top)
                else:
                    yield Answer("", {"text": text, "filled": text, "masks": []})

    def answer(self, one: MaskedText, logits: torch.Tensor, top: int) -> Answer:
        """Of the logits of a text, `[masks, vocabulary]`."""
        tokens, filled = self.opened.vocabulary, list(one.ids)
        best = logits.softmax(-1).topk(min(top or len(tokens), len(tokens)))
        masks = []
        for place, ids, probs in zip(one.places, best.indices.tolist(), best.values, strict=True):
            filled[place] = ids[0]
            likeliest = zip(tokens.pieces(ids), probs.tolist(), strict=True)
            masks.append([{"token": token, "prob": prob} for token, prob in likeliest])
        text = tokens.decode(filled).strip()
        numbered = [f"{n}: " if len(masks) > 1 else "" for n in range(1, len(masks) + 1)]
        shown = [
            f"  {number}" + "  ".join(f"{it['token']} {it['prob']:.4f}" for it in each)
            for number, each in zip(numbered, masks, strict=True)
        ]
        return Answer("\n".join([text, *shown]), {"text": one.text, "filled": text, "masks": masks})
