"""What the task of text classification brings: files, models, criterion."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from headway.classification.criterion import LabelCriterion, scored, target_of
from headway.classification.models import MODELS, build
from headway.classification.reading import (
    ClassifiedFiles,
    LabelledText,
    labels_of,
    read_labelled,
    refuse_unknown,
    say_contradictions,
)
from headway.core.config import Sections
from headway.core.errors import command
from headway.core.runtime import Runtime
from headway.labelling.data import (
    LabelledData,
    checksums_of,
    held_out,
    kinds_of,
    say_few,
    say_repeated,
    say_unknown,
    tokens_of,
    whole_words,
)
from headway.labelling.scores import LabelScores
from headway.labelling.task import Example, ExamplesTask, LabelledTraining, lengths
from headway.labelling.vocabulary import LabelledVocabulary, load_vocabulary
from headway.language_models.units import LanguageText
from headway.runs.settings import Settings, absolute_files
from headway.runs.task_spec import CardWords, Run, Say, Sizes, TaskSpec

BATCH = 50
"""Texts of an update, about, where nothing else is said (Kim 2014)."""
LEAST_BATCH_TOKENS = 512
SEEN, LEAST_PASSES, MOST_PASSES = 100_000, 8, 60
"""Texts to see where no length is given, and bounds for how often each is; half as often for a
model that begins with another run's weights."""


# -- data -------------------------------------------------------------------------------------


def read(settings: Settings, known: Any, say: Say) -> LabelledData:
    """Files to examples; `known` is the vocabulary of a run that this one begins with."""
    files, seed = settings.data, settings.runtime.seed
    rows, valid = read_labelled(files.corpus, files), read_labelled(files.valid_corpus, files)
    labels = labels_of(rows, say)
    say_contradictions(rows, say)
    if valid:
        refuse_unknown(valid, labels, "texts to validate on")
    else:
        inputs, kinds = [row.text for row in rows], kinds_of(row.labels for row in rows)
        rows, valid = held_out(rows, seed, "labelled texts", inputs, kinds)
        say(f"{len(valid):,} of {len(rows) + len(valid):,} texts are held out to validate on")
    texts = [row.text for row in rows]
    say_repeated("texts", say, texts, [row.text for row in valid])
    say_few(len(valid), "texts", say)
    tokens, facts = getattr(known, "tokens", known), getattr(known, "facts", {})
    if known is None:
        text = whole_words(settings.text, texts, say)
        tokens, facts = tokens_of(text, settings.model_type, texts, seed, say)
    elif settings.text.segmenter != "auto":
        facts = {"segmenter": settings.text.segmenter}
    kept = {name: facts[name] for name in ("unit", "segmenter") if name in facts}
    several = any(len(row.labels) != 1 for row in (*rows, *valid))
    if several:
        say("some texts have several labels: each label is there or not, by itself")
    vocabulary = LabelledVocabulary(tokens, labels, {**kept, "several": several})
    train = examples_of(rows, vocabulary, files.max_length)
    if known is not None:
        say_unknown(train, vocabulary.special.unknown, say)
    n_cut = sum(len(one.input) == files.max_length for one in train)
    if n_cut > len(train) // 100:
        say(f"{n_cut:,} texts have {files.max_length} tokens or more: what is behind is not read")
    n_each = Counter(label for row in rows for label in row.labels)
    counts = {
        "train": {"kept": len(rows), "cut": n_cut},
        "valid": {"kept": len(valid)},
        "labels": {name: n_each[name] for name in labels},
    }
    return LabelledData(
        vocabulary, train, examples_of(valid, vocabulary, files.max_length), checksums_of(files),
        counts,
    )  # fmt: skip


def examples_of(
    rows: Sequence[LabelledText], vocabulary: LabelledVocabulary, longest: int
) -> list[Example]:
    """Ids and numbers of labels."""
    ids = vocabulary.encode_batch([row.text for row in rows], longest)
    return [
        Example(np.array(one, np.int32), target_of(vocabulary, row.labels))
        for one, row in zip(ids, rows, strict=True)
    ]


