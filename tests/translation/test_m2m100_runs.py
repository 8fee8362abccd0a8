"""M2M-100s and NLLBs as runs; the oracle is `transformers`, on random models with the options of
real ones."""

import base64
import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from everyday_run import command
from random_checkpoints import (
    LINES,
    TEXTS,
    m2m100_tokenizer,
    nllb_tokenizer,
    write_m2m100,
    write_nllb,
)
from safetensors.torch import load_file, save_file

from headway.core.errors import UserError
from headway.runs.loading import open_run
from headway.tokenizers.words import opened
from headway.translation.m2m100_runs import import_m2m100
from headway.translation.spec import SPEC
from headway.translator import Translator


def silent(_: str) -> None:
    pass


class Kind(NamedTuple):
    """One of the two, with what `transformers` has of it."""

    folder: Path
    run: Path
    model: Any
    tokenizer: Any
    source: str
    target: str
    other: str

    def id_of(self, language: str) -> int:
        token = f"__{language}__" if len(language) == 2 else language
        found: int = self.tokenizer.convert_tokens_to_ids(token)
        return found


@pytest.fixture(scope="module")
def m2m100(tmp_path_factory: pytest.TempPathFactory) -> Kind:
    place = tmp_path_factory.mktemp("m2m100")
    model = write_m2m100(place / "m")
    tokenizer = m2m100_tokenizer(place / "m")
    finished = command(
        "import", "m2m100", str(place / "m"), "--out", str(place / "run"),
        "--source-language=en", "--target-language=fr",
    )  # fmt: skip
    assert finished.status == 0, finished.err
    return Kind(place / "m", place / "run", model, tokenizer, "en", "fr", "zh")


@pytest.fixture(scope="module")
def nllb(tmp_path_factory: pytest.TempPathFactory) -> Kind:
    place = tmp_path_factory.mktemp("nllb")
    model = write_nllb(place / "m")
    tokenizer = nllb_tokenizer(place / "m")
    import_m2m100(place / "m", place / "run", silent, "eng_Latn", "fra_Latn")
    return Kind(place / "m", place / "run", model, tokenizer, "eng_Latn", "fra_Latn", "zho_Hans")


