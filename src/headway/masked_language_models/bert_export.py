"""Masked language models for `transformers`, as BERTs; and whether both compute the same."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors.torch
import torch
from tokenizers import Tokenizer, processors

from headway.core.disk import whole_folder
from headway.core.errors import HeadwayError, RunError
from headway.exchange.bert import bert_config, to_bert
from headway.exchange.checkpoints import CONFIG, TOKENIZER_CONFIG, WEIGHTS
from headway.exchange.hugging_face import require, write_json
from headway.labelling.task import Example, padded
from headway.masked_language_models.masking import mask_id
from headway.masked_language_models.spec import SPEC
from headway.operations.shipped import refuse_undecodable
from headway.runs.loading import LoadedRun, open_run
from headway.runs.task_spec import Say

N_TEXTS, LONGEST = 100, 40
"""So many texts of random pieces are compared, of at most so many pieces."""
TOLERANCE = 1e-3
"""Of logits and vectors."""


class BertAgreement(NamedTuple):
    """How far a run and a model of `transformers` are apart."""

    other: str
    n_texts: int
    n_other_ids: int
    """Texts that get other ids there."""
    vectors: float
    """The most that a number of the last layer's differs."""
    logits: float

    @property
    def agrees(self) -> bool:
        """Whether all is the same but for rounding."""
        return not self.n_other_ids and max(self.vectors, self.logits) <= TOLERANCE

    def __str__(self) -> str:
        return (
            f"checked with {self.other} on {self.n_texts} texts: {self.n_other_ids} have other "
            f"ids; vectors differ by {self.vectors:.1e} at most, logits by {self.logits:.1e}"
        )


@torch.inference_mode()
def bert_agreement(
    opened: LoadedRun, folder: Path, texts: Sequence[str] | None = None
) -> BertAgreement:
    """Compare an opened run with a folder that `transformers` opens; without `texts` on some of
    random pieces. Raises ConfigError where that library is not installed."""
    require()
    import transformers

    settings, tokens, model, _ = opened
    other: Any = transformers.AutoModelForMaskedLM.from_pretrained(folder, local_files_only=True)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    texts = random_texts(tokens) if texts is None else list(texts)
    longest = min(LONGEST, settings.model.max_length)
    n_other, vectors, logits = 0, [0.0], [0.0]
    for text, row in zip(texts, tokens.encode_batch(texts), strict=True):
        own = [tokens.special.decoder_begin, *row, tokens.special.end]
        n_other += tokenizer(text, split_special_tokens=True).input_ids != own
        short = [Example(np.array(ids[:longest]), None) for ids in (own, own * LONGEST)]
        ids = padded(short, tokens.special.padding)  # the second one longer: padding is compared
        real = ids != tokens.special.padding
        theirs = other.eval()(ids, attention_mask=real.long(), output_hidden_states=True)
        encoded = model.encoded(ids).features  # type: ignore[operator]
        vectors.append((theirs.hidden_states[-1] - encoded)[real].abs().max().item())
        logits.append((theirs.logits[..., : len(tokens)] - model(ids))[real].abs().max().item())
    name = f"transformers {transformers.__version__}"
    most = (float(np.max(found)) for found in (vectors, logits))  # NaN where one is
    return BertAgreement(name, len(texts), n_other, *most)


def random_texts(tokens: Any) -> list[str]:
    """Texts of random pieces, no markers among them."""
    special, draw = tokens.special, np.random.default_rng(1)
    markers = {special.padding, special.unknown, special.decoder_begin, special.end}
    usual = np.array([*({*range(len(tokens))} - markers - {mask_id(tokens)})])
    rows = [draw.choice(usual, draw.integers(1, LONGEST)) for _ in range(N_TEXTS)]
    found: list[str] = tokens.decode_batch(rows)
    return found


def export_bert(run: Path, place: Path, say: Say) -> BertAgreement:
    """Write the model of a run as a BERT that `transformers` opens.

    Raises:
        ConfigError: `transformers` is not installed, or a BERT cannot hold the model.
        RunError: there is no such run, or `place` is taken.
        HeadwayError: what was written does not compute the same. Nothing is left.
    """
    require()
    opened = open_run(SPEC, run, device="cpu", training=False)
    settings, tokens, model, _ = opened
    described = bert_config(settings.model, len(tokens), tokens.special.padding)
    refuse_undecodable(place)
    if place.exists() and not (place.is_dir() and not any(place.iterdir())):
        raise RunError(
            f"an exported model gets a folder of its own; {place} is there already. "
            "Give another name, or remove it."
        )
    with whole_folder(place) as part:
        write_json(part / CONFIG, described)
        weights = to_bert(dict(model.named_parameters()), settings.model)
        content = safetensors.torch.save(weights, metadata={"format": "pt"})
        (part / WEIGHTS).write_bytes(content)
        tokens.save(part / "tokenizer.json")
        write_markers(part, tokens, settings.model.max_length)
        found = bert_agreement(opened, part)
        if not found.agrees:
            raise HeadwayError(
                f"an exported model computes what the run does; {found}. Nothing was written. "
                "Please report this, with the versions of both."
            )
    say(f"{found}\nwritten to {place}")
    return found


def write_markers(folder: Path, tokens: Any, longest: int) -> None:
    """Have the tokenizer put the run's markers around a text, and know the mask."""
    tokenizer, special = Tokenizer.from_file(str(folder / "tokenizer.json")), tokens.special
    ids = {
        "pad": special.padding,
        "unk": special.unknown,
        "cls": special.decoder_begin,
        "sep": special.end,
        "mask": mask_id(tokens),
    }
    names = {role: tokenizer.id_to_token(i) for role, i in ids.items()}
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{names['cls']} $A {names['sep']}",
        special_tokens=[(names[role], ids[role]) for role in ("cls", "sep")],
    )
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    described = {f"{role}_token": name for role, name in names.items()}
    described |= {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": longest}  # type: ignore[dict-item]
    write_json(
        folder / TOKENIZER_CONFIG,
        described | {"model_input_names": ["input_ids", "attention_mask"]},
    )