def complete(given: Sections, settings: Settings, data: LabelledData) -> Sections:
    """The unit of text; batches of about `BATCH` texts, however long they are."""
    found: Sections = {"data": absolute_files(settings.data)}
    facts = data.vocabulary.facts
    found["text"] = {name: facts[name] for name in ("unit", "segmenter") if name in facts}
    if not given.get("training", {}).get("batch_tokens"):
        mean = float(lengths(data.train).mean())
        found["training"] = {"batch_tokens": max(LEAST_BATCH_TOKENS, round(BATCH * mean))}
    return found


def sizes(data: LabelledData) -> Sizes:
    """Examples, and how often each is to be seen."""
    n = len(data.train)
    return Sizes(n, n, passes=min(max(SEEN / n, LEAST_PASSES), MOST_PASSES))


def task(settings: Settings, data: LabelledData, runtime: Runtime) -> ExamplesTask:
    """What the training loop asks for."""
    training, vocabulary = settings.training, data.vocabulary
    criterion = LabelCriterion(
        vocabulary.special, several=bool(vocabulary.facts.get("several")),
        smoothing=training.label_smoothing, hidden=training.word_dropout,
    )  # fmt: skip
    return ExamplesTask(criterion, data.train, data.valid, settings, runtime.device)


# -- the model card ---------------------------------------------------------------------------


def card(run: Run) -> CardWords:
    """Score the finished model on the validation texts, and word what the card says."""
    data, place = run.data, run.folder.path
    found = scored(run.trainer.eval_model, data.vocabulary, data.valid)
    for name, one in found.figures.items():
        run.say(f"validation {name}: {one.score:.2f} % [{one.low:.2f}, {one.high:.2f}]")
    labels = data.vocabulary.labels
    unit = {"subwords": "sub-words"}.get(run.settings.text.unit, run.settings.text.unit)
    return CardWords(
        title=f"Text classification: {', '.join(labels[:12])}{', ..' if labels[12:] else ''}",
        vocabulary=f"{len(data.vocabulary):,} {unit}",
        scores=score_words(found),
        data=f"{len(data.train):,} texts learned from, {len(data.valid):,} validated on.",
        next_commands=[
            command("predict", place, "a text"),
            command("predict", place, "FILE.txt", "--json"),
            command("evaluate", place, "--corpus", "TEST.tsv"),
        ],
        below_use=below_use(found, run),
    )


def score_words(found: LabelScores) -> str:
    """The card's tables."""
    figures = "\n".join(
        f"| {name} | {one.score:.2f} | {one.low:.2f} to {one.high:.2f} | {one.signature} |"
        for name, one in found.figures.items()
    )
    labels = "\n".join(
        f"| {row.label} | {row.precision:.1f} | {row.recall:.1f} | {row.f1:.1f} | {row.support:,} |"
        for row in found.labels
    )
    notes = " ".join(f"{note[:1].upper()}{note[1:]}." for note in found.notes)
    return f"""On {found.n:,} validation texts, by which the checkpoint was chosen; others score a
little lower. In percent:

| what | value | 95 % interval | how |
|---|---|---|---|
{figures}

| label | precision | recall | F1 | texts |
|---|---|---|---|---|
{labels}

{notes}"""


def below_use(found: LabelScores, run: Run) -> str:
    """Why the model is good for nothing, if so: it is no better than always the same label."""
    if run.data.vocabulary.facts.get("several"):
        return "" if found.figures["micro_f1"].score else "no label that it says is right"
    right, most = found.figures["accuracy"], max(row.support for row in found.labels)
    if right.low > 100 * most / found.n:
        return ""
    return (
        f"it is right in {right.score:.1f} % of {found.n:,} validation texts (95 % interval "
        f"{right.low:.1f} to {right.high:.1f}), and who always says the most frequent label in "
        f"{100 * most / found.n:.1f} %, which is not surely less"
    )


SPEC: TaskSpec = TaskSpec(
    name="classification",
    sections={"text": LanguageText, "data": ClassifiedFiles, "training": LabelledTraining},
    models=MODELS,
    default_model="cnn",
    read=read,
    complete=complete,
    sizes=sizes,
    build=build,
    task=task,
    card=card,
    vocabulary=load_vocabulary,
)
"""Everything that text classification brings; see `headway.runs.task_spec.TaskSpec`."""
