"""`headway train`: from pairs of texts to a translator, from texts to a language model."""

from pathlib import Path
from typing import Any

from headway.commands.arguments import Overrides, option_names, parse_overrides, takes
from headway.runs.flags import FLAGS


@takes(FLAGS)
def train(
    *overrides: Overrides,
    out: Path,
    preset: str | None = None,
    config: Path | None = None,
    resume: bool = False,
    **flags: Any,
) -> None:
    """Train a translator on your own pairs of texts, or a language model on your own text.

    Nothing but the texts (of a language model: --task language-model --corpus F) and --out is
    needed: sizes, vocabulary, length of training and held-out data follow the corpus, and what was
    chosen is said with its reason.

    Parameters
    ----------
    out
        The run folder: model, tokenizer, settings, checkpoints, scores.
    preset
        tiny, small, paper-base, paper-big, recurrent, convolutional, bytenet, ablated; of language
        models tiny, small, base, rnn, lstm, gru, nnlm or ngram. Otherwise chosen by the corpus.
    config
        A TOML file with sections; flags go on top of it.
    resume
        Go on with the run in --out as if it had never stopped.
    """
    from headway.api import train as train_from_python

    settings = parse_overrides(overrides, options=option_names(train))
    train_from_python(
        out=out, preset=preset, config=config, resume=resume, settings=settings, **flags
    )
