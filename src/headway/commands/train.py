"""`headway train`: from pairs of texts to a translator."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from headway.commands.settings_flags import Overrides, option_names

Files = Annotated[list[Path] | None, Parameter(consume_multiple=True)]
Specifications = Annotated[list[str] | None, Parameter(consume_multiple=True)]


def train(
    *overrides: Overrides,
    out: Path,
    source: Files = None,
    target: Files = None,
    pairs: Specifications = None,
    valid_source: Files = None,
    valid_target: Files = None,
    valid_pairs: Specifications = None,
    source_language: str | None = None,
    target_language: str | None = None,
    preset: str | None = None,
    config: Path | None = None,
    budget: str | None = None,
    seed: int | None = None,
    init_from: Path | None = None,
    resume: bool = False,
) -> None:
    """Train a translator on your own pairs of texts.

    Nothing but the texts and --out is needed: sizes, vocabulary, length of training and held-out
    data follow the corpus, and what was chosen is said with its reason.

    Parameters
    ----------
    out
        The run folder: model, tokenizer, settings, checkpoints, scores.
    source
        Text file(s), one sentence a line; line n is translated by line n of --target.
    target
        Text file(s) in the language to translate into.
    pairs
        File(s) that hold both sides: .tsv, .jsonl, .tmx, .po, .xlf or .xliff; all may end in .gz.
        Behind a file may stand how often its pairs are seen in a pass, a tag to put before its
        source texts, and which of its languages are meant: big.tmx@2 mine.po@8:tag=mine
        all.tmx@0.5:source=en:target=de
    valid_source
        Text file(s) to validate on; held out of the corpus if left out.
    valid_target
        Their translations.
    valid_pairs
        The same as files of pairs, with tag, source and target as in --pairs.
    source_language
        Code of the source language; otherwise taken from the file's name or header.
    target_language
        Code of the target language.
    preset
        tiny, small, paper-base or paper-big; otherwise chosen by the size of the corpus.
    config
        A TOML file with sections; flags go on top of it.
    budget
        Time for all of it, such as 30m or 2h.
    seed
        Of weights, dropout and data order.
    init_from
        A finished run to begin with: its weights, sub-words and shape. With your own --pairs a
        general model becomes your own; its first score is said, and kept if nothing is better.
    resume
        Go on with the run in --out as if it had never stopped.
    """
    from headway.api import train as train_from_python
    from headway.config import merge, parse_overrides

    flags = parse_overrides(overrides, options=option_names(train))
    named: dict[str, dict[str, object]] = {
        "data": {"source_language": source_language, "target_language": target_language},
        "training": {"budget": budget},
        "runtime": {"seed": seed},
    }
    given: dict[str, dict[str, object]] = {
        section: {key: value for key, value in values.items() if value is not None}
        for section, values in named.items()
    }
    train_from_python(
        out=out,
        source=source or (),
        target=target or (),
        pairs=pairs or (),
        valid_source=valid_source or (),
        valid_target=valid_target or (),
        valid_pairs=valid_pairs or (),
        preset=preset,
        config=config,
        init_from=init_from,
        resume=resume,
        settings=merge(flags, {key: values for key, values in given.items() if values}),
    )
