"""Laws of the encoder that reads both ways."""

import pytest
import torch

from headway.nn.recurrent import TwoWayEncoder, mirror_of, mirrored


def test_a_mirror_turns_real_tokens_round_and_leaves_padding():
    mirror = mirror_of(torch.tensor([3, 1, 0]), 4)
    assert mirror.tolist() == [[2, 1, 0, 3], [0, 1, 2, 3], [0, 1, 2, 3]]
    x = torch.randn(3, 4, 2)
    assert torch.equal(mirrored(mirrored(x, mirror), mirror), x)


@pytest.mark.parametrize("recurrence", ["rnn", "lstm", "gru"])
def test_it_equals_torchs_own_two_way_layers_on_packed_sequences(recurrence):
    encoder = TwoWayEncoder(recurrence, 3, 8, 2, dropout=0.0)
    kinds = {"rnn": torch.nn.RNN, "lstm": torch.nn.LSTM, "gru": torch.nn.GRU}
    other = kinds[recurrence](3, 4, num_layers=2, bidirectional=True, batch_first=True)
    with torch.no_grad():
        for n, layer in enumerate(encoder):
            for one, suffix in ((layer.from_left, ""), (layer.from_right, "_reverse")):
                for linear, side in ((one.from_input, "ih"), (one.from_hidden, "hh")):
                    getattr(other, f"weight_{side}_l{n}{suffix}").copy_(linear.weight)
                    getattr(other, f"bias_{side}_l{n}{suffix}").copy_(linear.bias)
    x, lengths = torch.randn(3, 5, 3), torch.tensor([5, 2, 1])
    visible = torch.arange(5) < lengths[:, None]
    found = encoder(x, visible)
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)
    outputs, last = other(packed)
    expected, _ = torch.nn.utils.rnn.pad_packed_sequence(outputs, batch_first=True)
    torch.testing.assert_close(found.outputs * visible[..., None], expected)
    hidden = last[0] if recurrence == "lstm" else last
    torch.testing.assert_close(found.summary, torch.cat([hidden[2], hidden[3]], -1))
