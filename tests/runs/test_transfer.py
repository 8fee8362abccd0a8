"""A run that begins with the trunk of a run of another task, and one whose labels are others."""

from pathlib import Path

import pytest
import text_run
import torch
from everyday_run import Finished, command, left_behind
from safetensors.torch import load_file
from topics import lines, topic_of

from headway.core.run_folder import RunFolder
from headway.core.trainer import Trainer
from headway.labelling.labeller import Labeller
from headway.labelling.pooling import PoolingHead
from headway.language_models.decoder_only import DecoderOnly, DecoderOnlyConfig
from headway.models import Transformer
from headway.nn.encoder import Encoder, EncoderConfig
from headway.nn.positioned import PositionedConfig
from headway.runs.transfer import trunk_transferred, whole_parts

pytestmark = pytest.mark.usefixtures("torch_settings_restored")

SHORT = (
    "--training.max-steps=4", "--training.checkpoint-every=2", "--training.log-every=2",
    "--training.batch-tokens=400", "--training.learning-rate=0.003", "--training.average=2",
    "--runtime.threads=1", "--runtime.device=cpu", "--runtime.precision=fp32",
)  # fmt: skip


def labelled(path: Path, n: int = 60, names: str = "") -> Path:
    """Lines of topics, with the topic as label, or what `names` calls it."""
    rows = [(next(t for word in line.split() if (t := topic_of(word))), line) for line in lines(n)]
    path.write_text("".join(f"{names}{label}\t{line}\n" for label, line in rows), encoding="utf-8")
    return path


def classify(corpus: Path, out: Path, *flags: str) -> Finished:
    names = ("--task", "classification", "--corpus", str(corpus), "--out", str(out))
    return command("train", *names, *SHORT, *flags)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """labels.tsv, and others.tsv with other names for the same labels."""
    folder = tmp_path_factory.mktemp("labelled")
    labelled(folder / "labels.tsv")
    labelled(folder / "others.tsv", names="of-")
    return folder


