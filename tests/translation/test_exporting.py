"""Exported translators: what a client with their two files gets, and what is refused."""

import shutil
import sys
from pathlib import Path

import ctranslate2
import pytest
import torch
from everyday_run import command
from tokenizers import Tokenizer

from headway.core.config import merge
from headway.core.errors import HeadwayError
from headway.core.run_folder import RunFolder
from headway.core.tensor_files import load_tensors, save_tensors
from headway.exchange import agreement
from headway.translation import exporting
from headway.translator import Translator


@pytest.fixture(scope="module")
def lively_run(everyday_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with random weights, so that it writes something."""
    run = tmp_path_factory.mktemp("lively") / "run"
    shutil.copytree(everyday_run, run)
    torch.manual_seed(3)
    model = run / "model.safetensors"
    weights = {
        name: tensor + 0.3 * torch.randn_like(tensor)
        for name, tensor in load_tensors(model).items()
    }
    save_tensors(weights, model)
    return run


@pytest.fixture(scope="module")
def exported(lively_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported") / "model"
    finished = command("export", str(lively_run), "--to", "ctranslate2", str(folder))
    assert finished.status == 0, finished.err
    assert "checked with CTranslate2" in finished.err
    assert "200 sentences" in finished.err
    return folder


def test_a_client_with_the_two_files_writes_what_headway_writes(exported, lively_run):
    tokenizer = Tokenizer.from_file(str(exported / "tokenizer.json"))
    client = ctranslate2.Translator(str(exported), compute_type="float32")
    texts = ["The dog sees a red ball.", "She reads.", "the cat and the bird"]
    results = client.translate_batch(
        [tokenizer.encode(text).tokens for text in texts],
        beam_size=1,
        max_decoding_length=12,
        min_decoding_length=0,
        suppress_sequences=[["<pad>"], ["<unk>"], ["<s>"]],
    )
    found = [[tokenizer.token_to_id(token) for token in one.hypotheses[0]] for one in results]
    translator = Translator.load(lively_run, device="cpu")
    settings = translator.decoding({"method": "greedy", "max_extra_length": 50})
    ours = [
        one.n_best[0].ids for one in translator.plain(texts, translator.plain.request(settings))
    ]
    assert all(found)
    assert [ids[:12] for ids in ours] == found


def test_it_has_the_runs_own_tokenizer_and_no_more_than_a_client_needs(exported, lively_run):
    files = {"tokenizer.json", "model.bin", "config.json", "shared_vocabulary.json"}
    assert {path.name for path in exported.iterdir()} == files
    own = (lively_run / "tokenizer.json").read_bytes()
    assert (exported / "tokenizer.json").read_bytes() == own


def test_it_can_be_quantized_by_whoever_opens_it(exported):
    client = ctranslate2.Translator(str(exported), compute_type="int8")
    assert client.translate_batch([["a"]])[0].hypotheses


@pytest.fixture
def without_text(everyday_run: Path, tmp_path: Path) -> Path:
    """The same run where its text files are not."""
    run = tmp_path / "moved"
    shutil.copytree(everyday_run, run)
    folder = RunFolder(run)
    folder.write_settings(merge(folder.settings(), {"data": {"source": ["/nowhere/gone.en"]}}))
    return run


def test_where_the_text_is_gone_random_sub_words_are_compared(without_text, tmp_path):
    finished = command("export", str(without_text), "--to", "ctranslate2", str(tmp_path / "m"))
    assert finished.status == 0, finished.err
    assert "random sub-words" in finished.err


def test_a_model_that_differs_is_not_left(everyday_run, tmp_path, monkeypatch):
    def wrong(model, *others):
        weight = model.decoder[0].feed_forward.to_output.bias
        weight.data[0] += 0.5
        written(model, *others)
        weight.data[0] -= 0.5

    written = exporting.ctranslate2.write_ctranslate2
    monkeypatch.setattr(exporting.ctranslate2, "write_ctranslate2", wrong)
    with pytest.raises(HeadwayError, match="Nothing was written"):
        exporting.export_ctranslate2(everyday_run, tmp_path / "m", print)
    assert not list(tmp_path.iterdir())


def test_a_folder_with_something_in_it_is_never_replaced(everyday_run, tmp_path):
    (tmp_path / "mine").write_text("dear", encoding="utf-8")
    finished = command("export", str(everyday_run), "--to", "ctranslate2", str(tmp_path))
    assert finished.status == 2
    assert "there already" in finished.err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("to", "module"),
    [("ctranslate2", "ctranslate2"), ("marian", "transformers"), ("pegasus", "transformers")],
)
def test_without_the_other_program_it_is_said_how_to_get_it(
    everyday_run, tmp_path, monkeypatch, to, module
):
    monkeypatch.setitem(sys.modules, module, None)
    finished = command("export", str(everyday_run), "--to", to, str(tmp_path / "m"))
    assert finished.status == 2
    assert "pip install 'headway[export]'" in finished.err
    assert not list(tmp_path.iterdir())


def test_what_is_no_run_is_refused(tmp_path):
    finished = command("export", str(tmp_path), "--to", "ctranslate2", str(tmp_path / "m"))
    assert finished.status == 2
    assert "run folder" in finished.err


def test_the_tolerance_is_the_documented_one():
    assert agreement.TOLERANCE == 1e-3
    assert exporting.SENTENCES == 200
