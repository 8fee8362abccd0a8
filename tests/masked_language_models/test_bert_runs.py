"""BERTs and RoBERTas as runs; the oracle is `transformers`, on random models with every option."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from bert_models import PIECES, drawn, write_bert, write_roberta
from everyday_run import command
from safetensors.torch import load_file, save_file
from tokenizers import AddedToken
from transformers import (
    AutoTokenizer,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertModel,
    RobertaModel,
)

from headway.core.config import merge
from headway.core.errors import HeadwayError, UserError
from headway.core.run_folder import RunFolder
from headway.core.tensor_files import save_tensors
from headway.exchange.bert import to_bert
from headway.masked_language_models import bert_export
from headway.masked_language_models.bert_export import export_bert, write_markers
from headway.masked_language_models.bert_runs import import_bert, import_roberta
from headway.masked_language_models.filling import MaskFiller
from headway.masked_language_models.spec import SPEC
from headway.runs.loading import open_run
from headway.runs.settings import Settings

TOLERANCE = 1e-4
Tensors = dict[str, torch.Tensor]


def silent(_: str) -> None:
    pass


def differences(model: Any, run: Path) -> tuple[float, float]:
    """The most that the encoder's vectors differ, and logits, on rows of which two are padded."""
    settings, tokens, own, _ = open_run(SPEC, run, device="cpu")
    padding, longest = tokens.special.padding, settings.model.max_length
    torch.manual_seed(7)
    ids = torch.randint(5, len(tokens), (4, min(longest, 15)))
    ids[1, 6:], ids[2, 1:] = padding, padding
    real = ids != padding
    with torch.inference_mode():
        theirs = model(ids, attention_mask=real.long(), output_hidden_states=True)
        vectors = theirs.hidden_states[-1] - own.encoded(ids).features
        logits = theirs.logits[:, :, : len(tokens)] - own(ids)
    return vectors[real].abs().max().item(), logits[real].abs().max().item()


OPTIONS: list[dict[str, Any]] = [
    {},
    {"hidden_act": "gelu_new"},
    {"hidden_act": "gelu_pytorch_tanh"},
    {"hidden_act": "relu"},
    {"hidden_act": "silu"},
    {"layer_norm_eps": 1e-3},
    {"max_position_embeddings": 9},
    {"type_vocab_size": 1},
    {"type_vocab_size": 3},
    {"vocab_size": len(PIECES) + 7},
    {"tie_word_embeddings": False},
    {"tie_word_embeddings": False, "vocab_size": len(PIECES) + 7},
    {"hidden_size": 12, "num_attention_heads": 3, "num_hidden_layers": 1, "intermediate_size": 7},
    {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.2, "classifier_dropout": 0.3},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_bert_gives_the_same_vectors_and_logits(tmp_path, options):
    model = write_bert(tmp_path / "m", **options)
    import_bert(tmp_path / "m", tmp_path / "run", silent)
    assert max(differences(model, tmp_path / "run")) < TOLERANCE


@pytest.mark.parametrize(
    "options",
    [{}, {"type_vocab_size": 2}, {"tie_word_embeddings": False}, {"max_position_embeddings": 11}],
    ids=str,
)
def test_a_roberta_gives_the_same_vectors_and_logits(tmp_path, options):
    model = write_roberta(tmp_path / "m", **options)
    import_roberta(tmp_path / "m", tmp_path / "run", silent)
    assert max(differences(model, tmp_path / "run")) < TOLERANCE


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert") / "m"
    write_bert(folder)
    return folder


@pytest.fixture(scope="module")
def model(bert: Path) -> Any:
    return BertForMaskedLM.from_pretrained(bert, local_files_only=True).eval()


@pytest.fixture
def copy(bert: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(bert, tmp_path / "m"))


def changed_config(folder: Path, **values: Any) -> None:
    file = folder / "config.json"
    held = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(held | values), encoding="utf-8")


def with_tensor(name: str, tensor: torch.Tensor) -> Callable[[Tensors], Tensors]:
    return lambda tensors: {**tensors, name: tensor}


def changed_weights(folder: Path, change: Callable[[Tensors], Tensors | None]) -> None:
    file = folder / "model.safetensors"
    tensors = load_file(file)
    save_file(change(tensors) or tensors, file, metadata={"format": "pt"})


