"""The Transformer against two that other people wrote, with the same random weights."""

import pytest
import torch
from torch import nn

from headway.core.attention import MultiHeadAttention
from headway.core.embedding import sinusoids
from headway.core.layers import Layer
from headway.core.transformer import Transformer, TransformerConfig

SOURCE = torch.tensor([[4, 5, 6, 7, 3], [8, 9, 3, 0, 0]])
FED = torch.tensor([[2, 7, 8, 9], [2, 5, 6, 0]])
REAL = FED != 0
SIZES = {"encoder_layers": 3, "decoder_layers": 2, "d_model": 16, "d_ff": 24, "heads": 4}


def ours(**options: object) -> Transformer:
    """Random everywhere, biases and norms too, so that nothing can hide."""
    config = TransformerConfig(**{**SIZES, **options})  # type: ignore[arg-type]
    model = Transformer(config, vocabulary_size=13)
    for name, parameter in model.named_parameters():
        if name.endswith("bias") or "norm" in name:
            nn.init.normal_(parameter, mean=float(name.endswith("norm.weight")), std=0.3)
    return model.eval()


# -- torch.nn.Transformer ---------------------------------------------------------------------


def copy_attention(mine: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    projections = [mine.to_query, mine.to_key, mine.to_value]
    theirs.in_proj_weight.data = torch.cat([p.weight for p in projections])
    theirs.in_proj_bias.data = torch.cat([p.bias for p in projections])
    theirs.out_proj.load_state_dict(mine.to_output.state_dict())


def copy_layer(mine: Layer, theirs: nn.Module) -> None:
    """torch numbers the norms in the order of the sub-layers."""
    copy_attention(mine.self_attention, theirs.self_attn)
    norms = [mine.around_self_attention.norm]
    if mine.cross_attention is not None:
        copy_attention(mine.cross_attention, theirs.multihead_attn)
        norms.append(mine.around_cross_attention.norm)
    norms.append(mine.around_feed_forward.norm)
    for number, norm in enumerate(norms, 1):
        getattr(theirs, f"norm{number}").load_state_dict(norm.state_dict())
    theirs.linear1.load_state_dict(mine.feed_forward.to_inner.state_dict())
    theirs.linear2.load_state_dict(mine.feed_forward.to_output.state_dict())


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_it_equals_torchs_transformer(norm, activation):
    model = ours(norm=norm, activation=activation)
    options = {
        "d_model": 16, "nhead": 4, "dim_feedforward": 24, "dropout": 0.0,
        "activation": activation, "batch_first": True, "norm_first": norm == "pre",
    }  # fmt: skip
    # torch ends a stack in one more norm; the paper, post-norm, does not.
    norms = [model.encoder_norm, model.decoder_norm] if norm == "pre" else [None, None]
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(**options), 3, norms[0], enable_nested_tensor=False
    )
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**options), 2, norms[1])
    theirs = nn.Transformer(16, 4, batch_first=True, custom_encoder=encoder, custom_decoder=decoder)
    for stack, layers in ((encoder, model.encoder), (decoder, model.decoder)):
        for mine, other in zip(layers, stack.layers, strict=True):
            copy_layer(mine, other)
    embedded = [model.source_positions(model.source_embedding(ids)) for ids in (SOURCE, FED)]
    features = theirs(
        *embedded,
        tgt_mask=torch.ones(4, 4).triu(1).bool(),  # True = hide, in torch's modules
        src_key_padding_mask=SOURCE == 0,
        memory_key_padding_mask=SOURCE == 0,
    )
    found = model.features(SOURCE, FED)
    torch.testing.assert_close(found[REAL], features[REAL], rtol=1e-4, atol=1e-5)


# -- Hugging Face Marian ----------------------------------------------------------------------


def marian_names(mine: str) -> str:
    """The name of one of our parameters in a MarianMTModel."""
    if mine == "output_weight":  # tied: the embeddings are the same tensor
        return "model.shared.weight"
    stack, layer, *rest = mine.split(".")
    renamed = {
        "self_attention.to_query": "self_attn.q_proj",
        "self_attention.to_key": "self_attn.k_proj",
        "self_attention.to_value": "self_attn.v_proj",
        "self_attention.to_output": "self_attn.out_proj",
        "cross_attention.to_query": "encoder_attn.q_proj",
        "cross_attention.to_key": "encoder_attn.k_proj",
        "cross_attention.to_value": "encoder_attn.v_proj",
        "cross_attention.to_output": "encoder_attn.out_proj",
        "feed_forward.to_inner": "fc1",
        "feed_forward.to_output": "fc2",
        "around_self_attention.norm": "self_attn_layer_norm",
        "around_cross_attention.norm": "encoder_attn_layer_norm",
        "around_feed_forward.norm": "final_layer_norm",
    }[".".join(rest[:2])]
    return f"model.{stack}.layers.{layer}.{renamed}.{rest[2]}"


def test_it_equals_hugging_faces_marian():
    transformers = pytest.importorskip("transformers")
    model = ours()
    config = transformers.MarianConfig(
        vocab_size=13, d_model=16, encoder_layers=3, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=24, decoder_ffn_dim=24, activation_function="relu",
        dropout=0.0, attention_dropout=0.0, activation_dropout=0.0,
        scale_embedding=True, share_encoder_decoder_embeddings=True, tie_word_embeddings=True,
        max_position_embeddings=32, pad_token_id=0, bos_token_id=2, eos_token_id=3,
        decoder_start_token_id=2, forced_eos_token_id=3,
    )  # fmt: skip
    theirs = transformers.MarianMTModel(config).eval()
    parameters = dict(theirs.named_parameters())
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameters.pop(marian_names(name)).copy_(parameter)
        # Its own table has all sines first, then all cosines; the paper alternates them.
        for name in [name for name in parameters if name.endswith("embed_positions.weight")]:
            parameters.pop(name).copy_(sinusoids(32, 16))
        for stack in (theirs.model.encoder, theirs.model.decoder):
            stack.embed_positions.weight.copy_(sinusoids(32, 16))
        assert not parameters  # nothing was left at random
        assert not theirs.final_logits_bias.any()
        logits = theirs(
            input_ids=SOURCE, attention_mask=(SOURCE != 0).long(), decoder_input_ids=FED
        ).logits
        found = model(SOURCE, FED)
    torch.testing.assert_close(found[REAL], logits[REAL], rtol=1e-4, atol=1e-5)
