"""Marian models as runs; the oracle is `transformers`, on random models with every option."""

import json
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from everyday_run import command
from marian_models import CODES, write_model
from safetensors.torch import load_file, save_file
from transformers import MarianMTModel, MarianTokenizer

from headway.core.errors import UserError
from headway.runs.loading import open_run
from headway.translation import exporting
from headway.translation.marian_runs import import_marian
from headway.translation.spec import SPEC
from headway.translator import Translator


@pytest.fixture(autouse=True)
def few_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """An export compares fewer than it usually does."""
    monkeypatch.setattr(exporting, "SENTENCES", 20)


def silent(_: str) -> None:
    pass


def difference(model: MarianMTModel, run: Path) -> float:
    """The most that log-probabilities of some random ids differ; rows have padding."""
    padding, end = model.config.pad_token_id, model.config.eos_token_id
    source, fed = torch.randint(3, padding, (4, 9)), torch.randint(3, padding, (4, 7))
    source[:, -1], fed[:, 0] = end, padding
    source[1, 6], source[1, 7:] = end, padding
    ours = open_run(SPEC, run, device="cpu").model
    with torch.inference_mode():
        visible = (source != padding).long()
        theirs = model(input_ids=source, attention_mask=visible, decoder_input_ids=fed).logits
        found = ours(source, fed)
    return (theirs.log_softmax(-1) - found.log_softmax(-1)).abs().max().item()


OPTIONS: list[dict[str, Any]] = [
    {},
    {"scale_embedding": False},
    {"tie_word_embeddings": False},
    {"share_encoder_decoder_embeddings": False},
    {"share_encoder_decoder_embeddings": False, "scale_embedding": False},
    {"share_encoder_decoder_embeddings": False, "tie_word_embeddings": False},
    {"activation_function": "gelu"},
    {"activation_function": "relu"},
    {"activation_function": "silu"},
    {"activation_function": "gelu_new"},
    {"activation_function": "gelu_pytorch_tanh"},
    {"d_model": 18, "encoder_layers": 1, "decoder_layers": 3},
    {"encoder_ffn_dim": 7, "decoder_ffn_dim": 7, "max_position_embeddings": 20},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_run_gives_the_same_log_probabilities(tmp_path, options):
    model = write_model(tmp_path / "m", **options)
    import_marian(tmp_path / "m", tmp_path / "run", silent)
    assert difference(model, tmp_path / "run") < 1e-4


@pytest.fixture(scope="module")
def marian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("marian") / "m"
    write_model(folder)
    return folder


@pytest.fixture(scope="module")
def model(marian: Path) -> MarianMTModel:
    return MarianMTModel.from_pretrained(marian, local_files_only=True).eval()


@pytest.fixture
def copy(marian: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(marian, tmp_path / "m"))


def changed_config(folder: Path, **values: Any) -> None:
    file = folder / "config.json"
    held = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(held | values), encoding="utf-8")


def changed_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    file = folder / "model.safetensors"
    tensors = load_file(file)
    change(tensors)
    save_file(tensors, file, metadata={"format": "pt"})


def test_what_older_versions_wrote_besides_is_taken(copy, model, tmp_path):
    """All names of one matrix, positions, options that are off, fields of searches."""

    def add(tensors: dict[str, torch.Tensor]) -> None:
        state = model.state_dict()
        tensors.update({name: state[name].clone() for name in state if name not in tensors})

    changed_weights(copy, add)
    changed_config(
        copy, normalize_before=False, add_final_layer_norm=False, normalize_embedding=False,
        static_position_embeddings=True, num_beams=6, bad_words_ids=[[1]], id2label={"0": "a"},
    )  # fmt: skip
    import_marian(copy, tmp_path / "run", silent)
    assert difference(model, tmp_path / "run") < 1e-4


def test_without_a_bias_there_is_none(copy, model, tmp_path):
    changed_weights(copy, lambda tensors: tensors.pop("final_logits_bias"))
    import_marian(copy, tmp_path / "run", silent)
    assert open_run(SPEC, tmp_path / "run").model.output_bias is None


def test_half_precision_is_read(copy, tmp_path):
    changed_weights(copy, lambda tensors: tensors.update({n: t.half() for n, t in tensors.items()}))
    import_marian(copy, tmp_path / "run", silent)
    rounded = MarianMTModel.from_pretrained(copy, local_files_only=True, dtype=torch.float32)
    assert difference(rounded.eval(), tmp_path / "run") < 1e-4


