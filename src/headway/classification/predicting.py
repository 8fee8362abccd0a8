"""What a run of text classification says of texts."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from headway.classification.spec import SPEC
from headway.core.runtime import Device
from headway.labelling.predictions import Answer, Asked
from headway.labelling.task import Example, padded
from headway.runs.loading import LoadedRun, open_run


class TextClassifier(NamedTuple):
    """A `headway.labelling.predictions.Predictor`."""

    opened: LoadedRun

    @classmethod
    def load(cls, run: Path, *, device: Device, precision: str) -> "TextClassifier":
        """Open a run."""
        return cls(open_run(SPEC, run, device=device, training=False))

    @torch.inference_mode()
    def answers(self, asked: Asked, lines: Iterator[str]) -> Iterator[Answer]:
        """Label and probability of each text."""
        settings, vocabulary, model, device = self.opened
        while texts := [*islice(lines, 64)]:
            rows = vocabulary.encode_batch(texts, settings.data.max_length)
            examples = [Example(np.array(row), 0) for row in rows]
            ids = padded(examples, vocabulary.special.padding).to(device)
            for text, probs in zip(texts, model(ids).float().softmax(-1), strict=True):
                best = probs.topk(min(asked.top or len(probs), len(probs)))
                likeliest = [
                    (vocabulary.labels[i], p)
                    for i, p in zip(best.indices.tolist(), best.values.tolist(), strict=True)
                ]
                shown = "\t".join(f"{label} {p:.4f}" for label, p in likeliest)
                told = {"text": text, "labels": [{"label": n, "prob": p} for n, p in likeliest]}
                yield Answer(f"{shown}\t{text}", told)
