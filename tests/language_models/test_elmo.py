"""ELMo: two halves that know nothing of each other, and words by their letters."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from everyday_run import command
from text_run import FLAGS, SMALL, write_corpus

from headway.core.errors import ConfigError
from headway.core.loss import projected_label_smoothed
from headway.core.rows import pad
from headway.core.run_folder import RunFolder
from headway.language_models.elmo import BACKWARD, Elmo, ElmoConfig
from headway.language_models.embedding import embedder
from headway.language_models.evaluation import accuracy
from headway.language_models.scoring import Scorer
from headway.language_models.trained import TrainedLanguageModel
from headway.nn.character_words import spelled
from headway.tokenizers import words
from headway.tokenizers.words import Words

pytestmark = pytest.mark.usefixtures("torch_settings_restored")
CONFIG = ElmoConfig(
    layers=2, d_model=6, d_cell=8, d_character=4, filters=(4, 5), dropout=0.0, samples=0
)
WORDS = Words("the dog cat runs sleeps a big small apple 苹果".split())
FED = torch.tensor([[2, 4, 5, 7, 2, 4, 6], [2, 9, 10, 5, 8, 2, 13]])
WANTED = torch.tensor([[4, 5, 7, 3, 4, 6, 8], [9, 10, 5, 8, 3, 13, 3]])


def small(**options):
    torch.manual_seed(2)
    model = Elmo(
        replace(CONFIG, **options),
        vocabulary_size=len(WORDS),
        pieces=WORDS.pieces(range(len(WORDS))),
    ).eval()
    for layer in model.layers:  # far from the beginning, where little passes from word to word
        for parameter in layer.parameters():
            torch.nn.init.normal_(parameter, std=0.6)
    return model


def vectors(model, sentences):
    """Of texts, whose words the vocabulary need not have."""
    vocabulary = model.opened(WORDS)
    rows = [np.array(vocabulary.encode(text), np.int64) for text in sentences]
    return model.contextual(torch.from_numpy(pad(rows, 0)))


def backward_features(model, wanted, carried=None):
    """In the order of the text, though it is read from its end."""
    return model.read_half(wanted.flip(1), carried, BACKWARD).features.flip(1)


def test_the_loss_is_the_mean_of_two_one_way_models_with_the_same_weights():
    """The backward one is a forward one whose readers are exchanged, on the text from its end."""
    model, turned = small(), small()
    with torch.no_grad():
        for layer in turned.layers:
            for parameter in layer.parameters():
                parameter.copy_(parameter.flip(0))
    carried = model.read(FED).carried
    forward = projected_label_smoothed(
        model.read(FED, carried).features, model.output_weight, WANTED,
        output_bias=model.output_bias, smoothing=0.0, padding=0,
    )  # fmt: skip
    backward = projected_label_smoothed(
        turned.read(WANTED.flip(1)).features, turned.output_weight, FED.flip(1),
        output_bias=turned.output_bias, smoothing=0.0, padding=0,
    )  # fmt: skip
    found, after = model.loss(FED, WANTED, carried, smoothing=0.0, padding=0)
    torch.testing.assert_close(found.nll, (forward.nll + backward.nll) / 2)
    matrix, its = model.layers[0].from_hidden, turned.layers[0].from_hidden
    [gradient] = torch.autograd.grad(found.smoothed, matrix)
    [left], [right] = (
        torch.autograd.grad(loss.smoothed / 2, of)
        for loss, of in ((forward, matrix), (backward, its))
    )
    torch.testing.assert_close(gradient, torch.stack([left[0], right[0]]))
    expected = model.read(FED, carried).carried
    for name, part in after.items():
        torch.testing.assert_close(part, expected[name])


@pytest.mark.parametrize("place", range(1, 7))
def test_no_future_reaches_the_forward_half_and_no_past_the_backward_one(place):
    model = small()
    later = FED.clone()
    later[:, place:] = 4 + (FED[:, place:] + 1) % 10
    before, after = model.read(FED).features, model.read(later).features
    torch.testing.assert_close(after[:, :place], before[:, :place], rtol=0, atol=1e-6)
    assert not torch.allclose(after[:, place], before[:, place])
    earlier = WANTED.clone()
    earlier[:, :place] = 4 + (WANTED[:, :place] + 1) % 10
    before, after = backward_features(model, WANTED), backward_features(model, earlier)
    torch.testing.assert_close(after[:, place:], before[:, place:], rtol=0, atol=1e-6)
    assert not torch.allclose(after[:, place - 1], before[:, place - 1])


def test_the_backward_half_is_a_language_model_of_texts_from_their_end():
    """Each line is scored from its last word to its begin marker, the last line first; the sum is
    that of the loss, where it is read as one stretch."""
    model = small()
    ids = np.array([4, 5, 7, 3, 4, 6, 8, 3])
    scorer = Scorer(model, WORDS.special, window=3, device=torch.device("cpu"))
    found = scorer.from_the_end(ids)
    fed, wanted = torch.tensor([[2, 4, 5, 7, 2, 4, 6, 8]]), torch.from_numpy(ids)[None]
    logits = model.logits(backward_features(model, wanted)).log_softmax(-1)
    expected = logits.gather(2, fed[:, :, None])[0, :, 0].flip(0)
    np.testing.assert_allclose(found, expected.detach(), atol=1e-5)
    both = model.loss(fed, wanted, None, smoothing=0.0, padding=0).loss.nll
    assert both.item() == pytest.approx(-(scorer.stream(ids).sum() + found.sum()) / 2, rel=1e-5)


def test_the_vectors_of_a_word_are_those_of_the_two_halves_whoever_stands_beside_it():
    model = small()
    sentences = ["the dog runs", "", "a big apple sleeps 苹果", "cat"]
    together = vectors(model, sentences)
    assert together.shape == (3, 4, 5, 12)
    for row in (0, 2, 3):
        ids = torch.tensor([WORDS.encode(sentences[row])])
        alone = model.contextual(ids)
        found = together[:, row, : ids.shape[1]]
        torch.testing.assert_close(found, alone[:, 0], rtol=0, atol=1e-6)
        torch.testing.assert_close(alone[0, 0], model.embed(ids)[0].repeat(1, 2))
        begun = torch.cat([torch.tensor([[2]]), ids], 1)
        ended = torch.cat([ids, torch.tensor([[3]])], 1)
        torch.testing.assert_close(alone[-1, 0, :, :6], model.read(begun).features[0, 1:])
        torch.testing.assert_close(alone[-1, 0, :, 6:], backward_features(model, ended)[0, :-1])


def test_from_the_second_layer_on_what_comes_in_is_added():
    model = small()
    with torch.no_grad():
        model.layers[1].to_output.zero_()
    _, first, second = vectors(model, ["the dog runs"])
    assert first.abs().max() > 0.01
    torch.testing.assert_close(second, first)


def test_a_word_that_was_never_seen_has_a_vector_of_its_own_letters():
    model = small()
    [letters, *layers] = vectors(model, ["dogs dig 苹 dog"])
    for different in (letters[0], layers[-1][0]):
        assert torch.pdist(different).min() > 1e-3
    vocabulary = model.opened(WORDS)
    ids = vocabulary.encode("dogs dig 苹 dog </s>")
    assert ids[:3] == [len(WORDS), len(WORDS) + 1, len(WORDS) + 2]
    assert len(vocabulary) == len(WORDS)
    assert vocabulary.fingerprint() == WORDS.fingerprint()
    assert vocabulary.pieces(ids) == ["dogs", "dig", "苹", "dog", "</s>"]
    torch.testing.assert_close(model.embed(torch.tensor(ids[:4])), letters[0, :, :6])
    assert model.foretold(torch.tensor(ids)).tolist() == [1, 1, 1, WORDS.encode("dog")[0], 1]
    longer = vocabulary.encode("dig antidisestablishmentarianism")
    expected = model.words(torch.tensor(spelled(["dig", "antidisestablishmentarianism"])))
    torch.testing.assert_close(model.embed(torch.tensor(longer)), expected)


def test_words_that_are_met_have_an_end(monkeypatch):
    monkeypatch.setattr(words, "MOST_MET", 2)
    vocabulary = small().opened(WORDS)
    n = len(WORDS)
    assert vocabulary.encode("one two three one dog") == [n, n + 1, 1, n, WORDS.encode("dog")[0]]


def test_words_beyond_the_most_frequent_are_read_by_their_letters_and_foretold_as_unknown():
    model = small(output_words=8)
    assert model.output_weight.shape == (8, 6)
    rare, as_unknown = WANTED.clone(), WANTED.clone()
    as_unknown[WANTED >= 8] = 1
    scores = model.log_probs(FED, rare).log_probs
    torch.testing.assert_close(scores, model.log_probs(FED, as_unknown).log_probs)
    assert not torch.allclose(*model.embed(torch.tensor([9, 10])))
    step = model.step(model.start(None), torch.tensor([9]))
    assert step.logits.shape == (1, 8)


def test_a_model_that_foretells_fewer_words_than_are_told_is_scored():
    with pytest.raises(ConfigError, match="output_words are foretold.*got 1, of which"):
        small(output_words=1)
    scorer = Scorer(small(output_words=3), WORDS.special, window=32, device=torch.device("cpu"))
    found = accuracy(scorer, np.arange(60) % 9 + 3, most=5)
    assert 0 <= found.likeliest <= found.among_five == 1


def test_the_softmax_is_sampled_in_training_alone_and_not_with_smoothing():
    full, sampled = small(), small(samples=3)

    def nll(model, smoothing):
        torch.manual_seed(1)
        return model.loss(FED, WANTED, None, smoothing=smoothing, padding=0).loss.nll.item()

    assert nll(full, 0.0) == nll(sampled, 0.0)
    full.train()
    sampled.train()
    assert nll(full, 0.0) != pytest.approx(nll(sampled, 0.0), rel=1e-4)
    assert nll(full, 0.1) == nll(sampled, 0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layers": 0}, "layers must be at least 1; got 0"),
        ({"d_cell": 1 << 17}, "d_cell must be at most 65,536"),
        ({"filters": ()}, r"filters must be numbers from 1 to 16,384, one a width; got \(\)"),
        ({"filters": (32, 0)}, "Try 32,32,64"),
        ({"samples": -1}, "samples must be at least 0; got -1"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1"),
    ],
)
def test_impossible_sizes_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        ElmoConfig(**options)


# -- through the command -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """One that has learned the everyday corpus, whose valid words are not all in its training."""
    folder = tmp_path_factory.mktemp("elmo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADWAY_CACHE", str(folder / "cache"))
        corpus = write_corpus(folder / "corpus.txt")
        names = ("--task=language-model", "--corpus", str(corpus), "--out", str(folder / "run"))
        flags = [flag for flag in FLAGS if "min-count" not in flag and "max-steps" not in flag]
        steps = ("--training.max-steps=60", "--training.checkpoint-every=30")
        finished = command("train", *names, "--model.type=elmo", *SMALL["elmo"], *flags, *steps)
        assert finished.status == 0, finished.err
    return folder / "run"


def test_it_learns_a_small_language_both_ways(run):
    model = TrainedLanguageModel.load(run, device="cpu")
    found = model.evaluate([run.parent / "corpus.txt"])
    n = len(model.decoder.output_weight)
    assert n == 60
    halves = found.both_ways
    assert halves["forward"] == pytest.approx(found.scores.per_token)
    assert halves["both"] == pytest.approx((halves["forward"] * halves["backward"]) ** 0.5)
    assert max(halves["forward"], halves["backward"]) < n / 3
    assert found.scores.n_unknown > 0, "words beyond the most frequent ones count as unknown"
    card = (run / "README.md").read_text(encoding="utf-8")
    assert "perplexity per token forward" in card
    assert "Language model (ELMo)" in card
    last = [line for line in RunFolder(run).read_log() if "perplexity" in line][-1]
    assert last["perplexity"] < n / 3


def test_unseen_words_are_read_by_their_letters_by_every_verb(run):
    text = run.parent / "unseen.txt"
    text.write_text("The zyzzyva runs .\n", encoding="utf-8")
    scored = command("score", str(run), str(text))
    assert scored.status == 0, scored.err
    assert "tokens are unknown to the model, and scored as its one unknown word" in scored.err
    one, other = (
        command("predict", str(run), begun, "--top", "0")
        for begun in ("The zyzzyva", "The qwrtpsd")
    )
    assert (one.status, len(one.out.splitlines())) == (0, 60)
    assert one.out != other.out
    evaluated = command("evaluate", str(run), "--corpus", str(text))
    assert "it reads both ways; perplexity per token: forward" in evaluated.out


def test_embed_gives_the_same_vectors_of_known_and_unseen_words(run):
    texts = ["The dog runs .", "zyzzyva", "A zyzzyva can see the dog ."]
    found = embedder(run, "cpu")
    assert (found.layers, found.sees) == (("embedding", "1", "2"), "the words on both sides")
    model = TrainedLanguageModel.load(run, device="cpu")
    for text, embedded in zip(texts, found.embed(texts), strict=True):
        expected = model.decoder.contextual(torch.tensor([model.vocabulary.encode(text)]))
        np.testing.assert_allclose(embedded.vectors, expected[:, 0], atol=1e-4)
        assert not any(embedded.unknown)


def test_subwords_are_refused(run, tmp_path):
    refused = command(
        "train", "--task=language-model", "--model.type=elmo", "--text.unit=subwords",
        "--corpus", str(run.parent / "corpus.txt"), "--out", str(tmp_path / "run"),
    )  # fmt: skip
    assert refused.status == 2
    assert "reads whole words by their letters; got text.unit subwords" in refused.err
