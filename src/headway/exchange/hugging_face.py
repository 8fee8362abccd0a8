"""Transformers in folders that Hugging Face's `transformers` opens by itself.

Its Marian normalizes behind each sub-layer (post-norm), its Pegasus before (pre-norm); else the two
are one model.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import safetensors.torch
import torch
from tokenizers import Tokenizer, processors
from torch import Tensor

from headway.core.embedding import sinusoids
from headway.core.errors import ConfigError, HeadwayError
from headway.core.hypothesis import DecodingSettings
from headway.core.layers import Norm
from headway.core.search import METHODS
from headway.core.subwords import SpecialIds
from headway.core.transformer import Transformer, TransformerConfig
from headway.exchange.agreement import Ids, batches, padded
from headway.exchange.checkpoints import ACTIVATIONS, CONFIG, TOKENIZER_CONFIG, WEIGHTS
from headway.exchange.marian_weights import POSITIONS, sines_first, to_theirs

LEAST_POSITIONS = 1024
_ACTIVATIONS = {own: theirs for theirs, own in reversed(ACTIVATIONS.items())}
_EPSILON = 1e-5


class Family(NamedTuple):
    """A kind of model there."""

    model_type: str
    architecture: str
    norm: Norm
    stores_positions: bool


FAMILIES = {
    "marian": Family("marian", "MarianMTModel", "post", False),
    "pegasus": Family("pegasus", "PegasusForConditionalGeneration", "pre", True),
}


def require() -> None:
    """Raise ConfigError where `transformers` is not installed."""
    try:
        import transformers  # noqa: F401
    except ImportError:
        raise ConfigError(
            "a model for `transformers` is checked with it, and it is not installed. "
            "Try: pip install 'headway[export]'"
        ) from None


def refuse_unheld(config: TransformerConfig, family: Family) -> None:
    """Raise ConfigError for what such a model cannot hold."""
    name = family.model_type.capitalize()
    if config.norm != family.norm:
        where = {"pre": "before", "post": "behind"}
        other = next(each.model_type for each in FAMILIES.values() if each.norm == config.norm)
        raise ConfigError(
            f"{name} normalizes {where[family.norm]} each sub-layer; this model does it "
            f"{where[config.norm]} (--model.norm {config.norm}). Try: --to {other}"
        )
    d_head = config.d_model // config.heads
    for held, what in (
        (config.positions == "sinusoidal", f"{config.positions} positions"),
        (config.activation != "swiglu", "gated feed-forward layers (swiglu)"),
        (not getattr(config, "window", 0), "restricted self-attention (window)"),
        (config.key_size == config.value_size == d_head, "heads of other sizes (d_k, d_v)"),
        (config.layer_norm_epsilon == _EPSILON, f"an epsilon other than {_EPSILON:g}"),
    ):
        if not held:
            raise ConfigError(
                f"{name} has no {what}, as this model has. --to ctranslate2 holds nearly all; or "
                "train without."
            )


def write_model(
    model: Transformer,
    special: SpecialIds,
    family: Family,
    folder: Path,
    *,
    longest: int,
    generation: Mapping[str, Any],
) -> None:
    """Write config.json, generation_config.json and model.safetensors into a folder.

    `longest` is how many tokens a text may have; `generation` says more of how it is searched.
    Raises ConfigError for what cannot be held.
    """
    refuse_unheld(model.config, family)
    markers = {
        "bos_token_id": special.begin,
        "decoder_start_token_id": special.decoder_begin,
        "eos_token_id": special.end,
        "forced_eos_token_id": None,
        "pad_token_id": special.padding,
    }
    described = {**description(model.config, len(model.output_weight), family), **markers}
    described["max_position_embeddings"] = n_positions = max(longest + 1, LEAST_POSITIONS)
    weights = to_theirs(model)
    if family.stores_positions:
        d_model = model.config.d_model
        table = sinusoids(n_positions, d_model)[:, sines_first(d_model)].contiguous()
        weights |= {name: table.clone() for name in POSITIONS}
    search = {
        **markers,
        "max_length": n_positions,
        "suppress_tokens": list(special.unwritten),
        **generation,
    }
    write_json(folder / CONFIG, described)
    write_json(folder / "generation_config.json", search)
    write_weights(folder, weights)


def description(config: TransformerConfig, n_tokens: int, family: Family) -> dict[str, Any]:
    """What config.json says of sizes and options."""
    sides = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in (("attention_heads", config.heads), ("ffn_dim", config.d_ff))
    }
    tied = {"tie_word_embeddings": config.tied}
    if family.model_type == "marian":
        tied["share_encoder_decoder_embeddings"] = config.tied
    return {
        "model_type": family.model_type,
        "architectures": [family.architecture],
        "dtype": "float32",
        "is_encoder_decoder": True,
        "vocab_size": n_tokens,
        "d_model": config.d_model,
        "encoder_layers": config.encoder_layers,
        "decoder_layers": config.decoder_layers,
        **sides,
        **tied,
        "activation_function": _ACTIVATIONS[config.activation],
        "dropout": config.dropout,
        "attention_dropout": config.attention_dropout,
        "activation_dropout": config.activation_dropout,
        "scale_embedding": True,
    }


def generation_of(decoding: DecodingSettings) -> dict[str, Any]:
    """A run's search, as far as generation_config.json can say it."""
    beams = 1 if decoding.method not in METHODS else decoding.rows
    if beams == 1:
        return {"num_beams": 1}
    return {"num_beams": beams, "length_penalty": decoding.length_penalty}


