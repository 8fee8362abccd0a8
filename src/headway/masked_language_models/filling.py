"""What a run says of hidden places of a text."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
import torch

from headway.core.errors import ConfigError
from headway.labelling.predictions import Answer, Asked, OpenedLabeller
from headway.labelling.task import Example, padded
from headway.labelling.vocabulary import around
from headway.language_models.units import TokenUnit
from headway.masked_language_models.masking import MASKS, mask_id
from headway.masked_language_models.spec import SPEC
from headway.tokenizers.words import Words

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

    @torch.inference_mode()
    def answers(self, asked: Asked, lines: Iterator[str]) -> Iterator[Answer]:
        """What is likeliest at each mask, each by itself while the others stay hidden; a blank
        line stays blank."""
        _, tokens, model, device = self.opened
        while some := list(islice(lines, 64)):
            given = [self.masked(text) for text in some if text.strip()]
            examples = [Example(np.array(one.ids), None) for one in given]
            padding, left = tokens.special.padding, iter(given)
            logits = model(padded(examples, padding).to(device)) if given else None
            rows = iter(() if logits is None else logits)
            for text in some:
                if text.strip():
                    yield self.answer(next(left), next(rows), asked.top)
                else:
                    yield Answer("", {"text": text, "filled": text, "masks": []})

    def answer(self, one: MaskedText, logits: torch.Tensor, top: int) -> Answer:
        """Of the logits of a text, `[length, vocabulary]`."""
        tokens, filled = self.opened.vocabulary, list(one.ids)
        best = logits[one.places].softmax(-1).topk(min(top or len(tokens), len(tokens)))
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
