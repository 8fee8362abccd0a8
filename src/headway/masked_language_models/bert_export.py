"""Masked language models as BERTs that `transformers` opens, checked before they are left."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from headway.core.errors import HeadwayError
from headway.exchange.agreement import exported_folder
from headway.exchange.bert import bert_config, to_bert
from headway.exchange.checkpoints import CONFIG
from headway.exchange.hugging_face import (
    opened_by_transformers,
    require,
    write_json,
    write_markers,
    write_weights,
)
from headway.labelling.task import Example, padded
from headway.masked_language_models.masking import mask_id
from headway.masked_language_models.spec import SPEC
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
    with exported_folder(place) as part:
        write_json(part / CONFIG, described)
        write_weights(part, to_bert(dict(model.named_parameters()), settings.model))
        tokens.save(part / "tokenizer.json")
        write_markers(part, markers(tokens), "cls $A sep", longest=settings.model.max_length)
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
    settings, tokens, model, _ = opened
    special, draw = tokens.special, np.random.default_rng(1)
    other, tokenizer = opened_by_transformers(folder, "AutoModelForMaskedLM")
    usual = np.array([*({*range(len(tokens))} - {*markers(tokens).values()})])
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
        theirs = other(ids, attention_mask=real.long(), output_hidden_states=True)
        features = model.get_submodule("encoder")(ids).features
        for found, expected in ((theirs.hidden_states[-1], features), (theirs.logits, model(ids))):
            yield (found - expected)[real].abs().max().item()


def markers(tokens: Any) -> dict[str, int]:
    """The ids of a run's markers, by what they are called there."""
    special = tokens.special
    ids = {"pad": special.padding, "unk": special.unknown, "cls": special.decoder_begin}
    return {**ids, "sep": special.end, "mask": mask_id(tokens)}