def unlike_the_run(decoding: DecodingSettings) -> list[str]:
    """What `transformers` does otherwise than a run's search, by what it was told."""
    said = ["an output ends at max_length, not by its source's length"]
    if decoding.method not in METHODS:
        said.append("tokens are not drawn, unless generate(do_sample=True, ..) says so")
    elif decoding.rows > 1 and decoding.length_penalty:
        power = f"** {decoding.length_penalty:g}"
        said.append(f"scores are divided by length {power}, not ((5 + length) / 6) {power}")
    return said


def write_tokenizer(
    special: SpecialIds, folder: Path, *, longest: int, languages: Mapping[str, str]
) -> None:
    """Make the tokenizer's files in a folder such that `AutoTokenizer` opens them.

    A tokenizer.json gets a rule that puts the end marker behind each text; the files of a Marian
    model stay as they are.
    """
    positions = max(longest + 1, LEAST_POSITIONS)
    if (folder / "tokenizer.json").exists():
        roles = {"pad": special.padding, "unk": special.unknown, "eos": special.end}
        if special.begin is not None:
            roles["bos"] = special.begin
        write_markers(folder, roles, "$A eos", longest=positions)
    else:
        told = {"model_max_length": positions, "tokenizer_class": "MarianTokenizer", **languages}
        write_json(folder / TOKENIZER_CONFIG, told)


def write_markers(folder: Path, roles: Mapping[str, int], around: str, *, longest: int) -> None:
    """Have a tokenizer.json put markers around a text, and tokenizer_config.json name them: their
    ids by their `roles`, which stand `around` a text `$A`."""
    file = str(folder / "tokenizer.json")
    tokenizer = Tokenizer.from_file(file)
    names: dict[str, Any] = {role: tokenizer.id_to_token(i) for role, i in roles.items()}
    tokenizer.post_processor = processors.TemplateProcessing(
        single=" ".join(names.get(one, one) for one in around.split()),
        special_tokens=[(names[one], roles[one]) for one in around.split() if one in roles],
    )
    tokenizer.save(file, pretty=False)
    told = {
        **{f"{role}_token": name for role, name in names.items()},
        "model_max_length": longest,
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_input_names": ["input_ids", "attention_mask"],
        "clean_up_tokenization_spaces": False,
    }
    write_json(folder / TOKENIZER_CONFIG, told)


def write_weights(folder: Path, weights: dict[str, Tensor]) -> None:
    """As `transformers` wants them."""
    content = safetensors.torch.save(weights, metadata={"format": "pt"})
    (folder / WEIGHTS).write_bytes(content)


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """A table, for people too."""
    text = json.dumps(values, indent=2, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


def opened_by_transformers(folder: Path, kind: str) -> tuple[Any, Any]:
    """The model in a folder as a `kind` of `transformers`, such as AutoModel, and its tokenizer."""
    import transformers
    from transformers.utils import logging

    shows_progress = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    kinds = (getattr(transformers, kind), transformers.AutoTokenizer)
    model, tokenizer = (one.from_pretrained(folder, local_files_only=True) for one in kinds)
    if shows_progress:
        logging.enable_progress_bar()
    return model.eval(), tokenizer


class InTransformers:
    """A model in such a folder: a `headway.exchange.agreement.ForeignModel`."""

    def __init__(self, folder: Path, special: SpecialIds) -> None:
        import transformers

        self.name = f"transformers {transformers.__version__}"
        self._special = special
        self._model, self._tokenizer = opened_by_transformers(folder, "AutoModelForSeq2SeqLM")

    def log_probs(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[list[float]]:
        """See `ForeignModel`."""
        special, found = self._special, []
        for some in batches(len(sources)):
            fed = padded([[special.decoder_begin, *targets[row]] for row in some], special.padding)
            source = self._source([sources[row] for row in some])
            logits = self._model(**source, decoder_input_ids=fed).logits.log_softmax(-1)
            for row, of_row in zip(some, logits, strict=True):
                expected = torch.tensor([*targets[row], special.end])
                found.append(of_row[: len(expected)].gather(1, expected[:, None])[:, 0].tolist())
        return found

    def written(self, sources: Sequence[Ids], limit: int) -> list[Ids]:
        """See `ForeignModel`."""
        found = []
        for some in batches(len(sources)):
            rows = self._model.generate(
                **self._source([sources[row] for row in some]),
                num_beams=1,
                do_sample=False,
                max_length=None,
                max_new_tokens=limit,
            )[:, 1:].tolist()
            end = self._special.end
            found += [row[: row.index(end)] if end in row else row for row in rows]
        return found

    def without_markers(self, texts: Sequence[str]) -> list[str]:
        """Those in which none of its markers is typed, which it takes for the marker itself."""
        markers = {*self._tokenizer.all_special_tokens, *self._tokenizer.get_added_vocab()}
        return [text for text in texts if not any(marker in text for marker in markers)]

    def refuse_other_ids(self, texts: Sequence[str], expected: Sequence[Ids]) -> None:
        """Raise HeadwayError where its tokenizer gives some texts other ids than `expected`."""
        for text, ids in zip(texts, expected, strict=True):
            found = self._tokenizer(text).input_ids
            if found != [*ids, self._special.end]:
                raise HeadwayError(
                    f"an exported tokenizer gives a text the ids that the run does; {self.name} "
                    f"gives {text[:80]!r} {found[:20]}, the run {ids[:20]} and the end marker. "
                    "Nothing was written. Please report this, with the versions of both."
                )

    def _source(self, rows: Sequence[Ids]) -> dict[str, torch.Tensor]:
        ended = [[*row, self._special.end] for row in rows]
        mask = padded([[1] * len(row) for row in ended], 0)
        return {"input_ids": padded(ended, self._special.padding), "attention_mask": mask}
