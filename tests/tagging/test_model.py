"""What a tagger sees: not its batch-mates, and of its training's hidden places only then."""

import numpy as np
import pytest
import torch

from headway.labelling.task import Example, padded
from headway.labelling.vocabulary import LabelledVocabulary
from headway.runs.settings import Settings
from headway.tagging.criterion import TagCriterion
from headway.tagging.model import Tagger
from headway.tagging.pieces import TokenPieces, padded_targets
from headway.tagging.schemes import LEARNED
from headway.tagging.spec import SPEC, build
from headway.tagging.spelling import hashed, shape
from headway.tokenizers.words import Words

SENTENCES = ["Ada Lovelace slept .".split(), ["Rome"], "the road to Rome is very long".split()]


@pytest.fixture
def vocabulary() -> LabelledVocabulary:
    words = Words.learned({word: 1 for tokens in SENTENCES for word in tokens}, "words")
    facts = {"scheme": "IOB2", "kinds": ["X"], "spaced": True}
    return LabelledVocabulary(words, ("O", "B-X", "I-X", "E-X", "S-X"), facts)


@pytest.fixture
def examples(vocabulary) -> list[Example]:
    pieces = TokenPieces(vocabulary, 64)
    return [one for some in SENTENCES for one in pieces.examples(some)]


@pytest.mark.parametrize("model_type", ["lstm", "transformer"])
@torch.no_grad()
def test_padding_and_batch_mates_change_no_emission(model_type, vocabulary, examples):
    settings = Settings.of({"model": {"type": model_type}, "run": {"task": "tagging"}}, SPEC)
    torch.manual_seed(1)
    model = build(settings, vocabulary).eval()
    assert isinstance(model, Tagger)

    def emissions(some: list[Example]) -> torch.Tensor:
        starts, _, _, features = padded_targets(some)
        return model.emissions(padded(some, vocabulary.special.padding), starts, features)

    together = emissions(examples)
    for row, one in zip(together, examples, strict=True):
        alone = emissions([one])[0]
        torch.testing.assert_close(row[: len(alone)], alone, atol=1e-5, rtol=1e-4)


def test_pieces_and_spelling_are_hidden_in_training_alone(vocabulary, examples):
    of = TagCriterion(vocabulary.special, vocabulary.labels, LEARNED, hidden=0.5, unspelled=0.5)
    ids, *_, features = of.tensors(examples)
    random = [np.random.default_rng(seed) for seed in (1, 1, 2)]
    first, again, other = (of.tensors(examples, one) for one in random)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0], other[0])
    changed = first[0] != ids
    assert (first[0][changed] == vocabulary.special.unknown).all()
    markers = (ids == vocabulary.special.begin) | (ids == vocabulary.special.end) | (ids == 0)
    assert not changed[markers].any()
    assert 0 < changed.sum() < (~markers).sum()
    left_out = first[4] != features
    assert (first[4][left_out] == 0).all()
    assert 0.3 < left_out.sum() / (features > 0).sum() < 0.7


def test_spelling_by_hand():
    assert [shape(word) for word in ("McD-9", "iPhone15", "U.S.", "北京")] == [
        "XxX-d", "xXxd", "X.X.", "北京",
    ]  # fmt: skip
    one, other = hashed(["Walking", "walking"], "words")
    same = [a == b for a, b in zip(one, other, strict=True)]
    assert same == [True, False, False, False, False, True, True, True]
    [a], [b, _] = hashed(["x"], "characters"), hashed(["x", "y"], "characters")
    assert a[0] == b[0]  # both begin a text
    assert a[1] != b[1]


def test_a_span_where_a_sentence_is_parted_becomes_two(vocabulary):
    pieces = TokenPieces(vocabulary, 5)  # three pieces and two markers
    tokens, tags = ["Rome"] * 7, ["B-X", "I-X", "I-X", "I-X", "E-X", "O", "S-X"]
    parts = [*pieces.examples(tokens, tags)]
    said = [[vocabulary.labels[i] for i in one.target.tags] for one in parts]
    assert said == [["B-X", "I-X", "E-X"], ["B-X", "E-X", "O"], ["S-X"]]
    assert [len(one.input) for one in parts] == [5, 5, 3]