def test_old_names_counted_positions_and_what_is_tied_are_taken(copy, model, tmp_path):
    """As the first conversions from TensorFlow have it."""

    def old(tensors: Tensors) -> Tensors:
        names = {"weight": "gamma", "bias": "beta"}
        found = {}
        for name, tensor in tensors.items():
            kept, _, last = name.rpartition(".LayerNorm.")
            found[f"{kept}.LayerNorm.{names[last]}" if kept else name] = tensor
        found["bert.embeddings.position_ids"] = torch.arange(20)[None]
        found["cls.predictions.decoder.weight"] = tensors[
            "bert.embeddings.word_embeddings.weight"
        ].clone()
        found["cls.predictions.decoder.bias"] = found.pop("cls.predictions.bias")
        return found

    changed_weights(copy, old)
    changed_config(copy, model_type=None, architectures=None, directionality="bidi")
    import_bert(copy, tmp_path / "run", silent)
    assert max(differences(model, tmp_path / "run")) < TOLERANCE


def test_weights_in_several_files_are_those_of_one(copy, model, tmp_path):
    model.save_pretrained(copy, max_shard_size="8KB")
    (copy / "model.safetensors").unlink(missing_ok=True)
    assert len([*copy.glob("model-*.safetensors")]) > 2
    import_bert(copy, tmp_path / "run", silent)
    assert max(differences(model, tmp_path / "run")) < TOLERANCE


def test_half_precision_is_read(copy, model, tmp_path):
    changed_weights(copy, lambda tensors: {n: t.bfloat16() for n, t in tensors.items()})
    import_bert(copy, tmp_path / "run", silent)
    rounded = type(model).from_pretrained(copy, local_files_only=True, dtype=torch.float32).eval()
    assert max(differences(rounded, tmp_path / "run")) < TOLERANCE


def test_without_segments_nothing_is_added(copy, tmp_path):
    changed_weights(
        copy,
        lambda tensors: {n: t for n, t in tensors.items() if "token_type" not in n},
    )
    changed_config(copy, type_vocab_size=0)
    import_bert(copy, tmp_path / "run", silent)
    changed_config(copy, type_vocab_size=1)
    name = "bert.embeddings.token_type_embeddings.weight"
    changed_weights(copy, with_tensor(name, torch.zeros(1, 16)))
    zeros = BertForMaskedLM.from_pretrained(copy, local_files_only=True).eval()
    assert max(differences(zeros, tmp_path / "run")) < TOLERANCE


@pytest.mark.parametrize("prefixed", [True, False])
def test_an_encoder_alone_gets_a_head_that_was_drawn_and_it_is_said(
    copy, model, tmp_path, prefixed
):
    trunk = BertModel.from_pretrained(copy, local_files_only=True).eval()
    if prefixed:
        changed = BertForSequenceClassification.from_pretrained(copy, local_files_only=True)
        changed.save_pretrained(copy)
    else:
        trunk.save_pretrained(copy)
    said: list[str] = []
    import_bert(copy, tmp_path / "run", said.append)
    assert any("predict needs one that was trained" in line for line in said)
    assert any("pooler" in line and "left out" in line for line in said)
    assert ("classifier.weight" in " ".join(said)) == prefixed
    ids = torch.tensor([[2, 9, 30, 3, 0], [2, 11, 12, 13, 3]])
    with torch.inference_mode():
        theirs = trunk(ids, attention_mask=(ids != 0).long()).last_hidden_state
        own = open_run(SPEC, tmp_path / "run", device="cpu").model.encoded(ids).features
    assert (theirs - own)[ids != 0].abs().max() < TOLERANCE