@pytest.fixture(params=["m2m100", "nllb"])
def kind(request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def copy(m2m100: Kind, tmp_path: Path) -> Path:
    return Path(shutil.copytree(m2m100.folder, tmp_path / "m"))


def imported(folder: Path, run: Path, source: str = "en", target: str = "fr") -> None:
    import_m2m100(folder, run, silent, source, target)


def difference(model: Any, run: Path) -> float:
    """The most that log-probabilities of random ids differ; rows have padding."""
    n, language = model.config.vocab_size, 250
    source, fed = torch.randint(4, n, (4, 9)), torch.randint(4, n, (4, 7))
    source[:, -1], fed[:, 0] = 2, 2
    source[1, 6], source[1, 7:] = 2, 1
    first = torch.full((4, 1), language)
    ours = open_run(SPEC, run, device="cpu").model
    with torch.inference_mode():
        visible = (source != 1).long()
        whole = torch.cat([fed[:, :1], first, fed[:, 1:]], 1)
        theirs = model(input_ids=source, attention_mask=visible, decoder_input_ids=whole).logits
        found = ours(torch.cat([first, source], 1), fed)
    return (theirs[:, 1:].log_softmax(-1) - found.log_softmax(-1)).abs().max().item()


OPTIONS: list[dict[str, Any]] = [
    {},
    {"encoder_layers": 1, "decoder_layers": 3},
    {"scale_embedding": False},
    {"tie_word_embeddings": False},
    {"tie_word_embeddings": False, "scale_embedding": False},
    {"activation_function": "gelu"},
    {"activation_function": "swish", "encoder_layerdrop": 0.3, "decoder_layerdrop": 0.3},
    {"d_model": 18, "encoder_attention_heads": 3, "decoder_attention_heads": 3},
    {"encoder_ffn_dim": 7, "decoder_ffn_dim": 7, "max_position_embeddings": 12},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_run_gives_the_same_log_probabilities(tmp_path, options):
    model = write_m2m100(tmp_path / "m", **options)
    imported(tmp_path / "m", tmp_path / "run")
    assert difference(model, tmp_path / "run") < 1e-4


def test_half_precision_is_read(copy, tmp_path):
    from transformers import M2M100ForConditionalGeneration

    file = copy / "model.safetensors"
    save_file({name: t.half() for name, t in load_file(file).items()}, file, {"format": "pt"})
    imported(copy, tmp_path / "run")
    rounded = M2M100ForConditionalGeneration.from_pretrained(copy, dtype=torch.float32).eval()
    assert difference(rounded, tmp_path / "run") < 1e-4


def test_ids_and_texts_are_those_of_its_tokenizer(kind):
    vocabulary = open_run(SPEC, kind.run).vocabulary
    end = vocabulary.special.end
    for text in TEXTS:
        language, *ids = vocabulary.encode(text)
        assert language == kind.id_of(kind.target)
        assert [*ids, end] == kind.tokenizer(text).input_ids
        written = vocabulary.encode_targets([text])[0]
        assert [language, *written, end] == kind.tokenizer(text_target=text).input_ids
        for asked in (f"<{kind.other}> {text}", f">>{kind.other}<< {text}"):
            assert vocabulary.encode(asked) == [kind.id_of(kind.other), *ids]
    for text in LINES:
        normal = kind.tokenizer.decode(kind.tokenizer(text).input_ids[1:-1])
        assert vocabulary.decode(vocabulary.encode(text)) == normal
    assert vocabulary.encode("") == vocabulary.encode("  ") == []
    assert opened(kind.run).fingerprint() == vocabulary.fingerprint()


def test_pieces_stand_where_they_are_in_the_text(kind):
    vocabulary = open_run(SPEC, kind.run).vocabulary
    for text in (LINES[0], f"<{kind.other}> {LINES[0]}"):
        spans = vocabulary.source_spans(text)
        assert len(spans) == len(vocabulary.encode(text))
        assert "".join(text[slice(*span)] for span in spans).replace(" ", "") == text.replace(
            " ", ""
        )


def test_greedy_outputs_are_those_of_transformers_in_every_language(kind):
    translator = Translator.load(kind.run, device="cpu")
    special = translator.subwords.special
    batch = kind.tokenizer(LINES, return_tensors="pt", padding=True)
    for language in (kind.target, kind.other):
        written = kind.model.generate(
            **batch, forced_bos_token_id=kind.id_of(language), num_beams=1, do_sample=False,
            max_length=None, max_new_tokens=12, suppress_tokens=[special.padding, special.unknown],
        )[:, 2:].tolist()  # fmt: skip
        tag = f"<{language}> "
        settings = translator.decoding({"method": "greedy", "max_extra_length": 30})
        request = translator.plain.request(settings)
        found = translator.plain([tag + text for text in LINES], request)
        for one, row in zip(found, written, strict=True):
            kept = row[: row.index(special.end)] if special.end in row else row
            assert one.n_best[0].ids[: len(kept)] == kept


def test_the_language_is_the_runs_or_the_tags(m2m100):
    translator = Translator.load(m2m100.run, device="cpu")
    texts, how = LINES[:2], {"beam": 2, "max_extra_length": 3}
    own = translator.translate(texts, **how)
    assert own != translator.translate(texts, tag="zh", **how)
    [found] = translator.translate_fully(["She reads. Where is it?"], tag="zh", **how)
    assert len(found.parts) == 2
    ids = translator.subwords.languages.ids
    assert all(part.source_tokens[0] == "__zh__" for part in found.parts)
    assert translator.subwords.encode("<zh> x")[0] == ids["zh"]
    with pytest.raises(UserError, match="'xx'"):
        translator.translate(texts, tag="xx")


def tune(run: Path, out: Path, *pairs: str) -> Any:
    return command(
        "train", "--init-from", str(run), *pairs, "--out", str(out), "--training.max-steps=4",
        "--training.checkpoint-every=2", "--training.batch-tokens=300", "--runtime.threads=1",
        "--training.valid-sentences=3", "--data.valid-size=5", "--decoding.max-extra-length=2",
        "--runtime.device=cpu",
    )  # fmt: skip


def test_it_is_used_and_gone_on_from(m2m100, tmp_path, everyday_files):
    (text := tmp_path / "a.txt").write_text("The dog sees a cat.\n", encoding="utf-8")
    for words in (["embed", str(m2m100.run), str(text), "--json"], ["check", str(m2m100.run)]):
        finished = command(*words)
        assert finished.status == 0, finished.err
        assert "damaged" not in finished.out
    run, tuned = tmp_path / "run", tmp_path / "tuned"
    imported(m2m100.folder, run, "en", "zh")
    source, target = map(str, everyday_files)
    finished = tune(run, tuned, "--source", source, "--target", target)
    assert finished.status == 0, finished.err
    assert "without a tag they are written as zh" in finished.err
    lines = (tuned / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    losses = [one["valid_loss"] for one in map(json.loads, lines) if "valid_loss" in one]
    assert losses[-1] < losses[0]
    assert (tuned / "languages.json").read_bytes() == (run / "languages.json").read_bytes()
    found = Translator.load(tuned, device="cpu").translate_fully("The dog", want_alignment=True)
    assert found.source_tokens[:2] == ["__zh__", "__en__"]


def test_pairs_in_other_languages_than_are_told_are_refused(m2m100, tmp_path, everyday_files):
    source, target = map(str, everyday_files)
    finished = tune(m2m100.run, tmp_path / "tuned", "--source", source, "--target", target)
    assert finished.status == 2, finished.err
    assert ":tag=zh, or import the model again with --target-language zh" in finished.err
    finished = tune(m2m100.run, tmp_path / "tuned", "--source", target, "--target", source)
    assert finished.status == 2, finished.err
    assert "with --source-language zh" in finished.err
    both = tmp_path / "both.tsv"
    both.write_text("en\tzh\nthe dog\t狗\n", encoding="utf-8")
    finished = tune(m2m100.run, tmp_path / "tuned", "--pairs", f"{both}:tag=mine")
    assert finished.status == 2, finished.err
    assert "zh where mine would be told" in finished.err


@pytest.mark.parametrize("to", ["ctranslate2", "pegasus"])
def test_other_programs_are_not_given_what_is_told_a_language(m2m100, tmp_path, to):
    finished = command("export", str(m2m100.run), str(tmp_path / "x"), "--to", to)
    assert finished.status == 2, finished.err
    assert "is fed a language as well" in finished.err


def test_positions_are_not_shown_beside_other_tokens(m2m100, tmp_path):
    finished = command("inspect", str(m2m100.run), "a dog", "--out", str(tmp_path / "page.html"))
    assert finished.status == 2, finished.err
    assert "is fed a language as well" in finished.err
    with pytest.raises(UserError, match="is fed a language as well"):
        Translator.load(m2m100.run, device="cpu").attention("a dog")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "--source-language nothing"),
        (["--source-language=en"], "--target-language nothing"),
        (["--source-language=en", "--target-language=fra_Latn"], "fra_Latn"),
        (["--source-language=en", "--target-language=fr", "--unit=words"], "--unit is not for"),
    ],
)
def test_two_languages_that_it_knows_are_to_be_named(m2m100, tmp_path, options, words):
    finished = command(
        "import", "m2m100", str(m2m100.folder), "--out", str(tmp_path / "r"), *options
    )
    assert finished.status == 2, finished.err
    assert words in finished.err
    assert not (tmp_path / "r").exists()


