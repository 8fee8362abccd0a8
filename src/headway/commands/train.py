"""`headway train`: from pairs of texts to a translator, from texts to a language model."""

from pathlib import Path
from typing import Annotated, Any

from headway.commands.arguments import MOST_USED, Overrides, option_names, parse_overrides, takes
from headway.runs.flags import FLAGS

GROUPS = {
    "Most used": "source target pairs prepared budget",
    "To validate on": "valid_source valid_target valid_pairs",
    "From another run": "init_embedding init_from old_share forget_at_most freeze reinit",
    "Another task": "task corpus valid_corpus text_column label_column",
    "How texts are read": "source_language target_language skip_notes codes glossary",
}
"""Titles in the help, and what stands below them."""


@takes(FLAGS, GROUPS)
def train(
    *overrides: Overrides,
    out: Annotated[Path, MOST_USED],
    preset: Annotated[str | None, MOST_USED] = None,
    resume: Annotated[bool, MOST_USED] = False,
    config: Path | None = None,
    processes: int = 1,
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
        models tiny, small, base, rnn, lstm, gru, nnlm, elmo or ngram. Otherwise chosen by the
        corpus.
    config
        A TOML file with sections; flags go on top of it.
    resume
        Go on with the run in --out as if it had never stopped.
    processes
        So many share each batch, and this machine's threads: one for each GPU, say.
    """
    from headway.api import train as train_from_python

    settings = parse_overrides(overrides, options=option_names(train))
    train_from_python(
        out=out, preset=preset, config=config, resume=resume, settings=settings,
        processes=processes, **flags
    )  # fmt: skip