def test_a_roberta_alone_has_no_prefix(tmp_path):
    model = write_roberta(tmp_path / "m")
    trunk: RobertaModel = model.roberta
    trunk.save_pretrained(tmp_path / "m")
    import_roberta(tmp_path / "m", tmp_path / "run", silent)
    assert differences(model, tmp_path / "run")[0] < TOLERANCE


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"model_type": "albert"}, "albert"),
    ({"position_embedding_type": "relative_key"}, "relative_key"),
    ({"is_decoder": True}, "is_decoder"),
    ({"add_cross_attention": True}, "add_cross_attention"),
    ({"hidden_act": "quick_gelu"}, "quick_gelu"),
    ({"hidden_act": None, "num_attention_heads": 5}, "heads must divide d_model"),
    ({"type_vocab_size": -1}, "type_vocab_size"),
    ({"type_vocab_size": 0}, "belongs"),
    ({"max_position_embeddings": 2}, "max_position_embeddings"),
    ({"max_position_embeddings": 1 << 62}, "max_position_embeddings"),
    ({"max_position_embeddings": 21}, "belongs"),
    ({"vocab_size": 12}, "belongs"),
    ({"hidden_size": 1 << 40}, "d_model"),
    ({"hidden_size": -16}, "d_model"),
    ({"hidden_size": "many"}, "hidden_size"),
    ({"hidden_size": 32}, "belongs"),
    ({"intermediate_size": 7}, "belongs"),
    ({"num_hidden_layers": 1}, "belongs"),
    ({"num_hidden_layers": 3}, "belong"),
    ({"num_hidden_layers": 900}, "belong"),
    ({"num_hidden_layers": 1 << 70}, "num_hidden_layers"),
    ({"num_hidden_layers": None}, "has no 'num_hidden_layers'. Take that file"),
    ({"layer_norm_eps": 0.0}, "layer_norm_epsilon"),
    ({"hidden_dropout_prob": 7}, "dropout"),
    ({"tie_word_embeddings": False}, "belongs"),
]


@pytest.mark.parametrize(("values", "word"), REFUSED, ids=str)
def test_a_config_that_cannot_be_held_is_refused_with_the_reason(copy, tmp_path, values, word):
    changed_config(copy, **values)
    with pytest.raises(UserError, match=word):
        import_bert(copy, tmp_path / "run", silent)
    assert not (tmp_path / "run").exists()


def without(name: str) -> Callable[[Tensors], Tensors]:
    return lambda tensors: {n: t for n, t in tensors.items() if name not in n}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (without("layer.1.output.dense.bias"), "layer.1.output.dense.bias"),
        (without("predictions.transform.dense"), "nothing for cls.predictions.transform.dense"),
        (without("predictions.bias"), "nothing for cls.predictions.bias"),
        (without("word_embeddings"), "word_embeddings"),
        (with_tensor("bert.encoder.layer.7.output.dense.bias", torch.ones(16)), "layer.7"),
        (with_tensor("bert.embeddings.extra.weight", torch.ones(2)), "embeddings.extra"),
        (with_tensor("bert.embeddings.LayerNorm.bias", torch.full((16,), torch.nan)), "not finite"),
        (with_tensor("cls.predictions.bias", torch.ones(len(PIECES)).long()), "I64"),
        (with_tensor("cls.predictions.decoder.weight", torch.ones(len(PIECES), 16)), "differ"),
    ],
)
def test_weights_of_another_model_are_refused(copy, tmp_path, change, word):
    changed_weights(copy, change)
    with pytest.raises(UserError, match=word):
        import_bert(copy, tmp_path / "run", silent)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("damage", ["cut", "no config", "no weights", "index", "pieces", "beyond"])
def test_damaged_folders_are_refused(copy, tmp_path, damage):
    weights = copy / "model.safetensors"
    if damage == "cut":
        weights.write_bytes(weights.read_bytes()[:-9])
    elif damage == "no config":
        (copy / "config.json").unlink()
    elif damage == "pieces":
        (copy / "vocab.txt").write_text("\n".join([*PIECES, "more"]), encoding="utf-8")
    else:
        weights.unlink()
    if damage == "index":
        (copy / "model.safetensors.index.json").write_text("{}", encoding="utf-8")
    elif damage == "beyond":
        told = json.dumps({"weight_map": {"a": "../m/config.json"}})
        (copy / "model.safetensors.index.json").write_text(told, encoding="utf-8")
    with pytest.raises(UserError, match=r"copy|Check the path|of one model"):
        import_bert(copy, tmp_path / "run", silent)
    assert not (tmp_path / "run").exists()


