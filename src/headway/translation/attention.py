"""Where a model looks while it writes a translation, as arrays."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from headway.core.cleaning import clean
from headway.core.errors import ConfigError
from headway.core.transformer import Transformer
from headway.core.translate import TextTranslator
from headway.corpora.mixing import tagged
from headway.localization.placeholders.codes import parsed_text, with_placeholders
from headway.localization.placeholders.may_hold import may_hold_codes
from headway.localization.placeholders.segments import Segment
from headway.nn.attention_weights import AttentionModel, look
from headway.translation.coded import CodedText, CodeProcessor


class Attention(NamedTuple):
    """The weights of every layer and head for one sentence pair, as arrays."""

    source_tokens: list[str]
    """The end marker included."""
    target_tokens: list[str]
    """What was fed: the begin marker, then the target."""
    encoder: Float[np.ndarray, "layers heads source source"]
    decoder: Float[np.ndarray, "layers heads target target"]
    cross: Float[np.ndarray, "layers heads target source"]


def refuse_blind(model: object, model_type: str) -> None:
    """Raise ConfigError for a model without attention to be looked at."""
    if not isinstance(model, (Transformer, AttentionModel)):
        raise ConfigError(
            "attention is there in a model that has a method `look`, such as a transformer; "
            f"the run's is of type {model_type!r}. Take another run."
        )
    refuse_further_positions(model)


def refuse_further_positions(model: object) -> None:
    """Raise ConfigError, where positions are to be shown beside tokens, for a model whose decoder
    has some that are no token of a target."""
    if getattr(model, "fed_languages", False):
        raise ConfigError(
            "what a decoder does is shown where it is fed the target alone; this one, of an "
            "M2M-100, is fed a language as well. Take another run."
        )


def refuse_unaligned(plain: TextTranslator) -> None:
    """Raise ConfigError for a model whose steps tell of no attention, found with one of them."""
    special, device = plain.subwords.special, plain.device
    state = plain.model.start(torch.tensor([[special.end]], device=device))
    begin = torch.tensor([special.decoder_begin], device=device)
    if plain.model.step(state, begin, want_attention=True).attention is None:
        raise ConfigError("this model has no attention to align by. Leave out --alignment.")


class TeacherForcedPair(NamedTuple):
    """A text and a target as the model gets them."""

    read: list[int]
    """What the encoder reads, the end marker included."""
    fed: list[int]
    """What the decoder is fed: the begin marker, then the target."""
    names: dict[str, str]
    """What stands for a code, and the code."""


def as_fed(codes: CodeProcessor, text: str, target: str) -> TeacherForcedPair:
    """Cleaned, tagged, with codes masked, in ids."""
    source, target, names = clean(text), clean(target), dict[str, str]()
    if may_hold_codes(source):
        whole = CodedText.of(Segment((source,)), codes.own, masked=codes.masks)
        source, names = whole.text, {name: code.text for name, code in whole.codes.items()}
        target = with_placeholders(parsed_text(target, codes.own.patterns), whole.codes)
    subwords, special = codes.subwords, codes.subwords.special
    read = [*subwords.encode(tagged(source, codes.tag)), special.end]
    written = subwords.encode_targets([target])[0]
    return TeacherForcedPair(read, [special.decoder_begin, *written], names)


def attention(plain: TextTranslator, codes: CodeProcessor, text: str, target: str) -> Attention:
    """Where every layer and head looks while `target` is written; codes are shown as they are."""
    read, fed, names = as_fed(codes, text, target)
    weights = look(
        plain.model,  # type: ignore[arg-type]  # see `refuse_blind`
        torch.tensor([read], device=plain.device),
        torch.tensor([fed], device=plain.device),
    )
    source_tokens, target_tokens = (
        [names.get(piece, piece) for piece in plain.subwords.pieces(ids)] for ids in (read, fed)
    )
    arrays = [layer[:, 0].float().cpu().numpy() for layer in weights]
    return Attention(source_tokens, target_tokens, *arrays)
