"""Masked language models as BERTs that `transformers` opens, checked before they are left."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
"""Of logits and of what the encoder gives."""


def export_bert(run: Path, place: Path, say: Say) -> float:
    """Write the model of a run as a BERT; the most that both differ.

    Raises:
        ConfigError: `transformers` is not installed, or a BERT cannot hold the model.
        RunError: there is no such run, or `place` is taken.
        HeadwayError: what was written does not compute the same. Nothing is left.
    """
    require()
    import transformers

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
        most = float(np.max([*differences(opened, part)]))
        if not most <= TOLERANCE:  # so NaN is no agreement
            raise HeadwayError(
                f"an exported model computes what the run does; logits or vectors of transformers "
                f"{transformers.__version__} differ by {most:.1e}. Nothing was written. Please "
                "report this, with the versions of both."
            )
    say(
        f"checked with transformers {transformers.__version__} on {N_TEXTS} texts: the same ids; "
        f"vectors and logits differ by {most:.1e} at most\nwritten to {place}"
    )
    return most


@torch.inference_mode()
def differences(opened: LoadedRun, folder: Path) -> Iterator[float]:
    """The most that vectors of the last layer differ, and logits, of each text.

    Raises HeadwayError for one that gets other ids.
    """
    import transformers
    from transformers.utils import logging

    settings, tokens, model, _ = opened
    special, draw = tokens.special, np.random.default_rng(1)
    shows_progress = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    other: Any = transformers.AutoModelForMaskedLM.from_pretrained(folder, local_files_only=True)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    if shows_progress:
        logging.enable_progress_bar()
    markers = {special.padding, special.unknown, special.decoder_begin, special.end}
    usual = np.array([*({*range(len(tokens))} - markers - {mask_id(tokens)})])
    rows = [draw.choice(usual, draw.integers(1, LONGEST)) for _ in range(N_TEXTS)]
    for text in tokens.decode_batch(rows):
        own = [special.decoder_begin, *tokens.encode(text), special.end]
        if (found := tokenizer(text, split_special_tokens=True).input_ids) != own:
            raise HeadwayError(
                f"an exported tokenizer gives a text the ids that the run does; {text[:80]!r} has "
                f"{found[:20]} there, {own[:20]} here. Nothing was written. Please report this."
            )
        own = own[: settings.model.max_length]
        shorter = own[: 1 + len(own) // 2]  # is padded
        ids = padded([Example(np.array(one), None) for one in (own, shorter)], special.padding)
        real = ids != special.padding
        theirs = other.eval()(ids, attention_mask=real.long(), output_hidden_states=True)
        features = model.get_submodule("encoder")(ids).features
        for found, expected in ((theirs.hidden_states[-1], features), (theirs.logits, model(ids))):
            yield (found - expected)[real].abs().max().item()


def write_markers(folder: Path, tokens: Any, longest: int) -> None:
    """Have the tokenizer put the run's markers around a text, and know the mask."""
    tokenizer, special = Tokenizer.from_file(str(folder / "tokenizer.json")), tokens.special
    cls, sep = special.decoder_begin, special.end
    ids = {"pad": special.padding, "unk": special.unknown, "cls": cls, "sep": sep}
    ids["mask"] = mask_id(tokens)
    names = {role: tokenizer.id_to_token(i) for role, i in ids.items()}
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{names['cls']} $A {names['sep']}",
        special_tokens=[(names["cls"], cls), (names["sep"], sep)],
    )
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    described: dict[str, Any] = {f"{role}_token": name for role, name in names.items()}
    described |= {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": longest}
    described["model_input_names"] = ["input_ids", "attention_mask"]
    write_json(folder / TOKENIZER_CONFIG, described)