@pytest.fixture(scope="module")
def text_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A language model over sub-words."""
    folder = tmp_path_factory.mktemp("text")
    corpus, run = text_run.write_corpus(folder / "corpus.en"), folder / "run"
    flags = ("--text.unit=subwords", "--text.vocabulary-size=400", "--training.max-steps=4")
    done = text_run.train("transformer", corpus, run, *flags, "--training.checkpoint-every=2")
    assert done.status == 0, done.err
    return run


def begun(run: Path) -> dict[str, torch.Tensor]:
    """The weights that a run began with."""
    return load_file(run / "checkpoints" / "step-0" / "weights.safetensors")


def told(done: Finished) -> str:
    """What came over, in words."""
    assert done.status == 0, done.err
    return next(line for line in done.err.splitlines() if "parameters: " in line)


def test_a_classifier_begins_with_the_encoder_of_a_translator(files, everyday_run, tmp_path):
    said = told(classify(files / "labels.tsv", tmp_path / "run", f"--init-from={everyday_run}"))
    assert "taken (encoder); " in said
    assert "drawn anew (head); " in said
    assert "of the parent not used (decoder, decoder_norm)" in said
    child, parent = begun(tmp_path / "run"), load_file(everyday_run / "model.safetensors")
    names = {f"encoder.layers.{n[8:]}": n for n in parent if n.startswith("encoder.")}
    names |= {n.replace("_", "."): n for n in parent if n.startswith("encoder_norm")}
    names["encoder.embedding.weight"] = "output_weight"  # all three are one
    assert {*child} == {*names, "head.to_labels.weight", "head.to_labels.bias"}
    assert all(torch.equal(child[own], parent[name]) for own, name in names.items())
    model = RunFolder(tmp_path / "run").settings()["model"]
    assert (model["layers"], model["d_model"], model["causal"]) == (1, 32, False)
    tokens = (tmp_path / "run" / "tokenizer.json").read_bytes()
    assert tokens == (everyday_run / "tokenizer.json").read_bytes()


def test_a_classifier_begins_with_a_language_model_and_reads_as_it_did(files, text_model, tmp_path):
    said = told(classify(files / "labels.tsv", tmp_path / "run", f"--init-from={text_model}"))
    assert "not used" not in said
    child, parent = begun(tmp_path / "run"), load_file(text_model / "model.safetensors")
    assert torch.equal(
        child["encoder.layers.0.feed_forward.to_inner.weight"],
        parent["stack.0.feed_forward.to_inner.weight"],
    )
    assert RunFolder(tmp_path / "run").settings()["model"]["causal"] is True


def test_a_translator_begins_with_a_language_model_as_its_decoder(
    everyday_files, text_model, tmp_path
):
    source, target = map(str, everyday_files)
    more = ("--training.valid-sentences=2", "--decoding.beam=1", "--data.valid-size=20",
            "--decoding.max-extra-length=4")  # fmt: skip
    done = command(
        "train", "--source", source, "--target", target, "--out", str(tmp_path / "run"),
        "--init-from", str(text_model), *SHORT, *more,
    )  # fmt: skip
    assert "decoder.0.cross_attention" in told(done)
    child, parent = begun(tmp_path / "run"), load_file(text_model / "model.safetensors")
    assert torch.equal(child["output_weight"], parent["output_weight"])
    own = [name for name in parent if name.startswith("stack.")]
    assert own
    assert all(torch.equal(child[name.replace("stack", "decoder")], parent[name]) for name in own)


def test_a_classifier_of_other_labels_draws_its_head_anew(files, tmp_path):
    first = tmp_path / "first"
    sizes = ("--model.layers=1", "--model.d-model=16", "--model.d-ff=16", "--model.heads=2")
    small = ("--model.type=transformer", *sizes)
    assert classify(files / "labels.tsv", first, *small).status == 0
    parent = load_file(first / "model.safetensors")
    for corpus, same in (("labels.tsv", True), ("others.tsv", False)):
        run = tmp_path / corpus
        done = classify(files / corpus, run, f"--init-from={first}")
        assert done.status == 0, done.err
        child = begun(run)
        assert torch.equal(child["encoder.embedding.weight"], parent["encoder.embedding.weight"])
        assert torch.equal(child["head.to_labels.weight"], parent["head.to_labels.weight"]) is same
        assert ("drawn anew (head)" in done.err) is not same
    assert "of the parent not used (head)" in told(done)


@pytest.mark.parametrize(
    "flags",
    [
        ("--reinit=encoder.0", "--freeze=embedding", "--training.layer-decay=0.8"),
        ("--training.lora-rank=4",),
        ("--freeze=encoder", "--training.unfreeze-at=0.7"),
    ],
    ids=["drawn anew, frozen, slower", "adapters", "waiting"],
)
def test_a_run_that_began_with_another_task_resumes_to_the_bit(
    files, everyday_run, tmp_path, monkeypatch, flags
):
    flags = (f"--init-from={everyday_run}", *flags)
    done = classify(files / "labels.tsv", tmp_path / "whole", *flags)
    assert done.status == 0, done.err
    with monkeypatch.context() as patch:
        advance = Trainer.advance

        def stopped(trainer: Trainer) -> bool:
            advance(trainer)
            return trainer.progress.step == 2

        patch.setattr(Trainer, "advance", stopped)
        done = classify(files / "labels.tsv", tmp_path / "stopped", *flags)
        assert done.status == 130, done.err
    assert command("train", "--out", str(tmp_path / "stopped"), "--resume").status == 0
    assert left_behind(tmp_path / "stopped") == left_behind(tmp_path / "whole")
    names = load_file(tmp_path / "whole" / "model.safetensors").keys()
    assert names == begun(tmp_path / "whole").keys()
    assert not [name for name in names if "lora" in name]


def test_what_contradicts_the_trunk_is_refused(files, everyday_run, tmp_path):
    for flag, why in (
        ("--model.d-model=64", r"[model] d_model is 32 in"),
        ("--text.vocabulary-size=99", "[text] vocabulary_size is"),
        ("--model.layers=2", "[model] layers is 1 in"),
        ("--freeze=encoder.3", "encoder has layers 0 to 0, got 'encoder.3'. Try encoder.0-0"),
        ("--reinit=hed", "got 'hed'. Did you mean 'head'?"),
        ("--training.lora-rank=4 --reinit=encoder.0", "are drawn anew encoder.layers.0.self_atten"),
        ("--training.lora-rank=99", "at most the size of the matrices, 32; got 99"),
    ):
        flags = (f"--init-from={everyday_run}", *flag.split())
        done = classify(files / "labels.tsv", tmp_path / "run", *flags)
        assert done.status == 2
        assert why in done.err
        assert not (tmp_path / "run" / "config.toml").exists()


def test_a_trunk_whose_input_is_normalized_is_refused_where_nothing_would(
    files, everyday_files, tmp_path
):
    first = tmp_path / "first"
    sizes = ("--model.layers=1", "--model.d-model=16", "--model.d-ff=16", "--model.heads=2")
    small = ("--model.type=transformer", "--model.embedding-norm=true", "--text.unit=subwords")
    assert classify(files / "labels.tsv", first, *small, *sizes).status == 0
    begins = ("--init-from", str(first), "--out", str(tmp_path / "run"), *SHORT)
    source, target = map(str, everyday_files)
    for what in (("--source", source, "--target", target), ("--corpus", source)):
        task = ("--task", "language-model") * (len(what) == 2)
        done = command("train", *task, *what, *begins)
        assert done.status == 2
        assert f"goes into the layers of {first} is normalized (embedding_norm" in done.err
    assert not (tmp_path / "run").exists()


# -- names --------------------------------------------------------------------------------------

SHAPE = {"d_model": 8, "d_ff": 8, "heads": 2, "norm": "pre", "positions": "learned"}
SHAPE["activation"] = "gelu"


def labeller() -> Labeller:
    config = EncoderConfig(**SHAPE, layers=2, max_length=9)
    trunk = Encoder(config, vocabulary_size=7)
    return Labeller(trunk, PoolingHead(8, 3, pooling="mean", dropout=0.0))


def test_a_trunk_gives_the_same_features_in_every_use():
    """Ids in, features out: bit for bit what the model gave that the trunk is from."""
    ids = torch.tensor([[4, 5, 6, 3], [5, 3, 0, 0]])
    child, config = labeller().eval(), PositionedConfig(**SHAPE, encoder_layers=2, max_length=9)
    translator = Transformer(config, vocabulary_size=7).eval()
    found = trunk_transferred(translator.state_dict(), translator, child)
    missing = child.load_state_dict(found.weights, strict=False)
    assert {name.partition(".")[0] for name in missing.missing_keys} == {"head"}
    assert not missing.unexpected_keys
    assert torch.equal(child.encoded(ids).features, translator.encode(ids)[0])
    writer = DecoderOnly(DecoderOnlyConfig(**SHAPE, layers=2, max_length=9), vocabulary_size=7)
    back = trunk_transferred(child.state_dict(), child, writer.eval())
    assert {*back.left} == {"head.to_labels.weight", "head.to_labels.bias"}
    again = trunk_transferred(writer.state_dict(), writer, child)
    child.load_state_dict(again.weights, strict=False)
    object.__setattr__(child.encoder.config, "causal", True)
    causal = child.encoded(ids).features
    seen = ids != 0
    assert torch.allclose(causal[seen], writer.read(ids).features[seen], atol=1e-6)


def test_parts_are_named_as_shortly_as_they_are_whole():
    all_ = ["encoder.layers.0.a", "encoder.layers.0.b", "encoder.layers.1.a", "head.a", "head.b"]
    assert whole_parts(all_[:3], all_) == ["encoder"]
    assert whole_parts([*all_[:2], *all_[3:]], all_) == ["encoder.layers.0", "head"]


def test_what_is_drawn_anew_is_as_a_new_model_has_it(files, everyday_run, tmp_path):
    """Other than the parent's, and of the variance that Glorot and Bengio give such a matrix."""
    flags = (f"--init-from={everyday_run}", "--reinit=encoder.0", "--training.max-steps=2")
    assert classify(files / "labels.tsv", tmp_path / "run", *flags).status == 0
    child, parent = begun(tmp_path / "run"), load_file(everyday_run / "model.safetensors")
    for name in ("self_attention.to_query", "feed_forward.to_inner"):
        drawn, had = child[f"encoder.layers.0.{name}.weight"], parent[f"encoder.0.{name}.weight"]
        assert not torch.equal(drawn, had)
        assert drawn.var().item() == pytest.approx(2 / sum(drawn.shape), rel=0.15)


@pytest.mark.parametrize(
    ("flag", "times"),
    [("--training.lora-rank=2", 10), ("--freeze=encoder", 10), ("--freeze=head", 1)],
)
def test_what_is_new_learns_faster_and_a_grandchild_as_if_it_had_not(
    files, everyday_run, tmp_path, monkeypatch, flag, times
):
    """A third of the parent's rate, 0.01; the same for the next."""
    short = tuple(one for one in SHORT if "learning-rate" not in one)
    names = ("train", "--task", "classification", "--corpus", str(files / "labels.tsv"), *short)
    rates = []
    for parent, run, *more in ((everyday_run, "child", flag), (tmp_path / "child", "grandchild")):
        out = ("--init-from", str(parent), "--out", str(tmp_path / run), *more)
        done = command(*names, *out)
        assert done.status == (0 if more else 130), done.err
        assert ("what learns is new, so its rate is 10 times" in done.err) is bool(
            more and times > 1
        )
        rates.append(RunFolder(tmp_path / run).settings()["training"]["learning_rate"])
        monkeypatch.setattr(Trainer, "train", lambda trainer, _: trainer.progress)  # of the next
    assert rates == pytest.approx([times * 0.01 / 3, 0.01 / 3])