def test_it_is_translated_with_trained_on_and_given_back_bit_for_bit(
    marian, tmp_path, everyday_files
):
    run, tuned, back = tmp_path / "run", tmp_path / "tuned", tmp_path / "back"
    finished = command("import", "marian", str(marian), "--out", str(run))
    assert finished.status == 0, finished.err
    assert "damaged" not in command("check", str(run)).out
    source, target = map(str, everyday_files)
    finished = command(
        "train", "--init-from", str(run), "--source", source, "--target", target,
        "--out", str(tuned), "--training.max-steps=4", "--training.checkpoint-every=2",
        "--training.batch-tokens=300", "--training.valid-sentences=3", "--data.valid-size=5",
        "--decoding.max-extra-length=2", "--runtime.threads=1", "--runtime.device=cpu",
    )  # fmt: skip
    assert finished.status == 0, finished.err
    assert "was imported" in finished.err
    assert (tuned / "source.spm").read_bytes() == (marian / "source.spm").read_bytes()
    losses = [
        json.loads(line)["valid_loss"]
        for line in (tuned / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        if "valid_loss" in line
    ]
    assert losses[-1] < losses[0]
    finished = command("export", str(tuned), "--to", "marian", str(back))
    assert finished.status == 0, finished.err
    assert "checked with transformers" in finished.err
    again = import_marian(back, tmp_path / "again", silent)
    assert again.model.read_bytes() == (tuned / "model.safetensors").read_bytes()
    for name in ("source.spm", "target.spm", "vocab.json"):
        assert (back / name).read_bytes() == (marian / name).read_bytes()


def test_of_several_languages_one_is_asked_for_and_every_sentence_is_told(tmp_path):
    write_model(tmp_path / "m", codes=CODES)
    import_marian(tmp_path / "m", tmp_path / "run", silent)
    translator = Translator.load(tmp_path / "run", device="cpu")
    texts = ["She reads. The dog sees a cat. Where is it?"]
    with pytest.raises(UserError, match="zho, cmn_Hans"):
        translator.translate(texts)
    [found] = translator.translate_fully(texts, tag="cmn_Hans", max_extra_length=2, beam=1)
    assert len(found.parts) == 3
    assert all(part.source_tokens[0] == ">>cmn_Hans<<" for part in found.parts)


@pytest.mark.parametrize("to", ["marian", "ctranslate2"])
def test_it_is_exported_although_it_has_no_text(marian, tmp_path, to):
    import_marian(marian, tmp_path / "run", silent)
    finished = command("export", str(tmp_path / "run"), "--to", to, str(tmp_path / "out"))
    assert finished.status == 0, finished.err
    assert "random sub-words" in finished.err
    for name in ("source.spm", "target.spm", "vocab.json"):
        assert (tmp_path / "out" / name).read_bytes() == (marian / name).read_bytes()


def test_greedy_texts_are_those_of_transformers(marian, model, tmp_path):
    import_marian(marian, tmp_path / "run", silent)
    tokenizer = MarianTokenizer.from_pretrained(marian, local_files_only=True)
    texts = ["The dog sees a cat.", "She reads.", "Where is the red ball?"]
    batch = tokenizer(texts, return_tensors="pt", padding=True)
    translator = Translator.load(tmp_path / "run", device="cpu")
    special = translator.subwords.special
    written = model.generate(
        **batch, num_beams=1, max_length=None, max_new_tokens=9, forced_eos_token_id=None,
        suppress_tokens=[special.padding, special.unknown],
    )  # fmt: skip
    settings = translator.decoding({"method": "greedy", "max_extra_length": 40})
    ours = [
        one.n_best[0].ids for one in translator.plain(texts, translator.plain.request(settings))
    ]
    for ids, row in zip(ours, written[:, 1:].tolist(), strict=True):
        kept = row[: row.index(special.end)] if special.end in row else row
        assert ids[: len(kept)] == kept


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"model_type": "bart"}, "bart"),
        ({"encoder_attention_heads": 4}, "attention_heads"),
        ({"decoder_ffn_dim": 12}, "ffn_dim"),
        ({"decoder_vocab_size": 99}, "vocabularies of their own"),
        ({"activation_function": "quick_gelu"}, "quick_gelu"),
        ({"decoder_start_token_id": 0}, "padding first"),
        ({"normalize_before": True}, "normalize_before"),
        ({"normalize_embedding": True}, "normalize_embedding"),
        ({"add_final_layer_norm": True}, "add_final_layer_norm"),
        ({"static_position_embeddings": False}, "static_position_embeddings"),
        ({"vocab_size": 12}, "vocab_size"),
        ({"eos_token_id": 5}, "eos_token_id"),
        ({"d_model": 1 << 40}, "d_model"),
        ({"d_model": 15}, "heads must divide d_model"),
        ({"d_model": 32}, "belongs"),
        ({"d_model": -16}, "d_model"),
        ({"d_model": "many"}, "d_model"),
        ({"d_model": [16]}, "d_model"),
        ({"d_model": 1e400}, "d_model"),
        ({"encoder_layers": 1000}, "belong"),
        ({"encoder_layers": 1 << 70}, "encoder_layers"),
        ({"encoder_layers": 1}, "belongs"),
        ({"max_position_embeddings": 1 << 62}, "max_position"),
        ({"max_position_embeddings": 1}, "max_position"),
        ({"dropout": 7}, "dropout"),
        ({"pad_token_id": None}, "pad_token_id"),
    ],
    ids=str,
)
def test_a_config_that_cannot_be_held_is_refused_with_the_reason(copy, tmp_path, values, word):
    changed_config(copy, **values)
    with pytest.raises(UserError, match=word):
        import_marian(copy, tmp_path / "run", silent)
    assert not (tmp_path / "run").exists()