def changed(file: Path, **values: Any) -> None:
    held = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(held | values), encoding="utf-8")


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"model_type": "nllb-moe"}, "nllb-moe"),
        ({"encoder_attention_heads": 2}, "attention_heads"),
        ({"decoder_ffn_dim": 12}, "ffn_dim"),
        ({"activation_function": "tanh"}, "tanh"),
        ({"decoder_start_token_id": 0}, "the end first"),
        ({"vocab_size": 12}, "belongs"),
        ({"pad_token_id": 5}, "pad_token_id"),
        ({"d_model": 15}, "d_model"),
        ({"d_model": 1 << 40}, "d_model"),
        ({"d_model": "many"}, "d_model"),
        ({"encoder_layers": 900}, "layers belong"),
        ({"encoder_layers": 1}, "belongs"),
        ({"max_position_embeddings": 1 << 62}, "max_position"),
        ({"dropout": 7}, "dropout"),
    ],
    ids=str,
)
def test_a_config_that_cannot_be_held_is_refused_with_the_reason(copy, tmp_path, values, word):
    changed(copy / "config.json", **values)
    with pytest.raises(UserError, match=word):
        imported(copy, tmp_path / "run")
    assert not (tmp_path / "run").exists()


FIRST = "model.encoder.layers.0.fc1.weight"


