"""Operations and memory: torch's counter against formulas by hand, and against what happens."""

import pytest
import torch
from torch.autograd.graph import saved_tensors_hooks

from headway.core.transformer import Transformer, TransformerConfig
from headway.language_models.decoder_only import DecoderOnly, DecoderOnlyConfig
from headway.language_models.models import LANGUAGE_MODELS
from headway.study.operation_counting import (
    OUTPUT,
    PASS_OF_PAIRS,
    PASS_OF_TEXT,
    Lengths,
    count,
    parts_of,
)


def by_hand(config: TransformerConfig, vocabulary: int, n: int, *, causal_half: bool) -> float:
    """Operations per target token, source and target both of n tokens (Vaswani et al. 2017).

    A d x d product is 2 d^2 operations a token; scores and their sum of values 4 n d together, half
    of it where later tokens are not looked at.
    """
    d, f = config.d_model, config.d_ff
    source = config.encoder_layers * (8 * d * d + 4 * d * f + 4 * n * d)
    memory = config.decoder_layers * 4 * d * d  # keys and values of the source
    back = (2 if causal_half else 4) * n * d
    layer = 12 * d * d + 4 * d * f + back + 4 * n * d
    return source + memory + config.decoder_layers * layer + 2 * d * vocabulary


def each_token(build, of, lengths):
    found = count(build, of, lengths)
    return found.forward / found.tokens


def language_model(name, **options):
    config, model = LANGUAGE_MODELS[name]
    return lambda: model(config(**options), vocabulary_size=50)


def test_the_counter_equals_the_formula_at_the_sizes_of_the_papers_base_model():
    config, length = TransformerConfig(encoder_layers=2, decoder_layers=1), 32
    build = lambda: Transformer(config, vocabulary_size=37_000)  # noqa: E731
    found = each_token(build, PASS_OF_PAIRS, Lengths(1, length, length))
    assert found == by_hand(config, 37_000, length, causal_half=False)
    assert found == pytest.approx(by_hand(config, 37_000, length, causal_half=True), rel=0.02)


def test_training_is_three_passes():
    config = TransformerConfig(encoder_layers=1, decoder_layers=2, d_model=8, d_ff=12, heads=2)
    found = count(lambda: Transformer(config, vocabulary_size=13), PASS_OF_PAIRS, Lengths(3, 5, 7))
    assert found.training == 3 * found.forward
    assert found.tokens == 21


@pytest.mark.parametrize(("name", "n_products"), [("rnn", 1), ("lstm", 4), ("gru", 3)])
def test_a_recurrent_model_multiplies_input_and_past_by_each_gates_matrices(name, n_products):
    build = language_model(name, layers=2, d_model=16)
    found = each_token(build, PASS_OF_TEXT, Lengths(1, 0, 9))
    assert found == 2 * n_products * (2 * 16 * 16 + 2 * 16 * 16) + 2 * 16 * 50


def test_equation_1_of_the_nnlm_by_hand():
    build = language_model("nnlm", order=4, d_model=6, d_hidden=10)
    assert each_token(build, PASS_OF_TEXT, Lengths(1, 0, 5)) == 2 * (18 * 10 + (10 + 18) * 50)


def test_every_operation_has_its_part():
    config = DecoderOnlyConfig(layers=2, d_model=8, d_ff=12, heads=2, positions="relative")
    found = count(lambda: DecoderOnly(config, vocabulary_size=13), PASS_OF_TEXT, Lengths(1, 0, 4))
    done = {name: n / 4 for name, n in found.by_part.items() if n}
    attention = 4 * 2 * 64 + 4 * 4 * 8 + 2 * 33 * 8  # with a score for each of 33 distances
    feed_forward = 4 * 8 * 12
    layers = {
        f"stack.{layer}.{part}": n
        for layer in (0, 1)
        for part, n in (("self_attention", attention), ("feed_forward", feed_forward))
    }
    assert done == {**layers, OUTPUT: 2 * 8 * 13}


def test_what_is_kept_for_the_gradients_is_what_autograd_keeps():
    """With dropout on its weights, attention runs by the same products on every device."""
    config = TransformerConfig(
        encoder_layers=1, decoder_layers=1, d_model=8, d_ff=12, heads=2,
        dropout=0.0, attention_dropout=0.1,
    )  # fmt: skip
    found = count(lambda: Transformer(config, vocabulary_size=13), PASS_OF_PAIRS, Lengths(2, 5, 6))
    model = Transformer(config, vocabulary_size=13).train()
    sizes = {p.untyped_storage().data_ptr(): 0 for p in model.parameters()}

    def note(tensor):
        storage = tensor.untyped_storage()
        sizes.setdefault(storage.data_ptr(), storage.nbytes())
        return tensor

    with saved_tensors_hooks(note, lambda tensor: tensor):
        features = model.features(torch.ones(2, 5, dtype=torch.long), torch.ones(2, 6).long())
    assert features.requires_grad
    assert found.activation_bytes == pytest.approx(sum(sizes.values()), rel=0.02)


def test_the_parts_have_each_parameter_once():
    with torch.device("meta"):
        model = Transformer(TransformerConfig(), vocabulary_size=37_000)
    parts = parts_of(model)
    assert sum(part.parameters for part in parts) == 63_082_496
    assert parts[1] == ("source_embedding", 0, "target_embedding.weight")
    assert parts[2] == ("encoder.0.self_attention", 4 * (512 * 512 + 512), "")
    assert parts[-1] == ("output_weight", 0, "target_embedding.weight")


def test_the_parts_names_are_what_freeze_takes():
    from headway.operations.frozen import all_parameters, names_below

    model = language_model("lstm", layers=2, d_model=8)()
    names = [name for name, _ in all_parameters(model)]
    parts = [part.name for part in parts_of(model)]
    assert parts == [
        "embedding",
        "stack.layers.0",
        "stack.layers.1",
        "output_weight",
        "output_bias",
    ]
    assert names_below(parts, model, option="--freeze") == set(names)
