"""Learning by counting: what `headway.runs.task_spec.Learner` is for models of n-grams."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from headway.core.errors import ConfigError, RunError
from headway.core.runtime import RuntimeSettings
from headway.core.tensor_files import NAMES, check, header_of, save_tensors
from headway.corpora.store import Store
from headway.language_models.estimation import Counting, NgramCounts, count_ngrams, smoothed
from headway.language_models.ngram import NgramConfig
from headway.runs.settings import Settings
from headway.runs.task_spec import Learned, Learner, Run, Tokens

NOT_OF_GRADIENT = {"window", "upload", "init_from", "init_embedding"}
"""Of [training]: what is of use here too, and what is refused by itself."""


def fit(run: Run) -> Settings:
    """Count, and fill in how many n-grams there are."""
    config: NgramConfig = run.settings.model
    if config.smoothing == "backoff":
        raise ConfigError(
            "a model is smoothed as it is counted; backoff is the name for what an ARPA file says. "
            "Choose kneser-ney, or: headway import arpa FILE --out RUN."
        )
    given = run.given.get("training", {}).keys()
    if of_gradient := given - NOT_OF_GRADIENT - {"budget"}:
        raise ConfigError(
            "n-grams are counted, once and at no rate; got "
            f"{', '.join(f'--training.{one}' for one in sorted(of_gradient)).replace('_', '-')}. "
            "Leave that out."
        )
    if "budget" in given:
        run.say("n-grams are counted in one pass, however long that takes: no --budget is kept to")
    refuse_unused(run.settings.runtime, "n-grams are counted")
    counts = counted(run.data.train, counting_of(config, run.data.vocabulary))
    return replace(run.settings, model=replace(config, n_grams=counts.n_grams))


def refuse_unused(runtime: RuntimeSettings, how: str) -> None:
    """Raise ConfigError for a precision or an engine where there is none to choose, as it is
    learned in another way: `how`."""
    if runtime.precision == "bf16" or runtime.engine != "auto":
        raise ConfigError(
            f"{how}, in one precision and by no engine of models; got runtime.precision "
            f"{runtime.precision} and runtime.engine {runtime.engine}. Leave both out."
        )


def counting_of(config: NgramConfig, vocabulary: Tokens) -> Counting:
    """What a model needs to have counted."""
    continuations = config.smoothing in ("kneser-ney", "modified-kneser-ney")
    begin = vocabulary.special.decoder_begin
    return Counting(config.order, len(vocabulary), begin, continuations)


@lru_cache(maxsize=1)
def counted(text: Store, counting: Counting) -> NgramCounts:
    """The counts of a text, which `fit` and `learn` both ask for."""
    return count_ngrams(text["text"], counting)


def learn(run: Run, resume: bool) -> Learned:
    """Smooth what was counted and leave the model; a run that goes on does it again, alike."""
    config, vocabulary = run.settings.model, run.data.vocabulary
    counts = counted(run.data.train, counting_of(config, vocabulary))
    counted.cache_clear()
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
    arrays = smoothed(counts, config, padding=vocabulary.special.padding, say=run.say)
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


# -- tensors in files that are larger than memory ----------------------------------------------


_DTYPES = {name: dtype for dtype, name in NAMES.items()}


def map_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a file, of which only what is looked at comes into memory.

    Its checksum is not compared: that is `headway.core.tensor_files.check`'s. The file must
    stay as it is; what is written to the tensors is not written to it.

    Raises:
        RunError: it is missing, or no safetensors file.
    """
    header, begin = header_of(path)
    header.pop("__metadata__", None)
    content = torch.empty(0, dtype=torch.uint8)
    if path.stat().st_size > begin:
        content = torch.from_numpy(np.memmap(path, np.uint8, mode="c", offset=begin))
    return {
        name: content[slice(*of["data_offsets"])].view(_DTYPES[of["dtype"]]).view(of["shape"])
        for name, of in header.items()
    }


def tensor_pieces(path: Path, name: str, n_bytes: int = 1 << 24) -> Iterator[Tensor]:
    """One tensor of a file, flat, so many bytes at a time; it is read, not mapped.

    Raises:
        RunError: the file is missing, or no safetensors file.
    """
    header, begin = header_of(path)
    of = header[name]
    dtype = _DTYPES[of["dtype"]]
    first, last = of["data_offsets"]
    with path.open("rb") as file:
        file.seek(begin + first)
        for done in range(0, last - first, n_bytes):
            some = bytearray(file.read(min(n_bytes, last - first - done)))
            yield torch.frombuffer(some, dtype=dtype)