def test_a_pickle_is_refused_with_a_line_that_makes_what_is_read(copy, model, tmp_path):
    weights = copy / "model.safetensors"
    torch.save(model.state_dict(), copy / "pytorch_model.bin")
    weights.unlink()
    with pytest.raises(UserError, match="can run programs") as caught:
        import_bert(copy, tmp_path / "run", silent)
    line = str(caught.value).partition('python -c "')[2].removesuffix('"')
    exec(line, {})
    import_bert(copy, tmp_path / "run", silent)
    assert max(differences(model, tmp_path / "run")) < TOLERANCE


@pytest.mark.parametrize(
    ("values", "word"),
    [({"pad_token_id": 2}, "pad_token_id"), ({"hidden_act": "relu"}, "head has gelu")],
)
def test_a_roberta_that_differs_from_its_vocabulary_or_head_is_refused(tmp_path, values, word):
    write_roberta(tmp_path / "m")
    changed_config(tmp_path / "m", **values)
    with pytest.raises(UserError, match=word):
        import_roberta(tmp_path / "m", tmp_path / "run", silent)


@pytest.mark.usefixtures("without_a_gpu")
def test_words_are_told_and_embedded_from_the_command_line(bert, model, tmp_path):
    run = str(tmp_path / "run")
    finished = command("import", "bert", str(bert), "--out", run)
    assert finished.status == 0, finished.err
    assert "damaged" not in command("check", run).out
    finished = command("predict", run, "hello [MASK] world", "--json", "--top", "3")
    assert finished.status == 0, finished.err
    ((mask,),) = [one["masks"] for one in json.loads(finished.out)["predictions"]]
    fed = torch.tensor([[2, PIECES.index("hello"), 4, PIECES.index("world"), 3]])
    with torch.inference_mode():
        best = model(fed).logits[0, 2].softmax(-1).topk(3)
    assert [one["token"] for one in mask] == [PIECES[i] for i in best.indices.tolist()]
    assert [one["prob"] for one in mask] == pytest.approx(best.values.tolist(), abs=1e-4)
    text = tmp_path / "text.txt"
    text.write_text("hello world\n", encoding="utf-8")
    finished = command("embed", run, str(text), "--out", str(tmp_path / "v.safetensors"))
    assert finished.status == 0, finished.err


@pytest.mark.parametrize(
    "text",
    ["the [] says hello", "[] world", "hello [].", "hello[]world", "the [] [] word", "a  [] b []"],
)
@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_masked_texts_have_the_ids_of_transformers(tmp_path, family, text):
    write, made, mask = {
        "bert": (write_bert, import_bert, "[MASK]"),
        "roberta": (write_roberta, import_roberta, "<mask>"),
    }[family]
    write(tmp_path / "m")
    made(tmp_path / "m", tmp_path / "run", silent)
    takes_space = AddedToken(mask, lstrip=family == "roberta", special=True)  # as RoBERTa's does
    theirs = AutoTokenizer.from_pretrained(tmp_path / "m", mask_token=takes_space)
    filler = MaskFiller.load(tmp_path / "run", device="cpu", precision="fp32")
    masked = filler.masked(text.replace("[]", mask))
    assert masked.ids == theirs(text.replace("[]", mask)).input_ids
    assert [masked.ids[i] for i in masked.places] == [theirs.mask_token_id] * text.count("[]")


def test_a_classification_begins_with_it(bert, tmp_path):
    import_bert(bert, tmp_path / "run", silent)
    lines = [f"good\t{'hello world ' * 30}", "bad\tthe word"] * 20
    (tmp_path / "labelled.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    finished = command(
        "train", "--task", "classification", "--init-from", str(tmp_path / "run"), "--freeze",
        "encoder.0", "--corpus", str(tmp_path / "labelled.tsv"), "--out", str(tmp_path / "child"),
        "--training.max-steps=3", "--training.batch-tokens=60", "--runtime.threads=1",
        "--runtime.device=cpu",
    )  # fmt: skip
    assert finished.status == 0, finished.err
    before, after = (load_file(tmp_path / one / "model.safetensors") for one in ("run", "child"))
    frozen = [name for name in before if name.startswith("encoder.layers.0.")]
    assert len(frozen) == 16
    assert all(torch.equal(before[name], after[name]) for name in frozen)
    tokenizers = [(tmp_path / one / "tokenizer.json").read_bytes() for one in ("run", "child")]
    assert tokenizers[0] == tokenizers[1]
    assert RunFolder(tmp_path / "child").settings()["data"]["max_length"] == 20  # positions end
    finished = command("predict", str(tmp_path / "child"), "hello world " * 30)
    assert finished.status == 0, finished.err


