"""The short names of settings: one table for `train`, `prepare` and Python.

`--source a.en` is `[data] source`. Every other setting is written `--section.key VALUE`.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple


class ShortFlag(NamedTuple):
    """A setting that has a short name: its own, without the section, unless `key` is another."""

    section: str
    help: str
    many: bool = False
    """Whether several values may follow."""
    key: str = ""
    read: Callable[[Sequence[str]], list[str]] | None = None
    """For files whose content is the setting: reads it."""


def _patterns_of(files: Sequence[str]) -> list[str]:
    from headway.localization.placeholders.own_codes import patterns_of  # a side room

    return patterns_of(files)


PAIRS = {
    "source": ShortFlag("data", "Text file(s), one sentence a line; .gz too.", many=True),
    "target": ShortFlag(
        "data",
        "Their translations: line n of a --source file is translated by line n here.",
        many=True,
    ),
    "pairs": ShortFlag(
        "data",
        "File(s) that hold both sides: .tsv, .jsonl, .tmx, .po, .xlf or .xliff; all may end in "
        ".gz. Behind a file may stand how often its pairs are seen in a pass, a tag to put before "
        "its source texts, and which of its languages are meant: big.tmx@2 mine.po@8:tag=mine "
        "all.tmx@0.5:source=en:target=de",
        many=True,
    ),
    "valid_source": ShortFlag(
        "data", "Text file(s) to validate on; held out of the corpus if left out.", many=True
    ),
    "valid_target": ShortFlag("data", "Their translations.", many=True),
    "valid_pairs": ShortFlag(
        "data", "The same as files of pairs, with tag, source and target as in --pairs.", many=True
    ),
    "skip_notes": ShortFlag(
        "data",
        'Leave out pairs beside which a note holds these words, such as "not ok"; doubtful stands '
        "for all notes that say that a translation is not good.",
        many=True,
    ),
    "codes": ShortFlag(
        "text",
        "File(s) of your own patterns: a regular expression a line, # before comments. What fits "
        "is a code, as tags and placeholders are: it arrives as it is. Kept in the run.",
        many=True,
        key="own_codes",
        read=_patterns_of,
    ),
    "source_language": ShortFlag(
        "data", "Code of the source language; otherwise taken from the file's name or header."
    ),
    "target_language": ShortFlag("data", "Code of the target language."),
}
"""What is read."""

FLAGS = {
    "task": ShortFlag(
        "run",
        "What is learned: translation (if left out), language-model, word-vectors, classification, "
        "images, tagging or masked-language-model.",
    ),
    **PAIRS,
    "prepared": ShortFlag(
        "data", "In place of files: a folder that headway prepare --shards has finished."
    ),
    "corpus": ShortFlag(
        "data",
        "What tasks other than translation learn from: text file(s), one sentence or paragraph a "
        "line, .gz too, whose blank lines part documents; labelled file(s); folder(s) of pictures.",
        many=True,
    ),
    "valid_corpus": ShortFlag(
        "data", "The same to validate on; held out of the corpus if left out.", many=True
    ),
    "text_column": ShortFlag(
        "data", "With --task classification: the column (CSV, TSV) or key (JSONL) of texts."
    ),
    "label_column": ShortFlag("data", "The same of labels; several of a text stand between |."),
    "budget": ShortFlag("training", "Time for all of it, such as 30m or 2h."),
    "seed": ShortFlag("runtime", "Of weights, dropout and data order."),
    "glossary": ShortFlag(
        "data",
        "File(s) of terms that are to hold (.tsv, .csv, .tbx): a copy is kept in the run, and what "
        "translates with it uses it; see translate --glossary.",
        many=True,
    ),
    "init_from": ShortFlag(
        "training",
        "A finished run to begin with, of any task: its weights, sub-words and shape. With your "
        "own --pairs a general model becomes your own; its first score is said, and kept if "
        "nothing is better.",
    ),
    "old_share": ShortFlag(
        "data",
        "With --init-from: how much of what is seen is that run's own data again, so that it is "
        "not forgotten; fitted if left out, 0 for none.",
    ),
    "forget_at_most": ShortFlag(
        "training",
        "With --init-from: BLEU that may be lost on that run's validation data (0.5). If nothing "
        "better is found within that, its weights stay.",
    ),
    "init_embedding": ShortFlag(
        "training",
        "A file of word vectors (word2vec, GloVe; .gz too), or a run that has some: tokens spelled "
        "alike begin with them; or the word pairs: what the training pairs tell.",
    ),
    "freeze": ShortFlag(
        "training",
        "Part(s) of the model that stay as they are, such as embedding, encoder or encoder.0-3 "
        "(headway parameters RUN lists them); for a share of the updates with "
        "--training.unfreeze-at 0.3.",
        many=True,
    ),
    "reinit": ShortFlag(
        "training", "Part(s) that are drawn anew although --init-from has them.", many=True
    ),
}
"""What `headway train` takes."""
