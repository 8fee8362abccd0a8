"""Parts that stay, wait, learn more slowly, or have adapters: each against plain Adam."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn

from headway.core.errors import ConfigError
from headway.core.optimizer import FlatAdam
from headway.labelling.labeller import Labeller
from headway.labelling.pooling import PoolingHead
from headway.models import Transformer, TransformerConfig
from headway.nn.encoder import Encoder, EncoderConfig
from headway.operations.frozen import in_words, names_below, sizes_of_parts
from headway.operations.time_budget import PlannedTraining
from headway.runs.tuned_adam import TunedAdam, described_tuning, rate_shares, replan

IDS = torch.tensor([[4, 5, 6, 3], [5, 3, 0, 0], [8, 7, 7, 3]])
TRAINING = PlannedTraining(max_steps=10)


def labeller() -> Labeller:
    torch.manual_seed(7)
    config = EncoderConfig(d_model=8, d_ff=12, heads=2, layers=3, dropout=0.0)
    head = PoolingHead(8, 3, pooling="mean", dropout=0.0)
    return Labeller(Encoder(config, vocabulary_size=9), head)


class Learned:
    """A model and its optimizer, some updates in."""

    def __init__(self, training: PlannedTraining, dtype: torch.dtype = torch.float32) -> None:
        self.model, self.eval_model = labeller(), labeller()
        self.adam = TunedAdam(
            self.model, dtype, betas=(0.9, 0.98), epsilon=1e-9,
            eval_model=self.eval_model, training=training,
        )  # fmt: skip

    def update(self, n: int = 1) -> dict[str, Tensor]:
        for number in range(n):
            target = torch.tensor([0, 1, 2]).roll(number)
            nn.functional.cross_entropy(self.model(IDS).float(), target).backward()
            self.adam.step(0.01, 1.0)
        return {name: one.clone() for name, one in self.adam.weights().items()}


def fresh() -> dict[str, Tensor]:
    return {name: one.detach() for name, one in labeller().named_parameters()}


def changed(after: dict[str, Tensor]) -> set[str]:
    return {name for name, one in fresh().items() if not torch.equal(after[name], one)}


PADDED = "encoder.embedding.weight"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_what_is_frozen_stays_to_the_bit_and_costs_neither_memory_nor_gradient(dtype):
    learned = Learned(replace(TRAINING, freeze=("embedding,encoder.0-1",)), dtype)
    still = names_below(["embedding", "encoder.0-1"], learned.model, option="--freeze")
    assert changed(learned.update(3)) == fresh().keys() - still
    assert all(not p.requires_grad for n, p in learned.model.named_parameters() if n in still)
    n_learned = sum(one.numel() for name, one in fresh().items() if name not in still)
    assert learned.adam.masters.numel() == n_learned
    assert {one.numel() for one in learned.adam.moments.values()} == {n_learned}
    own = dict(learned.eval_model.named_parameters())
    for name in still:
        assert own[name].data_ptr() == learned.adam.frozen_masters[name].data_ptr()


def test_the_gradient_goes_no_further_down_than_what_learns():
    learned, seen = Learned(replace(TRAINING, freeze=("embedding", "encoder.0-1"))), []
    for number, layer in enumerate(learned.model.encoder.layers):
        layer.register_forward_hook(
            lambda _, __, out, n=number: seen.append((n, out.requires_grad))
        )
    learned.update()
    assert seen == [(0, False), (1, False), (2, True)]


def test_frozen_parts_wait_for_their_share_of_the_updates_and_learn_then():
    learned = Learned(replace(TRAINING, freeze=("encoder",), unfreeze_at=0.25))
    assert changed(learned.update(3)) == {"head.to_labels.weight", "head.to_labels.bias"}
    assert changed(learned.update(1)) == fresh().keys()
    assert "all after update 3 of 10" in described_tuning(learned.model, learned.adam.training)


def test_a_plan_that_moves_the_end_moves_the_time_of_waiting():
    training = replace(TRAINING, freeze=("encoder",), unfreeze_at=0.5)
    learned = Learned(training)
    learned.update(3)
    plans = replace(training, plans=((3, 4),))
    replan(SimpleNamespace(optimizer=learned.adam, settings=plans))
    assert learned.adam.unfreeze_step == 2
    assert all(parameter.requires_grad for parameter in learned.model.parameters())
    replan(SimpleNamespace(optimizer=learned.adam, settings=training))  # gone back
    assert not learned.model.encoder.norm.weight.requires_grad


def test_layers_learn_more_slowly_the_further_they_are_from_the_head():
    """An update is that of Adam times the share of each weight."""
    plain = Learned(TRAINING)
    assert type(plain.adam).__mro__[1] is FlatAdam
    whole, slow = plain.update(), Learned(replace(TRAINING, layer_decay=0.5)).update()
    shares = rate_shares(labeller(), 0.5)
    assert shares["head.to_labels.weight"] == shares["encoder.norm.weight"] == 1
    assert shares["encoder.layers.2.around_feed_forward.norm.bias"] == 0.5
    assert shares["encoder.layers.0.feed_forward.to_inner.weight"] == 0.125
    assert shares["encoder.embedding.weight"] == 0.0625
    for name, before in fresh().items():
        wanted = before + shares[name] * (whole[name] - before)
        assert torch.allclose(slow[name], wanted, atol=1e-8), name
    tied = rate_shares(Transformer(TransformerConfig(8, 8, 2), vocabulary_size=9), 0.5)
    assert tied["output_weight"] == 0.5**7  # the embeddings' as well
    with pytest.raises(ConfigError, match="this type has none"):
        rate_shares(nn.Linear(2, 2), 0.5)


LORA = replace(TRAINING, init_from="run", lora_rank=2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_adapters_and_the_head_learn_and_the_model_is_a_plain_one(dtype):
    learned = Learned(LORA, dtype)
    assert changed(learned.update(0)) == set()
    after = learned.update(4)
    assert after.keys() == fresh().keys()
    moved = {name for name in changed(after) if name.startswith("encoder.")}
    ends = {name.rpartition(".to_")[2] for name in moved}
    assert ends == {f"{w}.weight" for w in "query key value output inner".split()}
    assert changed(after) - moved == {"head.to_labels.weight", "head.to_labels.bias"}
    for name in moved:
        assert torch.linalg.matrix_rank(after[name] - fresh()[name], atol=1e-5) <= 2
    n_head = sum(one.numel() for name, one in fresh().items() if name.startswith("head."))
    n_adapters = 3 * 2 * (4 * (8 + 8) + 2 * (8 + 12))
    assert learned.adam.masters.numel() == n_head + n_adapters


def test_what_is_frozen_has_no_adapters():
    learns = changed(Learned(replace(LORA, freeze=("encoder.0",))).update(4))
    every = changed(Learned(LORA).update(4))
    assert learns == {name for name in every if not name.startswith("encoder.layers.0.")}
    with pytest.raises(ConfigError, match="all of them are frozen"):
        Learned(replace(LORA, freeze=("encoder",)))


def test_merged_weights_do_what_the_adapted_model_does():
    learned = Learned(LORA)
    after = learned.update(5)
    plain = labeller().eval()
    plain.load_state_dict(after)
    learned.model.eval()
    assert torch.allclose(plain(IDS), learned.model(IDS), atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    "training",
    [
        LORA,
        replace(LORA, layer_decay=0.8, freeze=("head",)),
        replace(LORA, freeze=("encoder.0",)),
        replace(TRAINING, freeze=("encoder",), unfreeze_at=0.4),
        replace(TRAINING, layer_decay=0.7),
    ],
    ids=["lora", "lora, slower", "lora, in parts", "waiting", "slower"],
)
def test_going_on_from_what_was_saved_is_never_having_stopped(training, dtype):
    whole, first, again = (Learned(training, dtype) for _ in range(3))
    wanted = whole.update(6)
    first.update(3)
    weights = {name: one.clone() for name, one in first.adam.weights().items()}
    state = {name: one.clone() for name, one in first.adam.state_dict().items()}
    again.adam.load_state_dict(weights, state)
    for number in range(3, 6):
        target = torch.tensor([0, 1, 2]).roll(number)
        nn.functional.cross_entropy(again.model(IDS).float(), target).backward()
        again.adam.step(0.01, 1.0)
    found = again.adam.weights()
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"layer_decay": 0.0}, "above 0 and at most 1; got 0. Try 0.9"),
        ({"layer_decay": 1.5}, "above 0 and at most 1; got 1.5. Try 0.9"),
        ({"unfreeze_at": 1.0, "freeze": ("a",)}, "from 0 to below 1; got 1. Try 0.3"),
        ({"unfreeze_at": 0.3}, "none is frozen. Add --freeze"),
        ({"lora_rank": 8}, "got a rank of 8, and no run to begin with"),
        ({"lora_rank": -1, "init_from": "r"}, "lora_rank must .*; got -1"),
        ({"lora_rank": 8, "init_from": "r", "freeze": ("a",), "unfreeze_at": 0.5}, "Leave one of"),
        ({"reinit": ("a",)}, "there is none. Leave --reinit out"),
    ],
)
def test_what_cannot_be_meant_is_refused(settings, why):
    with pytest.raises(ConfigError, match=why):
        PlannedTraining(**settings)


# -- names of parts -----------------------------------------------------------------------------


def test_layers_are_named_by_ranges_whatever_their_stack_is_called():
    model = labeller()
    layers = {
        name for name in fresh() if name.startswith(("encoder.layers.0.", "encoder.layers.1."))
    }
    assert names_below(["encoder.0-1"], model, option="--freeze") == layers
    assert names_below(["encoder.0,encoder.1"], model, option="--freeze") == layers
    assert names_below(["encoder.layers.0-1"], model, option="--freeze") == layers
    whole = names_below(["encoder"], model, option="--freeze")
    assert whole == {name for name in fresh() if name.startswith("encoder.")}
    assert names_below(["embedding"], model, option="--freeze") == {"encoder.embedding.weight"}
    for part, why in (
        ("encoder.2-3", "encoder has layers 0 to 2, got 'encoder.2-3'. Try encoder.0-2"),
        ("encodr", "Did you mean 'encoder'"),
        ("", "got ''"),
    ):
        with pytest.raises(ConfigError, match=why):
            names_below([part], model, option="--freeze")


def plain_stack() -> nn.Module:
    """A model that says of no trunk, with layers that are named by their numbers."""
    stack = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 3))
    return nn.ModuleDict({"stack": stack, "out": nn.Linear(3, 1)})


@pytest.mark.parametrize("made", [labeller, plain_stack])
def test_each_name_that_is_listed_is_one_that_freezing_takes(made):
    model = made()
    parameters, sizes = dict(model.named_parameters()), sizes_of_parts(model)
    for part, n in sizes.items():
        below = names_below([part], model, option="--freeze")
        assert sum(parameters[name].numel() for name in below) == n, part
    tops = [n for part, n in sizes.items() if "." not in part and "-" not in part]
    assert sum(tops) == sum(p.numel() for p in parameters.values())


def test_what_the_encoder_of_a_translator_reads_is_told_where_it_does_not_stay():
    model = Transformer(TransformerConfig(8, 8, 2, norm="pre"), vocabulary_size=9)
    names = names_below(["encoder"], model, option="--freeze")
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name not in names)
    said = in_words(model, ["encoder"])
    assert "not source_embedding, encoder_norm: name them as well" in said
