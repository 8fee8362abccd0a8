"""What a run says of a picture, a folder of them or an idx file, and how often it is right."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float

from headway.core.errors import DataError
from headway.images.decoding import Pixels
from headway.images.reading import any_source, examples, labelled_source
from headway.images.spec import SPEC
from headway.labelling.predictions import Answer, Asked, OpenedLabeller
from headway.labelling.scores import LabelScores, one_label_scores

AT_ONCE = 64


class PictureClassifier(OpenedLabeller):
    """A `headway.labelling.predictions.Predictor`."""

    spec = SPEC

    @torch.inference_mode()
    def probabilities(self, pixels: Sequence[Pixels]) -> Float[np.ndarray, "pictures classes"]:
        """Of each class, for each picture."""
        _, classes, model, device = self.opened
        found = []
        for first in range(0, len(pixels), AT_ONCE):
            given = classes.normalized(pixels[first : first + AT_ONCE]).to(device)
            found.append(model(given).float().softmax(-1).cpu())
        return torch.cat(found).double().numpy()

    def answers(self, asked: Asked, lines: Iterator[str]) -> Iterator[Answer]:
        """Class and probability of each picture; lines are names of pictures, a blank one stays
        blank."""
        told: list[str] = []
        for name in lines if asked.given is None else [asked.given]:
            if not name.strip():
                yield Answer("", {"picture": name, "labels": []})
                continue
            source = any_source(Path(name), told.append)
            numbers = iter(range(len(source.names)))
            while some := [*islice(numbers, AT_ONCE)]:
                pixels = [source.decoded(i, self.opened.vocabulary.shape) for i in some]
                for i, probs in zip(some, self.probabilities(pixels), strict=True):
                    yield self.answer(source.names[i], probs, asked.top)

    def answer(self, name: str, probs: Float[np.ndarray, " classes"], top: int) -> Answer:
        """The likeliest classes, in words and for JSON."""
        likeliest = self.likeliest(probs, top)
        shown = "\t".join(f"{one['label']} {one['prob']:.4f}" for one in likeliest)
        return Answer(
            f"{shown}\t{name}",
            {"picture": name, "label": likeliest[0]["label"], "labels": likeliest},
        )


def evaluated(run: Path, files: Sequence[Path]) -> LabelScores:
    """How often a run is right on labelled pictures; of one that learned some classes only, on
    those."""
    classifier, told = PictureClassifier.load(run), list[str]()
    settings, classes, _, _ = classifier.opened
    sources, only = [labelled_source(place, told.append) for place in files], settings.data.only
    rows = examples(
        sources, only, classes.labels, classes.shape, told.append,
        "Take it out: the run did not learn that class.",
    )  # fmt: skip
    left = sum(label not in only for source in sources for label in source.labels)
    if only and left:
        told.append(f"{left:,} pictures are of classes that the run was not to learn, and left out")
    if not rows:
        raise DataError(
            f"a run is scored on classes that it knows ({', '.join(classes.labels)}); no picture "
            f"in {', '.join(map(str, files))} is of one. Name other pictures."
        )
    there = np.array([one.target for one in rows])
    probs = classifier.probabilities([one.input for one in rows])
    found = one_label_scores(there, probs, classes.labels)
    return replace(found, notes=(*found.notes, *told))
