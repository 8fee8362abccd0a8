"""Transformers in CTranslate2; the oracle is CTranslate2 itself, on random models."""

from pathlib import Path

import ctranslate2
import pytest
import torch

from headway.core.errors import ConfigError, HeadwayError
from headway.core.subwords import SpecialIds
from headway.core.transformer import Transformer
from headway.decoding.forced import attention_over
from headway.exchange.agreement import agreement
from headway.exchange.ctranslate2 import InCTranslate2, write_ctranslate2
from headway.nn.positioned import PositionedConfig

N_TOKENS = 50
TOKENS = ["<pad>", "<unk>", "<s>", "</s>", *(f"t{i}" for i in range(N_TOKENS - 4))]
SPECIAL = SpecialIds()


def random_model(**options) -> Transformer:
    """With weights so large that any mistake shows."""
    shape = {"d_model": 16, "d_ff": 24, "heads": 2, "encoder_layers": 2, "decoder_layers": 1}
    config = PositionedConfig(**{**shape, "max_length": 60, **options})
    model = Transformer(config, vocabulary_size=N_TOKENS).eval()
    for parameter in model.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    return model


def random_rows(lengths) -> list[list[int]]:
    return [torch.randint(4, N_TOKENS, (n,)).tolist() for n in lengths]


def found(model: Transformer, folder: Path, special: SpecialIds = SPECIAL):
    write_ctranslate2(model, TOKENS, special, folder, 100)
    other = InCTranslate2(folder, TOKENS, special)
    sources, targets = random_rows((3, 7, 12, 30, 1, 5)), random_rows((4, 0, 10, 33, 1, 9))
    return agreement(model, special, other, sources, targets, 20)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "relative", "rotary", "none"])
@pytest.mark.parametrize("tied", [True, False])
def test_ctranslate2_computes_what_the_model_computes(tmp_path, norm, positions, tied):
    model = random_model(norm=norm, positions=positions, tied=tied)
    result = found(model, tmp_path)
    assert result.log_prob < 1e-4
    assert result.choice < 1e-4
    assert result.n_tokens == 4 + 0 + 10 + 33 + 1 + 9 + 6


@pytest.mark.parametrize(
    "options",
    [
        {"activation": "gelu"},
        {"activation": "gelu_tanh"},
        {"activation": "swiglu"},
        {"output_bias": True},
        {"layer_norm_epsilon": 0.05},
        {"d_k": 6, "d_v": 6},
        {"d_k": 6, "d_v": 6, "positions": "rotary"},
        {"heads": 4, "encoder_layers": 1, "decoder_layers": 3},
    ],
    ids=str,
)
def test_every_other_option_is_carried(tmp_path, options):
    result = found(random_model(**options), tmp_path)
    assert result.log_prob < 1e-4
    assert result.choice < 1e-4


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_its_attention_is_that_of_the_alignment_layer(tmp_path, n_layers):
    model = random_model(decoder_layers=n_layers)
    write_ctranslate2(model, TOKENS, SPECIAL, tmp_path, 100)
    source, target = random_rows((9, 6))
    [result] = ctranslate2.Translator(str(tmp_path)).translate_batch(
        [[TOKENS[i] for i in source]],
        target_prefix=[[TOKENS[i] for i in target]],
        beam_size=1,
        max_decoding_length=len(target) + 1,
        return_attention=True,
    )
    [expected] = attention_over(model, [source], [target], SPECIAL, torch.device("cpu"))
    found = torch.tensor(result.attention[0])[: len(target)]  # not on the end marker
    torch.testing.assert_close(found, expected[:, : len(source)], atol=1e-4, rtol=0)


def test_a_vocabulary_without_a_begin_marker_is_fed_padding_first(tmp_path):
    result = found(random_model(), tmp_path, SpecialIds(0, 1, None, 3))
    assert result.log_prob < 1e-4
    assert result.choice < 1e-4


@pytest.mark.parametrize(("longest", "n_tokens", "limit"), [(100, 1000, 1000), (2048, 2048, 20)])
def test_texts_of_two_thousand_tokens_have_positions(tmp_path, longest, n_tokens, limit):
    """Also their end markers, and those of translations that are longer."""
    model = random_model(encoder_layers=1)
    write_ctranslate2(model, TOKENS, SPECIAL, tmp_path, longest)
    other = InCTranslate2(tmp_path, TOKENS, SPECIAL)
    source, target = random_rows([n_tokens]), random_rows([n_tokens + 50])
    result = agreement(model, SPECIAL, other, source, target, limit)
    assert result.log_prob < 1e-4


@pytest.mark.parametrize(("options", "word"), [({"window": 3}, "window"), ({"d_v": 9}, "d_v")])
def test_what_it_cannot_hold_is_refused_with_the_reason(tmp_path, options, word):
    with pytest.raises(ConfigError, match=word):
        write_ctranslate2(random_model(**options), TOKENS, SPECIAL, tmp_path, 100)
    assert not list(tmp_path.iterdir())


def test_the_model_keeps_its_weights(tmp_path):
    model = random_model()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    write_ctranslate2(model, TOKENS, SPECIAL, tmp_path, 100)
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


@pytest.mark.parametrize(
    "name", ["encoder.0.feed_forward.to_inner.bias", "target_embedding.weight"]
)
def test_a_model_that_differs_by_a_little_is_found(tmp_path, name):
    model = random_model()
    write_ctranslate2(model, TOKENS, SPECIAL, tmp_path, 100)
    other = InCTranslate2(tmp_path, TOKENS, SPECIAL)
    with torch.no_grad():
        model.get_parameter(name)[-1] += 0.05
    rows = random_rows([12] * 8)
    result = agreement(model, SPECIAL, other, rows, rows, 20)
    assert result.log_prob > 1e-3
    with pytest.raises(HeadwayError, match="Nothing was written"):
        result.refuse_difference()


def test_a_wrong_greedy_choice_is_found_where_scores_agree(tmp_path):
    """As where the other program decodes by other rules: here it must not write a word."""
    model = random_model()
    write_ctranslate2(model, TOKENS, SPECIAL, tmp_path, 100)
    rows = random_rows([12] * 8)
    honest = InCTranslate2(tmp_path, TOKENS, SPECIAL)
    word = honest.written(rows, 20)[0][0]
    other = InCTranslate2(tmp_path, TOKENS, SpecialIds(0, word, 2, 3))
    result = agreement(model, SPECIAL, other, rows, rows, 20)
    assert result.log_prob < 1e-4
    assert result.choice > 1e-3


def test_no_number_is_no_agreement():
    class Broken:
        name = "broken"

        def log_probs(self, sources, targets):
            return [[float("nan")] * (len(target) + 1) for target in targets]

        def written(self, sources, limit):
            return [[] for _ in sources]

    result = agreement(random_model(), SPECIAL, Broken(), [[5]], [[5]], 1)
    with pytest.raises(HeadwayError, match="nan"):
        result.refuse_difference()