FIRST = "model.encoder.layers.0.fc1.weight"


@pytest.mark.parametrize(
    "change",
    [
        lambda tensors: tensors.pop(FIRST),
        lambda tensors: tensors.clear(),
        lambda tensors: tensors.pop("model.shared.weight"),
        lambda tensors: tensors.update({FIRST: tensors[FIRST].T.contiguous()}),
        lambda tensors: tensors.update({FIRST: tensors[FIRST].long()}),
        lambda tensors: tensors.update({FIRST: tensors[FIRST] * torch.inf}),
        lambda tensors: tensors[FIRST].view(-1)[3:4].fill_(torch.nan),
        lambda tensors: tensors.update({"model.encoder.layer_norm.weight": torch.ones(16)}),
        lambda tensors: tensors.update({"model.encoder.layers.2.fc1.bias": torch.ones(24)}),
        lambda tensors: tensors.update({"lm_head.weight": tensors["model.shared.weight"] + 1}),
        lambda tensors: tensors.update({"final_logits_bias": torch.ones(1, 3)}),
        lambda tensors: tensors.update(
            {"model.encoder.embed_positions.weight": torch.zeros(64, 16)}
        ),
    ],
)
def test_other_weights_than_the_config_describes_are_refused(copy, tmp_path, change):
    changed_weights(copy, change)
    with pytest.raises(UserError, match=str(copy)):
        import_marian(copy, tmp_path / "run", silent)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "source.spm", "vocab.json"])
@pytest.mark.parametrize("content", [None, b"", b"[]", b"[" * 100_000, b"\xff" * 100])
def test_a_missing_or_damaged_file_is_refused_by_name(copy, tmp_path, name, content):
    (copy / name).unlink()
    if content is not None:
        (copy / name).write_bytes(content)
    finished = command("import", "marian", str(copy), "--out", str(tmp_path / "run"))
    assert finished.status == 2, finished.err
    assert str(copy) in finished.err
    assert name.split(".")[0] in finished.err
    assert "bug" not in finished.err


def test_a_pickle_is_refused_with_the_one_line_that_makes_safetensors_of_it(copy, model, tmp_path):
    (copy / "model.safetensors").unlink()
    torch.save(model.state_dict(), copy / "pytorch_model.bin")
    finished = command("import", "marian", str(copy), "--out", str(tmp_path / "run"))
    assert finished.status == 2
    assert "pytorch_model.bin" in finished.err
    line = finished.err.partition('python -c "')[2].rpartition('"')[0]
    with warnings.catch_warnings(action="ignore"):
        exec(line, {})
    import_marian(copy, tmp_path / "run", silent)
    assert difference(model, tmp_path / "run") < 1e-4


def test_a_run_that_is_there_is_not_replaced(marian, tmp_path):
    import_marian(marian, tmp_path / "run", silent)
    with pytest.raises(UserError, match="already holds a run"):
        import_marian(marian, tmp_path / "run", silent)
