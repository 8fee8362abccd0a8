"""Translators for other programs, each checked before anything is left behind."""

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import NamedTuple, cast

import torch
from tokenizers import Tokenizer

from headway.core.cleaning import Report, clean
from headway.core.errors import ConfigError, HeadwayError, RunError
from headway.core.subwords import Subwords
from headway.core.transformer import Transformer
from headway.corpora.corpus import read_pairs
from headway.exchange import ctranslate2, hugging_face
from headway.exchange.agreement import (
    Agreement,
    ForeignModel,
    Ids,
    agreement,
    exported_folder,
)
from headway.runs.loading import LoadedRun, open_run
from headway.runs.settings import Settings
from headway.runs.task_spec import Say
from headway.tokenizers.sentencepieces import LIST
from headway.translation.spec import SPEC

SENTENCES = 200
"""So many are scored and translated by both programs."""
_LONGEST = 128  # tokens of a side that are compared
_EXTRA = 20  # tokens that greedy search may write beyond the longest source


class Sentences(NamedTuple):
    """What is compared on, as ids without markers."""

    sources: list[Ids]
    targets: list[Ids]
    texts: list[str]
    """Some sources as text."""
    what: str
    """Where they are from, in words."""


Write = Callable[[Path, Sentences], ForeignModel]
"""Writes the model into a folder in which the vocabulary lies already, and opens it there; what is
to be compared besides it compares itself."""


def export_ctranslate2(run: Path, folder: Path, say: Say) -> Agreement:
    """Write the model of a run for CTranslate2, with its vocabulary beside it.

    Raises:
        ConfigError: CTranslate2 is not installed, or cannot hold the model.
        RunError: there is no such run, or `folder` is taken.
        HeadwayError: what was written does not compute the same. Nothing is left.
    """
    ctranslate2.require()
    opened = transformer_of(run, "CTranslate2")
    ctranslate2.refuse_unheld(cast(Transformer, opened.model).config)
    found = exported(opened, folder, writes_ctranslate2(opened), say)
    say(f"{found}\nwritten to {folder}")
    return found


def export_marian(run: Path, folder: Path, say: Say) -> Agreement:
    """Post-norm, for Hugging Face; see `export_hugging_face`."""
    return export_hugging_face(run, "marian", folder, say)


def export_pegasus(run: Path, folder: Path, say: Say) -> Agreement:
    """Pre-norm, for Hugging Face; see `export_hugging_face`."""
    return export_hugging_face(run, "pegasus", folder, say)


def writes_ctranslate2(opened: LoadedRun) -> Write:
    """What writes an opened run's model for CTranslate2."""
    model, special = cast(Transformer, opened.model), opened.vocabulary.special

    def write(part: Path, _: Sentences) -> ForeignModel:
        tokens = token_strings(part, len(opened.vocabulary))
        longest = opened.settings.data.max_length
        ctranslate2.write_ctranslate2(model, tokens, special, part, longest)
        return ctranslate2.InCTranslate2(part, tokens, special)

    return write


def export_hugging_face(run: Path, kind: str, folder: Path, say: Say) -> Agreement:
    """Write the model of a run as one of `transformers`, by the name of its `FAMILIES`.

    Raises:
        ConfigError: `transformers` is not installed, or cannot hold the model.
        RunError: there is no such run, or `folder` is taken.
        HeadwayError: what was written does not compute the same. Nothing is left.
    """
    hugging_face.require()
    family = hugging_face.FAMILIES[kind]
    opened = transformer_of(run, "transformers")
    model, vocabulary, settings = (
        cast(Transformer, opened.model),
        opened.vocabulary,
        opened.settings,
    )
    hugging_face.refuse_unheld(model.config, family)
    special, data, longest = vocabulary.special, settings.data, settings.data.max_length
    known = {"source_lang": data.source_language, "target_lang": data.target_language}
    languages = {side: code for side, code in known.items() if code}

    def write(part: Path, compared: Sentences) -> ForeignModel:
        hugging_face.write_model(
            model,
            special,
            family,
            part,
            longest=longest,
            generation=hugging_face.generation_of(settings.decoding),
        )
        hugging_face.write_tokenizer(special, part, longest=longest, languages=languages)
        other = hugging_face.InTransformers(part, special)
        texts = other.without_markers(compared.texts)
        if n_left_out := len(compared.texts) - len(texts):
            say(
                f"in {n_left_out:,} of these texts a marker such as </s> is typed, text in "
                f"headway and the marker in {other.name}: their ids are not compared"
            )
        other.refuse_other_ids(texts, vocabulary.encode_batch(texts))
        return other

    found = exported(opened, folder, write, say)
    say(f"searched otherwise there: {'; '.join(hugging_face.unlike_the_run(settings.decoding))}")
    say(f"{found}\nwritten to {folder}")
    return found


