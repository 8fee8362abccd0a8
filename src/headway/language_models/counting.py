"""Learning by counting: what `headway.runs.task_spec.Learner` is for models of n-grams."""

from dataclasses import replace
from pathlib import Path

import torch
from torch import nn

from headway.core.errors import ConfigError, RunError
from headway.core.settings import Settings
from headway.core.subwords import SpecialIds
from headway.core.tensor_files import check, save_tensors
from headway.corpora.cache import cache_root, key_of
from headway.corpora.store import Store
from headway.language_models.ngram import NgramConfig
from headway.language_models.ngram_counting import FORMAT, Counting, NgramCounts, count_ngrams
from headway.language_models.smoothing import smoothed
from headway.operations.large_tensors import map_tensors, tensor_pieces
from headway.operations.locks import Say
from headway.runs.task_spec import Learned, Learner, Opening, Run


def fit(settings: Settings, opening: Opening) -> Settings:
    """Count, and fill in how many n-grams there are."""
    config: NgramConfig = settings.model
    if config.smoothing == "backoff":
        raise ConfigError(
            "a model is smoothed as it is counted; backoff is the name for what an ARPA file says. "
            "Choose kneser-ney, or: headway import arpa FILE --out RUN."
        )
    data = opening.data
    counts = counted(config, data.train, data.vocabulary.special, len(data.vocabulary), opening.say)
    return replace(settings, model=replace(config, n_grams=counts.n_grams))


def counted(
    config: NgramConfig, text: Store, special: SpecialIds, vocabulary_size: int, say: Say
) -> NgramCounts:
    """The counts that a model needs, counted now or found in the cache."""
    counting = Counting(
        config.order,
        vocabulary_size,
        special.decoder_begin,
        config.smoothing in ("kneser-ney", "modified-kneser-ney"),
    )
    key = {"format": FORMAT, "text": text.directory.name, "counting": list(vars(counting).values())}
    directory = cache_root() / f"ngrams-{key_of(key)}"
    return count_ngrams(text["text"], directory, counting, say)


def learn(run: Run, resume: bool) -> Learned:
    """Smooth what was counted and leave the model; a run that goes on does it again, alike."""
    config, special = run.settings.model, run.data.vocabulary.special
    counts = counted(config, run.data.train, special, len(run.data.vocabulary), run.say)
    if counts.n_grams != config.n_grams:
        raise RunError(
            f"{run.folder.config} says that there are {list(config.n_grams)} n-grams; there are "
            f"{list(counts.n_grams)}. Start a new run."
        )
    n_grams = ", ".join(f"{n:,} of {order}" for order, n in enumerate(counts.n_grams, start=1))
    run.say(f"counted {counts.n_tokens:,} tokens; n-grams by their words: {n_grams}")
    if config.smoothing == "none":
        run.say(
            "maximum likelihood holds for impossible what was never counted: most texts have "
            "infinite perplexity. Other smoothing has an answer to everything"
        )
    arrays = smoothed(counts, config, padding=special.padding, say=run.say)
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    save_tensors(tensors, run.folder.model)
    how = {"none": "not smoothed", "add-k": f"smoothed by add-{config.k:g}"}
    return Learned(
        f"counts of every line, {how.get(config.smoothing, f'smoothed by {config.smoothing}')}",
        f"{counts.n_tokens:,} tokens, ends of lines included, counted once on "
        f"{run.runtime.described}.\nN-grams by their words: {n_grams}.",
    )


def load(model: nn.Module, weights: Path) -> None:
    """Lay a model's arrays over its file: only what is looked at stays in memory.

    Raises:
        RunError: the file is damaged, or no model of n-grams.
    """
    check(weights)
    if not sound(model.config, weights):  # type: ignore[arg-type]
        raise RunError(
            f"a model of n-grams has sorted keys, and weights that are numbers; {weights} has "
            "others. Copy the run again, or count anew."
        )
    model.load_state_dict(map_tensors(weights), assign=True)


def sound(config: NgramConfig, weights: Path) -> bool:
    """Whether the arrays in a file are what every search in them relies on."""
    for order in range(1, config.order + 1):
        for name in ("weights", "backoffs")[: 1 + (order < config.order)]:
            for some in tensor_pieces(weights, f"{name}_{order}"):
                if not bool((some < torch.inf).all()):  # nor is NaN
                    return False
        if order > 1:
            last, limit = -1, config.n_grams[order - 2] * config.n_grams[0]
            for keys in tensor_pieces(weights, f"keys_{order}"):
                if int(keys[0]) <= last or not bool((keys[1:] > keys[:-1]).all()):
                    return False
                last = int(keys[-1])
            if last >= limit:
                return False
    return True


COUNTING = Learner(fit, learn)
"""The other way to learn: see `headway.runs.gradient.GRADIENT`."""
