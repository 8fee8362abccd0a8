"""ELMo learns from text alone that a word has two senses, which one vector for it cannot hold."""

from pathlib import Path

import numpy as np
import pytest
from everyday_run import command
from two_senses import ASKED, LEARNED, LabelledUse, drawn

from headway.language_models.embedding import embedder
from headway.vectors.contextual import Embedder, occurrences
from headway.vectors.word_vectors import unit

pytestmark = pytest.mark.usefixtures("torch_settings_restored")

SIZES = {
    "elmo": ("--model.d-model=32", "--model.d-cell=64", "--model.filters=16,16",
             "--model.samples=0", "--model.dropout=0.1"),
    "nnlm": ("--model.order=3", "--model.d-model=24", "--model.d-hidden=24"),
}  # fmt: skip


def trained(model_type: str, steps: int, folder: Path) -> Embedder:
    corpus, run = folder / "corpus.txt", folder / model_type
    corpus.write_text("\n".join(one.sentence for one in drawn(2000, LEARNED, 1)) + "\n")
    done = command(
        "train", "--task=language-model", f"--model.type={model_type}", f"--corpus={corpus}",
        f"--out={run}", *SIZES[model_type], f"--training.max-steps={steps}",
        f"--training.checkpoint-every={steps}", "--training.batch-tokens=512",
        "--training.window=16", "--training.learning-rate=0.03", "--runtime.threads=1",
        "--runtime.device=cpu", "--text.unit=words",
    )  # fmt: skip
    assert done.status == 0, done.err
    return embedder(run, "cpu")


def vectors(model: Embedder, uses: list[LabelledUse]) -> np.ndarray:
    """[uses, layers, size], each of length 1."""
    spans = [occurrences(one.sentence, one.word)[:1] for one in uses]
    read = model.embed([one.sentence for one in uses])
    return unit(np.stack([one.of(span)[:, 0] for one, span in zip(read, spans, strict=True)]))


def shares_told(model: Embedder) -> list[float]:
    """By each layer, how many uses in sentences of other templates are nearer to the centroid of
    their own sense than to that of the other; equally near is half right."""
    labelled = [one for one in drawn(300, LEARNED, 2) if one.word in one.sentence]
    unseen = drawn(200, ASKED, 3)
    of_sense: dict[tuple[str, int], list[np.ndarray]] = {}
    for use, vector in zip(labelled, vectors(model, labelled), strict=True):
        of_sense.setdefault((use.word, use.sense), []).append(vector)
    centroids = {key: unit(np.mean(of, axis=0)) for key, of in of_sense.items()}
    right = []
    for use, vector in zip(unseen, vectors(model, unseen), strict=True):
        own, other = centroids[use.word, use.sense], centroids[use.word, 1 - use.sense]
        margin = (vector * (own - other)).sum(-1)
        right.append(np.where(np.abs(margin) < 1e-5, 0.5, margin > 0))
    return [float(share) for share in np.mean(right, axis=0)]


def test_elmo_tells_two_senses_that_one_vector_cannot(tmp_path):
    by_letters, *layers = shares_told(trained("elmo", 250, tmp_path))
    assert by_letters == 0.5
    assert min(layers) > 0.95, layers
    assert shares_told(trained("nnlm", 20, tmp_path)) == [0.5]