def transformer_of(run: Path, program: str) -> LoadedRun:
    """A run whose model is a Transformer, opened on the CPU; raises RunError for another."""
    opened = open_run(SPEC, run, device="cpu")
    if opened.settings.model_type != "transformer":
        raise RunError(
            f"{program} holds models of the type transformer; {run} is one of the type "
            f"{opened.settings.model_type}. Translate with headway, or train a transformer."
        )
    if getattr(opened.model, "fed_languages", False):
        raise RunError(
            f"{program} is given models whose decoder is fed the target alone; that of {run}, from "
            "an M2M-100, is fed a language as well. Translate with headway, or with `transformers`."
        )
    return opened


def exported(opened: LoadedRun, folder: Path, write: Write, say: Say) -> Agreement:
    """Vocabulary and model in a new folder, which is there once both programs agree on it.

    Raises:
        RunError: there is a folder of that name with something in it.
        HeadwayError: the two differ.
    """
    with exported_folder(folder) as part:
        return write_checked(opened, part, write, say)


def write_checked(opened: LoadedRun, part: Path, write: Write, say: Say) -> Agreement:
    """Vocabulary and model in a folder; raises HeadwayError where the two programs differ."""
    model, vocabulary = cast(Transformer, opened.model), opened.vocabulary
    compared = sentences(opened.settings, vocabulary)
    say(f"compared on {compared.what}")
    limit = max(map(len, compared.sources)) + _EXTRA
    if model.longest is not None:
        limit = min(limit, model.longest - 1)
    vocabulary.save(part / "tokenizer.json")
    other = write(part, compared)
    found = agreement(model, vocabulary.special, other, compared.sources, compared.targets, limit)
    found.refuse_difference()
    return found


def token_strings(folder: Path, n_ids: int) -> list[str]:
    """Each id as the vocabulary's file in a folder spells it.

    Raises ConfigError where an id has no string.
    """
    if (folder / LIST).exists():
        ids: dict[str, int] = json.loads((folder / LIST).read_text(encoding="utf-8"))
    else:
        ids = Tokenizer.from_file(str(folder / "tokenizer.json")).get_vocab(True)
    tokens = [""] * n_ids
    for token, i in ids.items():
        tokens[i] = token
    if "" in tokens or len(ids) < n_ids:
        raise ConfigError(
            "in an exported vocabulary each id has a string of its own; "
            f"{tokens.index('')} has none. Train with a tokenizer of headway's."
        )
    return tokens


def sentences(settings: Settings, vocabulary: Subwords) -> Sentences:
    """Pairs of the run's own text: its validation files, else those that it was trained on; drawn
    at random where they are gone."""
    try:
        corpus = settings.data.validation() or settings.data.corpus()
        pairs = list(islice(read_pairs(corpus, Report()), SENTENCES))
    except (HeadwayError, OSError):
        return _drawn(vocabulary)
    longest = min(settings.data.max_length or _LONGEST, _LONGEST)
    texts = [[clean(pair.source), clean(pair.target)] for pair in pairs]
    read = [text for text in texts if all(text)]
    if not read:
        return _drawn(vocabulary)
    sources, targets = ([text[side] for text in read] for side in (0, 1))
    return Sentences(
        [ids[:longest] for ids in vocabulary.encode_batch(sources)],
        [ids[:longest] for ids in vocabulary.encode_targets(targets)],
        sources,
        f"{len(read):,} sentences of {corpus.files[0]}",
    )


def _drawn(vocabulary: Subwords) -> Sentences:
    special, generator = vocabulary.special, torch.Generator().manual_seed(1)
    markers = {special.padding, special.unknown, special.decoder_begin, special.end}
    usual = torch.tensor([i for i in range(len(vocabulary)) if i not in markers])

    def rows() -> list[Ids]:
        lengths = torch.randint(1, 40, (SENTENCES,), generator=generator).tolist()
        return [
            usual[torch.randint(len(usual), (length,), generator=generator)].tolist()
            for length in lengths
        ]

    what = f"{SENTENCES} rows of random sub-words: the run's text files are not there"
    sources = rows()
    return Sentences(sources, rows(), vocabulary.decode_batch(sources), what)