OWN: list[dict[str, Any]] = [
    {},
    {"tied": False},
    {"embedding_scale": 0.0},
    {"embedding_scale": 3.0, "tied": False},
    {"activation": "gelu_tanh", "layers": 1},
    {"activation": "swish", "heads": 4, "dropout": 0.0},
]


def own_run(folder: Path, bert: Path, **model: Any) -> Path:
    """A run as ours begin, with weights drawn."""
    import_bert(bert, folder, silent)
    run = RunFolder(folder)
    kept = run.settings()
    settings = Settings.of(merge(kept, {"model": model}), SPEC)
    built = drawn(SPEC.build(settings, SPEC.vocabulary(folder)))
    save_tensors(dict(built.named_parameters()), run.model)
    run.write_settings(settings.sections() | {"run": kept["run"]})
    return folder


@pytest.mark.parametrize("options", OWN, ids=str)
def test_transformers_computes_what_a_run_of_ours_computes(bert, tmp_path, monkeypatch, options):
    monkeypatch.setattr(bert_export, "N_TEXTS", 25)
    run = own_run(tmp_path / "run", bert, **options)
    said: list[str] = []
    assert export_bert(run, tmp_path / "out", said.append) < TOLERANCE
    assert "on 25 texts: the same ids" in said[0]
    model = BertForMaskedLM.from_pretrained(tmp_path / "out", local_files_only=True).eval()
    assert max(differences(model, run)) < TOLERANCE
    import_bert(tmp_path / "out", tmp_path / "again", silent)
    assert max(differences(model, tmp_path / "again")) < TOLERANCE


def test_a_roberta_is_exported_as_a_bert(tmp_path):
    write_roberta(tmp_path / "m")
    import_roberta(tmp_path / "m", tmp_path / "run", silent)
    finished = command("export", str(tmp_path / "run"), str(tmp_path / "out"), "--to", "bert")
    assert finished.status == 0, finished.err
    assert "on 100 texts: the same ids" in finished.err


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"norm": "pre"}, "norm"),
        ({"positions": "rotary"}, "positions"),
        ({"embedding_norm": False}, "embedding-norm true"),
        ({"activation": "swiglu"}, "swiglu"),
        ({"window": 3}, "window"),
        ({"causal": True}, "causal"),
        ({"d_k": 5, "d_v": 5}, "d_k"),
    ],
    ids=str,
)
def test_what_a_bert_cannot_hold_is_refused(bert, tmp_path, options, word):
    run = own_run(tmp_path / "run", bert, **options)
    with pytest.raises(UserError, match=word):
        export_bert(run, tmp_path / "out", silent)
    assert not (tmp_path / "out").exists()


def test_an_export_that_differs_is_not_left(bert, tmp_path, monkeypatch):
    run = own_run(tmp_path / "run", bert)
    monkeypatch.setattr(bert_export, "to_bert", lambda own, config: to_bert(
        {**own, "head.output_bias": own["head.output_bias"] + 1}, config))  # fmt: skip
    with pytest.raises(HeadwayError, match="Nothing was written"):
        export_bert(run, tmp_path / "out", silent)
    monkeypatch.undo()

    def without_markers(folder: Path, *told: Any, longest: int) -> None:
        write_markers(folder, *told, longest=longest)
        file = folder / "tokenizer.json"
        whole = json.loads(file.read_text(encoding="utf-8")) | {"post_processor": None}
        file.write_text(json.dumps(whole), encoding="utf-8")

    monkeypatch.setattr(bert_export, "write_markers", without_markers)
    with pytest.raises(HeadwayError, match="gives a text the ids"):
        export_bert(run, tmp_path / "out", silent)
    monkeypatch.undo()
    assert not (tmp_path / "out").exists()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    with pytest.raises(UserError, match="folder of its own"):
        export_bert(run, tmp_path / "out", silent)


def test_an_option_of_other_programs_is_refused(bert, tmp_path):
    finished = command("import", "bert", str(bert), "--out", str(tmp_path / "r"), "--unit", "words")
    assert finished.status == 2
    assert "--unit" in finished.err
