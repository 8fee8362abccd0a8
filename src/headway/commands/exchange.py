"""`headway export` and `headway import`: runs and the files of other programs."""

from pathlib import Path
from shlex import quote
from typing import Literal


def export(run: Path, place: Path, /, *, to: str) -> None:
    """Write a run's model, the word vectors in it, or its curves, for other programs.

    A translator is checked before it is left: both programs score and translate 200 sentences.

    Parameters
    ----------
    run
        The run folder.
    place
        Where to: a new folder for a translator, a folder for TensorBoard, else a file. An ARPA
        file is packed where it ends in .gz.
    to
        ctranslate2: a Transformer for CTranslate2, with its vocabulary beside it. marian, pegasus:
        a Transformer for Hugging Face's `transformers`, of post-norm and of pre-norm. bert: the
        same for a masked language model. (These four need the extra `export`.) arpa: a model of
        n-grams for kenlm, SRILM and others. word2vec, word2vec-binary, glove: word vectors in
        word2vec's two formats and in GloVe's, packed where the file ends in .gz. tensorboard: loss,
        score and learning rate of a training, also while it goes on (the extra `tensorboard`).
    """
    from headway.commands.arguments import say
    from headway.core.setting_errors import unknown_name
    from headway.tasks import brought_by_run, objects_of

    if to == "tensorboard":
        from headway.exchange.curves import write_tensorboard

        n_values = write_tensorboard(place, run)
        say(f"{n_values:,} values written. See them: tensorboard --logdir {quote(str(place))}")
        return
    if to not in (known := objects_of("export")):
        raise unknown_name("--to", to, [*known, "tensorboard"])
    brought_by_run(run, f"export {to}")(run, place, say)


def import_(
    kind: str,
    place: Path,
    /,
    *,
    out: Path,
    unit: Literal["words", "characters"] | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
) -> None:
    """Make a run of another program's model. It is used as any other, and can be gone on from.

    Parameters
    ----------
    kind
        marian: a folder with a Marian model as Hugging Face's `transformers` keeps it, such as one
        of OPUS-MT's (needs the extra `sentencepiece`). m2m100: the same of an M2M-100 or an NLLB.
        gpt2: the same of a GPT-2, which becomes a language model. bert, roberta: the same of these,
        which become masked language models. arpa: a model of n-grams, as kenlm, SRILM and others
        write it; packed (.gz) or not. word2vec, word2vec-binary, glove: a file of word vectors,
        packed or not.
    place
        The folder or file, on this machine. One that is cut, or is not as it says, is refused with
        what is wrong in it.
    out
        The run folder.
    unit
        Of an ARPA file or of vectors: what its words are. Else they are words; of an ARPA file
        characters if white space is one of them (written as ▁).
    source_language
        Of m2m100: the code of the language that the run reads.
    target_language
        Of m2m100: the code of the language that it writes where no --tag says another.
    """
    from inspect import signature

    from headway.commands.arguments import say
    from headway.core.errors import ConfigError
    from headway.core.setting_errors import unknown_name
    from headway.tasks import brought, objects_of

    if kind not in (known := objects_of("import")):
        raise unknown_name("headway import", kind, known)
    importer = brought(known[kind], f"import {kind}", kind)
    languages = {"source_language": source_language, "target_language": target_language}
    given = {name: value for name, value in {"unit": unit, **languages}.items() if value}
    for name in given.keys() - signature(importer).parameters.keys():
        option = f"--{name.replace('_', '-')}"
        raise ConfigError(f"{option} is not for {kind}; got {given[name]!r}. Leave it out.")
    importer(place, out, say, **given)
    say(f"written to {out}")
