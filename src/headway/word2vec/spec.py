"""What the task of word vectors brings to training, and the model card."""

from functools import partial
from pathlib import Path

from headway.core.config import Sections
from headway.core.errors import command
from headway.runs.parent import Parent, on_parent
from headway.runs.task_spec import CardWords, Run, Say, TaskSpec, built_from
from headway.vectors.chance import chance
from headway.vectors.word_vectors import WordVectors
from headway.word2vec import corpus
from headway.word2vec.learning import LEARNER
from headway.word2vec.model import Word2Vec
from headway.word2vec.run_vectors import vectors_of_run
from headway.word2vec.settings import VectorText, VectorTraining, Word2VecConfig

SHOWN_RANKS = (50, 100, 200, 400, 800)
"""The card shows neighbours of words about so frequent: neither articles nor names."""
MODELS = {
    "cbow": (Word2VecConfig, partial(Word2Vec, direction="cbow")),
    "skip-gram": (Word2VecConfig, partial(Word2Vec, direction="skip-gram")),
}
"""What `--model.type` may be (Mikolov et al. 2013a and b)."""
FREE_OF_MODEL = {"window", "negatives"}


def inherited(parent: Parent, given: Sections, say: Say) -> Sections:
    """The parent's model and what a word is there.

    Raises ConfigError where another type of model, objective, size, or other words are asked for.
    """
    base: Sections = {"text": parent.settings.sections()["text"]}
    return on_parent(parent, given, base, {"text": {"min_count"}, "model": FREE_OF_MODEL})


# -- the model card ---------------------------------------------------------------------------


def card(run: Run) -> CardWords:
    """Say what the vectors of a few words are near to, and word what the card says."""
    vectors = vectors_of_run(run.folder.path, warns=False)
    by_chance = chance(vectors.size, len(vectors))
    lines = []
    for word in shown_words(vectors):
        near = (f"{one.word} {one.cosine:.2f}" for one in vectors.neighbours(word, 5))
        lines.append(f"{word}: {', '.join(near)}")
    for line in (*lines, str(by_chance)):
        run.say(line)
    table = "\n".join(f"- {line}" for line in lines)
    read = run.folder.record()["train"]
    name = {"cbow": "CBOW", "skip-gram": "skip-gram"}[run.settings.model_type]
    unit, first = run.settings.text.unit, shown_words(vectors)[0]
    return CardWords(
        title=f"Word vectors ({name})",
        vocabulary=f"{len(vectors):,} {unit}, each with a vector of {vectors.size} numbers",
        scores=f"Nothing was held out. Nearest to some {unit}, by cosine:\n\n{table}\n\n"
        f"{str(by_chance).capitalize()}.",
        data=f"{read['kept']:,} lines read: {read['words']:,} words, "
        f"{read['characters']:,} characters.",
        next_commands=next_commands(run.folder.path, first, run.settings.model_type),
    )


def shown_words(vectors: WordVectors) -> list[str]:
    """A few words of letters, from frequent to rarer; the first ones of a small vocabulary."""
    words, chosen = vectors.words, list[str]()
    for rank in SHOWN_RANKS if len(words) > 2 * SHOWN_RANKS[0] else (0, 1, 2):
        others = (word for word in words[rank : rank + 50] if word not in chosen)
        chosen += [*filter(str.isalpha, others)][:1]
    return chosen or [words[0]]


def next_commands(folder: Path, word: str, model_type: str = "") -> list[str]:
    """What the owner of new vectors may want to do with them; of those of a file, which predict
    nothing, no type of model is told."""
    asked = {"cbow": (f"{word} _",), "skip-gram": ("--context", word)}.get(model_type, ())
    return [
        command("neighbours", folder, word),
        *([command("predict", folder, *asked)] if asked else []),
        command("map", folder, "--words", "WORDS.txt", "--out", "map.html"),
        command("export", folder, "vectors.txt", "--to", "word2vec"),
    ]


SPEC: TaskSpec = TaskSpec(
    name="word-vectors",
    sections={"text": VectorText, "data": corpus.VectorData, "training": VectorTraining},
    models=MODELS,
    default_model="skip-gram",
    read=corpus.read,
    complete=corpus.complete,
    sizes=corpus.sizes,
    build=built_from(MODELS),
    learner=lambda _: LEARNER,
    card=card,
    inherit=inherited,
)
"""Everything that word vectors bring; see `headway.runs.task_spec.TaskSpec`."""
