"""Word vectors that a model begins with: which tokens get them, how large, and that they stay."""

import json
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import text_run
import torch
from everyday_run import FLAGS, command, train, write_pairs
from safetensors.torch import load_file

from headway.core.errors import ConfigError, DataError
from headway.core.learning import drawn
from headway.core.subwords import Subwords
from headway.core.trainer import Trainer
from headway.demo import generate
from headway.language_models.models import LANGUAGE_MODELS
from headway.language_models.spec import SPEC, built
from headway.models import MODELS
from headway.operations.frozen import all_parameters, freeze, in_words
from headway.operations.time_budget import PlannedTraining
from headway.runs.initial_embedding import embeddings_of, find
from headway.runs.settings import Settings
from headway.tokenizers.words import Words
from headway.vectors.word_vectors import WordVectors

SIZE = 16
MARKERS = 4


def vectors_of(*words: str, size: int = SIZE) -> WordVectors:
    """Numbers that no two words share."""
    numbers = np.random.default_rng(5).normal(0.1, 3.0, (len(words), size))
    return WordVectors(words, numbers.astype(np.float32))


def written(path: Path, vectors: WordVectors) -> Path:
    """As word2vec's text."""
    rows = (
        f"{word} {' '.join(f'{x:.9g}' for x in row.tolist())}\n"
        for word, row in zip(vectors.words, vectors.matrix, strict=True)
    )
    path.write_text(f"{len(vectors)} {vectors.size}\n{''.join(rows)}", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    return text_run.write_corpus(tmp_path_factory.mktemp("corpus") / "text.en", 150)


@pytest.fixture(scope="module")
def words(corpus) -> WordVectors:
    """Every second word of the corpus, in the order of its letters, in lower case."""
    text = corpus.read_text(encoding="utf-8").split()
    return vectors_of(*sorted({word.lower() for word in text})[::2], "unheard-of")


@pytest.fixture(scope="module")
def file(words, tmp_path_factory) -> Path:
    return written(tmp_path_factory.mktemp("vectors") / "vectors.txt", words)


def config_of(run: Path) -> dict[str, dict[str, Any]]:
    return tomllib.loads((run / "config.toml").read_text(encoding="utf-8"))


def noted_of(run: Path) -> dict[str, Any]:
    return json.loads((run / "data.json").read_text(encoding="utf-8"))["init_embedding"]


def matrix_of(run: Path) -> torch.Tensor:
    """That of an LSTM: the output's as well."""
    return load_file(run / "model.safetensors")["output_weight"]


def drawn_model(run: Path) -> torch.nn.Module:
    """As the seed of a run of language alone draws it."""
    settings, vocabulary = Settings.of(config_of(run), SPEC), SPEC.vocabulary(run)
    seed = settings.runtime.seed
    return drawn(
        lambda: built(settings, len(vocabulary), vocabulary.special), seed, torch.device("cpu")
    )


# -- by spelling --------------------------------------------------------------------------------


def test_a_token_gets_its_own_vector_else_that_of_the_word_that_it_begins_else_in_lower_case():
    subwords = Subwords.train(["- the dog The Dog dog's Cat"] * 20, vocabulary_size=300)
    assert all(map(subwords.has, ("▁the", "▁dog", "▁The", "▁Dog", "▁Cat")))
    vectors = vectors_of("▁dog", "dog", "Dog", "the", "cat", "Ġ", "<s>")
    found = find(subwords, vectors)
    row = dict(zip(subwords.pieces(found.tokens), found.vectors.tolist(), strict=True))
    given = dict(zip(vectors.words, vectors.matrix.tolist(), strict=True))
    assert row["▁dog"] == given["▁dog"], "the piece itself"
    assert row["▁Dog"] == given["Dog"], "the word, before its lower case"
    assert row["▁the"] == row["▁The"] == given["the"]
    assert row["▁Cat"] == given["cat"]
    assert not {"▁", "<s>"} & row.keys(), "neither a space alone nor a marker is a word"
    assert found.n_lower_cased == sum(piece.lower() != piece and piece != "▁Dog" for piece in row)
    assert found.n_asked == len(subwords) - MARKERS


def test_pieces_of_other_toolkits_begin_words_too():
    found = find(Words(["Ġdog", "▁cat", "dog"]), vectors_of("dog", "Ġcat"))
    assert found.tokens == [4, 5, 6]


@pytest.mark.parametrize(
    ("vectors", "refused"),
    [
        (
            vectors_of("Hund", "Katze"),
            "none of its 2 .'dog', 'cat', ... is among .* .'Hund'",
        ),
        (WordVectors(["dog"], np.zeros((1, 3), np.float32)), "finite numbers"),
        (WordVectors(["dog"], np.array([[1, np.nan]], np.float32)), "finite numbers"),
    ],
)
def test_vectors_that_are_of_no_use_are_refused(vectors, refused):
    with pytest.raises(DataError, match=refused):
        find(Words(["dog", "cat"]), vectors)


# -- of every model -----------------------------------------------------------------------------


def every_model() -> list[Any]:
    kinds = {f"translation-{name}": of for name, of in MODELS.items()}
    by_token = LANGUAGE_MODELS.keys() - {"ngram", "elmo"}  # which count, and which read letters
    kinds |= {f"language-{name}": LANGUAGE_MODELS[name] for name in sorted(by_token)}
    return [pytest.param(*of, id=name) for name, of in kinds.items()]


@pytest.mark.parametrize(("config", "model"), every_model())
def test_every_model_tells_its_embeddings_and_freezing_embedding_means_all_of_them(config, model):
    with torch.device("meta"):
        made = model(config(), vocabulary_size=11)
    matrices = {one.weight for one in embeddings_of(made, 11)}
    assert matrices, "a language model has one, a translator one or two"
    freeze(made, ["embedding"])
    assert {one for one in made.parameters() if not one.requires_grad} == matrices


@pytest.mark.parametrize("tied", [True, False])
def test_source_and_target_are_frozen_alike_and_a_shared_matrix_is_said(tied):
    config, model = MODELS["transformer"]
    with torch.device("meta"):
        made = model(config(tied=tied), vocabulary_size=11)
    freeze(made, ["embedding"])
    still = {name for name, one in all_parameters(made) if not one.requires_grad}
    both = {"source_embedding.weight", "target_embedding.weight"}
    assert still == both | ({"output_weight"} if tied else set())
    said = in_words(made, ["embedding"])
    shared = "embedding; one matrix: output_weight = target_embedding = source_embedding)"
    assert (shared in said) == tied


# -- a whole training ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def frozen_run(corpus, file, tmp_path_factory) -> tuple[Path, str]:
    """A language model whose embedding stays, and what was said."""
    run = tmp_path_factory.mktemp("frozen") / "run"
    more = ("--init-embedding", str(file), "--freeze", "embedding", "--training.average=2")
    finished = text_run.train("lstm", corpus, run, *more)
    assert finished.status == 0, finished.err
    return run, finished.err


def test_found_vectors_are_scaled_by_one_factor_and_frozen_they_stay_bit_for_bit(
    frozen_run, words, file
):
    run, said = frozen_run
    noted, vocabulary = noted_of(run), SPEC.vocabulary(run)
    found = find(vocabulary, words)
    assert (noted["found"], noted["lower_cased"]) == (len(found.tokens), found.n_lower_cased)
    assert noted["found"] > noted["lower_cased"] > 0
    assert f"{noted['found']:,} of {len(vocabulary) - MARKERS:,} tokens have a vector" in said
    assert f"times {noted['factor']:.3g}" in said
    begun = drawn_model(run).embedding.weight.detach()
    own = matrix_of(run)
    scaled = torch.from_numpy(found.vectors * np.float32(noted["factor"]))
    assert torch.equal(own[found.tokens], scaled)
    others = sorted({*range(len(vocabulary))} - {*found.tokens})
    assert torch.equal(own[others], begun[others]), "as they were drawn"
    size = [float(part[found.tokens].double().square().mean()) for part in (own, begun)]
    assert size[0] == pytest.approx(size[1], rel=1e-6), "as large as those that were drawn"
    assert torch.equal(own[vocabulary.special.padding], torch.zeros(SIZE))


def test_what_is_tuned_begins_there_and_moves(corpus, file, frozen_run, tmp_path):
    run = tmp_path / "run"
    finished = text_run.train("lstm", corpus, run, "--init-embedding", str(file))
    assert finished.status == 0, finished.err
    assert noted_of(run) == noted_of(frozen_run[0])
    own, frozen = matrix_of(run), matrix_of(frozen_run[0])
    assert not torch.equal(own, frozen)
    assert torch.nn.functional.cosine_similarity(own, frozen)[MARKERS:].mean() > 0.5


@pytest.mark.parametrize("stop_after", [0, 25])
def test_a_stopped_run_goes_on_as_if_it_had_not(
    corpus, file, frozen_run, tmp_path, monkeypatch, stop_after
):
    """Before its first checkpoint it needs the file as it was; after that no more."""
    run, own = tmp_path / "run", shutil.copy(file, tmp_path / "vectors.txt")
    more = ("--init-embedding", str(own), "--freeze", "embedding", "--training.average=2")
    whole_training = Trainer.train

    def stopped(self: Trainer[Any], _: Any) -> Any:
        if not stop_after:
            return self.progress
        return whole_training(self, lambda: self.progress.step == stop_after)

    with monkeypatch.context() as patched:
        patched.setattr(Trainer, "train", stopped)
        assert text_run.train("lstm", corpus, run, *more).status == 130
    if stop_after:
        Path(own).unlink()
    else:
        Path(own).write_text("1 2\nelse 1 2\n", encoding="utf-8")
        refused = command("train", "--out", str(run), "--resume")
        assert refused.status == 2
        assert re.search("until its first checkpoint; .* has changed since", refused.err)
        Path(own).unlink()
        assert "vectors.txt is gone" in command("train", "--out", str(run), "--resume").err
        shutil.copy(file, own)
    finished = text_run.train("lstm", corpus, run, *more, "--resume")
    assert finished.status == 0, finished.err
    whole, again = (load_file(one / "model.safetensors") for one in (frozen_run[0], run))
    assert all(torch.equal(tensor, again[name]) for name, tensor in whole.items())


def test_a_translator_begins_with_vectors_of_another_run(everyday_run, everyday_files, tmp_path):
    """Its sub-words are the same, so each has a vector, and the shared matrix is frozen once."""
    first, second = everyday_run, tmp_path / "second"
    more = ("--init-embedding", str(first), "--freeze", "embedding", "--training.max-steps=4")
    finished = train(everyday_files, second, *more)
    assert finished.status == 0, finished.err
    assert "one matrix: output_weight = target_embedding = source_embedding)" in finished.err
    noted = noted_of(second)
    assert (noted["found"], noted["lower_cased"]) == (noted["tokens"], 0)
    before, after = (load_file(run / "model.safetensors") for run in (first, second))
    name = next(name for name, tensor in before.items() if tensor.shape[0] == noted["tokens"] + 4)
    scaled = before[name][MARKERS:] * np.float32(noted["factor"])
    assert torch.equal(after[name][MARKERS:], scaled)
    assert not any(torch.equal(before[other], after[other]) for other in before if other != name)


# -- sizes --------------------------------------------------------------------------------------


def test_the_size_of_the_embedding_follows_the_vectors(corpus, words, tmp_path, monkeypatch):
    monkeypatch.setattr(Trainer, "train", lambda self, _: self.progress)
    small = written(tmp_path / "small.txt", WordVectors(words.words, words.matrix[:, :10]))
    run = tmp_path / "run"
    names = ("--task", "language-model", "--corpus", str(corpus), "--out", str(run))
    flags = (*text_run.FLAGS, "--init-embedding", str(small), "--preset")
    stopped = command("train", *names, *flags, "gru")
    assert stopped.status == 130, stopped.err
    assert "d_model 10: the size of the vectors in " in stopped.err
    assert config_of(run)["model"]["d_model"] == 10
    shutil.rmtree(run)
    refused = command("train", *names, *flags, "base")
    assert refused.status == 2
    assert "got 12 heads, and d_model is 10" in refused.err
    refused = command("train", *names, *flags, "gru", "--model.d-model=12")
    assert refused.status == 2
    assert "have 10 numbers, the embedding 12. Leave that size out, set 10" in refused.err
    assert not run.exists()


def test_of_two_sizes_that_one_follows_which_is_the_embeddings(words, tmp_path, monkeypatch):
    monkeypatch.setattr(Trainer, "train", lambda self, _: self.progress)
    pairs = write_pairs(tmp_path, "a", generate(200, 3))
    english = {word for text, _ in generate(200, 3) for word in text.split()}
    small = written(tmp_path / "small.txt", vectors_of(*sorted(english), size=10))
    run = tmp_path / "run"
    names = ("--source", str(pairs[0]), "--target", str(pairs[1]), "--out", str(run))
    flags = [flag for flag in FLAGS if not flag.startswith("--model.")]
    stopped = command("train", *names, *flags, "--preset=recurrent", "--init-embedding", str(small))
    assert stopped.status == 130, stopped.err
    model = config_of(run)["model"]
    assert model["d_embedding"] == 10 != model["d_model"]


# -- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "refused"),
    [
        (["--init-embedding", "none.bin"], "no such file"),
        (["--init-embedding", "."], "holds no config.toml"),
        (["--init-embedding", "{file}", "--model.type=ngram"], "type ngram is learned in another"),
    ],
)
def test_what_cannot_be_begun_with_is_refused(corpus, file, tmp_path, more, refused):
    run = tmp_path / "run"
    given = [one.format(file=file) for one in more]
    names = ("--task", "language-model", "--corpus", str(corpus), "--out", str(run))
    finished = command("train", *names, *given)
    assert finished.status == 2, finished.err
    assert refused in finished.err
    assert not run.exists()


def test_it_is_another_run_or_word_vectors_that_a_model_begins_with():
    with pytest.raises(ConfigError, match="got both. Leave one of them out"):
        PlannedTraining(init_from="runs/a", init_embedding="b.bin")


def test_a_model_that_reads_no_tokens_is_refused():
    with pytest.raises(ConfigError, match="a row for each token; this one has none for its 7"):
        embeddings_of(torch.nn.Linear(2, 2), 7)
