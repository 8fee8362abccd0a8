"""GPT-2s as runs; the oracle is `transformers`, on random models with the options of real ones."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from everyday_run import command
from random_checkpoints import TEXTS, gpt2_tokenizer, write_gpt2
from safetensors.torch import load_file, save_file

from headway.core.errors import UserError
from headway.language_models.gpt2_runs import import_gpt2
from headway.language_models.spec import SPEC
from headway.language_models.trained import TrainedLanguageModel
from headway.runs.loading import open_run


def silent(_: str) -> None:
    pass


def difference(model: Any, run: Path) -> float:
    """The most that log-probabilities of random ids differ."""
    fed = torch.randint(0, model.config.vocab_size, (3, 20))
    ours = open_run(SPEC, run, device="cpu").model
    with torch.inference_mode():
        theirs, found = model(fed).logits.log_softmax(-1), ours(fed).log_softmax(-1)
    return (theirs - found).abs().max().item()


OPTIONS: list[dict[str, Any]] = [
    {},
    {"activation_function": "gelu"},
    {"activation_function": "relu", "n_inner": 20},
    {"layer_norm_epsilon": 1e-2, "n_layer": 1},
    {"scale_attn_weights": False},
    {"scale_attn_by_inverse_layer_idx": True, "reorder_and_upcast_attn": True},
    {"tie_word_embeddings": False},
    {"unused": 5, "one_file": True},
    {"n_embd": 18, "n_head": 3, "resid_pdrop": 0.0, "n_positions": 20},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_run_gives_the_same_log_probabilities(tmp_path, options):
    model = write_gpt2(tmp_path / "m", **options)
    import_gpt2(tmp_path / "m", tmp_path / "run", silent)
    assert difference(model, tmp_path / "run") < 1e-4


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gpt2") / "m"
    write_gpt2(folder)
    return folder


@pytest.fixture(scope="module")
def model(gpt2: Path) -> Any:
    from transformers import GPT2LMHeadModel

    return GPT2LMHeadModel.from_pretrained(gpt2, local_files_only=True).eval()


@pytest.fixture(scope="module")
def run(gpt2: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("gpt2") / "run"
    finished = command("import", "gpt2", str(gpt2), "--out", str(place))
    assert finished.status == 0, finished.err
    return place


@pytest.fixture
def copy(gpt2: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(gpt2, tmp_path / "m"))


@pytest.mark.parametrize("one_file", [False, True])
def test_ids_and_texts_are_those_of_its_tokenizer(gpt2, tmp_path, one_file):
    write_gpt2(tmp_path / "m", one_file=one_file)
    import_gpt2(tmp_path / "m", tmp_path / "run", silent)
    tokenizer = gpt2_tokenizer(gpt2)
    vocabulary = open_run(SPEC, tmp_path / "run").vocabulary
    for text in TEXTS:
        ids = vocabulary.encode(text)
        assert ids == tokenizer(text).input_ids
        assert vocabulary.decode(ids) == text
    typed = "<|endoftext|><pad>"  # stays text
    assert not {*vocabulary.encode(typed)} & {*vocabulary.special.unwritten}
    assert vocabulary.decode(vocabulary.encode(typed)) == typed


def test_a_line_is_a_text_between_two_ends(run, model):
    used = TrainedLanguageModel.load(run, device="cpu")
    text, end = TEXTS[0], model.config.eos_token_id
    ids = used.vocabulary.encode(text)
    with torch.inference_mode():
        theirs = model(torch.tensor([[end, *ids]])).logits.log_softmax(-1)[0]
    expected = sum(theirs[place, one].item() for place, one in enumerate([*ids, end]))
    assert used.score(text).log_prob == pytest.approx(expected, abs=1e-3)


def test_what_is_written_greedily_is_what_transformers_writes(run, model):
    used = TrainedLanguageModel.load(run, device="cpu")
    special, end = used.vocabulary.special, model.config.eos_token_id
    ids = used.ids("The dog")
    written = model.generate(
        torch.tensor([[end, *ids]]), do_sample=False, max_new_tokens=20, pad_token_id=end,
        suppress_tokens=[special.padding, special.unknown, end], attention_mask=None,
    )[0, 1 + len(ids) :].tolist()  # fmt: skip
    fed = torch.tensor([[end, *ids]])
    state = used.decoder.start(None, fed[:, :-1])
    step, found = used.decoder.step(state, fed[:, -1]), []
    for _ in range(20):
        step.logits[:, [special.padding, special.unknown, end]] = -torch.inf
        found.append(int(step.logits.argmax()))
        step = used.decoder.step(step.state, torch.tensor([found[-1]]))
    assert found == written


def test_it_is_used_and_gone_on_from(run, tmp_path, everyday_files):
    (text := tmp_path / "a.txt").write_text("The dog sees\n", encoding="utf-8")
    for words in (["predict", "The dog"], ["generate", "The dog", "--max-tokens", "3"]):
        finished = command(words[0], str(run), *words[1:])
        assert finished.status == 0, finished.err
    assert "damaged" not in command("check", str(run)).out
    finished = command("embed", str(run), str(text), "--json")
    assert finished.status == 0, finished.err
    tuned = tmp_path / "tuned"
    finished = command(
        "train", "--task", "language-model", "--init-from", str(run), "--corpus",
        str(everyday_files[0]), "--out", str(tuned), "--training.max-steps=4",
        "--training.checkpoint-every=2", "--training.batch-tokens=200", "--runtime.device=cpu",
    )  # fmt: skip
    assert finished.status == 0, finished.err
    lines = (tuned / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    losses = [one["valid_loss"] for one in map(json.loads, lines) if "valid_loss" in one]
    assert losses[-1] < losses[0]
    assert losses[0] == pytest.approx(math.log(420), rel=0.5)


def changed(folder: Path, name: str, **values: Any) -> None:
    held = json.loads((folder / name).read_text(encoding="utf-8"))
    (folder / name).write_text(json.dumps(held | values), encoding="utf-8")


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"model_type": "gpt_neo"}, "gpt_neo"),
        ({"activation_function": "tanh"}, "tanh"),
        ({"add_cross_attention": True}, "no source"),
        ({"vocab_size": 12}, "wte.weight"),
        ({"n_head": 5}, "heads must divide"),
        ({"n_embd": 1 << 40}, "belongs"),
        ({"n_embd": "many"}, "n_embd"),
        ({"n_embd": -16}, "belongs"),
        ({"n_layer": 3}, "belongs"),
        ({"n_layer": 1 << 70}, "n_layer"),
        ({"n_layer": 10_000}, "layers belong"),
        ({"n_positions": 0}, "belongs"),
        ({"resid_pdrop": 7}, "dropout"),
        ({"layer_norm_epsilon": 0}, "epsilon"),
    ],
    ids=str,
)
def test_a_config_that_cannot_be_held_is_refused_with_the_reason(copy, tmp_path, values, word):
    changed(copy, "config.json", **values)
    finished = command("import", "gpt2", str(copy), "--out", str(tmp_path / "run"))
    assert finished.status == 2, finished.err
    assert word in finished.err
    assert not (tmp_path / "run").exists()


FIRST = "transformer.h.0.mlp.c_fc.weight"


@pytest.mark.parametrize(
    "change",
    [
        lambda tensors: tensors.pop(FIRST),
        lambda tensors: tensors.clear(),
        lambda tensors: tensors.update({FIRST: tensors[FIRST].T.contiguous()}),
        lambda tensors: tensors.update({FIRST: tensors[FIRST].long()}),
        lambda tensors: tensors.update({FIRST: tensors[FIRST] * torch.nan}),
        lambda tensors: tensors.update({"transformer.h.2.ln_1.bias": torch.ones(16)}),
        lambda tensors: tensors.update({"lm_head.weight": tensors["transformer.wte.weight"] + 1}),
    ],
)
def test_other_weights_than_the_config_describes_are_refused(copy, tmp_path, change):
    tensors = load_file(copy / "model.safetensors")
    change(tensors)
    save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UserError, match=str(copy)):
        import_gpt2(copy, tmp_path / "run", silent)
    assert not (tmp_path / "run").exists()


def test_names_without_a_prefix_and_masks_are_taken(copy, model, tmp_path):
    """As the first GPT-2s are kept."""
    tensors = load_file(copy / "model.safetensors")
    plain = {name.removeprefix("transformer."): tensor for name, tensor in tensors.items()}
    masks = {f"h.{i}.attn.bias": torch.ones(1, 1, 40, 40, dtype=torch.uint8) for i in range(2)}
    save_file(plain | masks, copy / "model.safetensors")
    import_gpt2(copy, tmp_path / "run", silent)
    assert difference(model, tmp_path / "run") < 1e-4


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "vocab.json", "merges.txt"])
@pytest.mark.parametrize("content", [None, b"", b"[]", b"[" * 100_000, b"\xff" * 100])
def test_a_missing_or_damaged_file_is_refused_by_name(copy, tmp_path, name, content):
    (copy / name).unlink()
    if content is not None:
        (copy / name).write_bytes(content)
    finished = command("import", "gpt2", str(copy), "--out", str(tmp_path / "run"))
    assert finished.status == 2, finished.err
    assert str(copy) in finished.err
    assert "bug" not in finished.err
    assert not (tmp_path / "run").exists()


def test_pieces_of_another_kind_or_number_are_refused(copy, tmp_path):
    changed(copy, "vocab.json", beyond=10_000)
    with pytest.raises(UserError, match="rows of weights"):
        import_gpt2(copy, tmp_path / "run", silent)
    (copy / "tokenizer.json").write_text(
        '{"model": {"type": "WordPiece"}, "pre_tokenizer": {"type": "BertPreTokenizer"}}'
    )
    with pytest.raises(UserError, match="WordPiece and BertPreTokenizer"):
        import_gpt2(copy, tmp_path / "run", silent)


def test_a_pickle_is_refused_with_the_class_that_opens_it(copy, model, tmp_path):
    (copy / "model.safetensors").unlink()
    torch.save(model.state_dict(), copy / "pytorch_model.bin")
    with pytest.raises(UserError, match=r"pytorch_model\.bin.*GPT2LMHeadModel as M"):
        import_gpt2(copy, tmp_path / "run", silent)


@pytest.mark.parametrize("option", ["--unit=words", "--source-language=en"])
def test_an_option_of_other_imports_is_refused(gpt2, tmp_path, option):
    finished = command("import", "gpt2", str(gpt2), "--out", str(tmp_path / "run"), option)
    assert finished.status == 2
    assert f"{option.partition('=')[0]} is not for gpt2" in finished.err