@pytest.mark.parametrize(
    "change",
    [
        lambda tensors: tensors.pop(FIRST),
        lambda tensors: tensors.clear(),
        lambda tensors: tensors.pop("model.shared.weight"),
        lambda tensors: tensors.update({FIRST: tensors[FIRST].T.contiguous()}),
        lambda tensors: tensors.update({FIRST: tensors[FIRST] * torch.nan}),
        lambda tensors: tensors.update({"lm_head.weight": tensors["model.shared.weight"] + 1}),
        lambda tensors: tensors.update({"model.encoder.layers.2.fc1.bias": torch.ones(24)}),
    ],
)
def test_other_weights_than_the_config_describes_are_refused(copy, tmp_path, change):
    tensors = load_file(copy / "model.safetensors")
    change(tensors)
    save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UserError, match=str(copy)):
        imported(copy, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "name",
    ["config.json", "model.safetensors", "sentencepiece.bpe.model", "vocab.json"],
)
@pytest.mark.parametrize("content", [None, b"", b"[]", b"[" * 100_000, b"\xff" * 100])
def test_a_missing_or_damaged_file_is_refused_by_name(copy, tmp_path, name, content):
    (copy / name).unlink()
    if content is not None:
        (copy / name).write_bytes(content)
    finished = command(
        "import", "m2m100", str(copy), "--out", str(tmp_path / "run"),
        "--source-language=en", "--target-language=fr",
    )  # fmt: skip
    assert finished.status == 2, finished.err
    assert str(copy) in finished.err
    assert "bug" not in finished.err
    assert not (tmp_path / "run").exists()


def test_languages_may_be_listed_and_are_to_be_there(copy, tmp_path):
    changed(copy / "tokenizer_config.json", language_codes="none")
    with pytest.raises(UserError, match="named in its tokenizer_config"):
        imported(copy, tmp_path / "run")
    (copy / "special_tokens_map.json").write_text(
        '{"additional_special_tokens": ["__fr__", "__en__"]}'
    )
    imported(copy, tmp_path / "run")
    ids = open_run(SPEC, tmp_path / "run").vocabulary.languages.ids
    assert [*ids] == ["fr", "en"]


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b"[" * 10_000, b'{"ids": {"en": 9999}, "source": "en", "target": "en"}'],
)
def test_a_run_whose_languages_are_damaged_is_refused(m2m100, tmp_path, content):
    run = Path(shutil.copytree(m2m100.run, tmp_path / "run"))
    (run / "languages.json").write_bytes(content)
    with pytest.raises(UserError, match=r"languages\.json"):
        Translator.load(run)
    finished = command("check", str(run), "--accept")
    with pytest.raises(UserError, match="Take it from a copy"):
        Translator.load(run)
    assert finished.status in (0, 1, 2)


def test_a_table_of_characters_that_writes_without_measure_is_refused(nllb, tmp_path):
    folder = Path(shutil.copytree(nllb.folder, tmp_path / "m"))
    described = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    table = (4).to_bytes(4, "little") + b"\0\0\0\0" + b"a" * 200 + b"\0"
    described["normalizer"] = {
        "type": "Precompiled",
        "precompiled_charsmap": base64.b64encode(table).decode(),
    }
    (folder / "tokenizer.json").write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(UserError, match="bytes for a character"):
        imported(folder, tmp_path / "run", "eng_Latn", "fra_Latn")
