"""What people read of a model's costs."""

from headway.core.transformer import Transformer
from headway.nn.positioned import PositionedConfig
from headway.study.cost_table import Costs, amount, folded, size
from headway.study.operation_counting import PASS_OF_PAIRS, Lengths, count, parts_of


def costs(**options):
    sizes = {"encoder_layers": 3, "decoder_layers": 1, "d_model": 8, "d_ff": 12, "heads": 2}
    config = PositionedConfig(**{**sizes, **options})

    def build():
        return Transformer(config, vocabulary_size=13)

    counted = count(build, PASS_OF_PAIRS, Lengths(2, 4, 4))
    return Costs("mine", "transformer", 13, parts_of(build()), counted, "pairs")


def test_layers_that_are_alike_stand_in_one_line():
    found = costs()
    names = [[part["name"] for part in group] for group in folded(found.as_dict()["parts"])]
    assert [f"encoder.{n}.self_attention" for n in range(3)] in names
    assert ["decoder.0.self_attention"] in names
    table = "\n".join(found.lines())
    assert "encoder.0..2.self_attention" in table
    assert "3 x 288" in table  # four times 8 x 8 + 8
    assert "the same numbers as target_embedding.weight" in table


def test_memory_is_five_float32_copies_and_the_activations():
    found = costs()
    memory = found.as_dict()["memory_bytes"]
    assert memory["all"] == 5 * 4 * found.parameters + found.counted.activation_bytes
    assert memory["adam_moments"] == 8 * found.parameters


def test_embeddings_are_told_apart():
    found = costs(tied=False, output_bias=True)
    rows = 3 * 13 * 8 + 13
    assert found.as_dict()["parameters_without_embeddings"] == found.parameters - rows


def test_amounts_are_written_for_people():
    assert amount(127_148_032) == "127 million"
    assert amount(9.53e12) == "9.53 trillion"
    assert amount(12) == "12"
    assert size(252_329_984) == "252 MB"
    assert size(7) == "7 bytes"
