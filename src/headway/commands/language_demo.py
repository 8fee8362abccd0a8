"""`headway demo --task language-model`: two models of a generated text, and what tells them apart.

One counts, the other learns by gradient. Both rank sentences that neither has seen, say what comes
next, and write.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from headway.commands.demo import write_corpus
from headway.core.errors import StoppedError, command

if TYPE_CHECKING:
    from headway.core.config import Sections
    from headway.demo.paragraphs import Contrast, Document
    from headway.language_models.trained import TrainedLanguageModel

Models = Mapping[str, "TrainedLanguageModel"]

FOLDER = Path("language-demo")
CORPUS_SEED = 1
N_TRAIN, N_VALID, N_TEST = 6_700, 150, 150
"""Documents, of three lines on average."""
PROMPT = "判断 这个 词 的"
N_NEXT = 5
BEGINNINGS = ("这块 磁铁", "The bank", "Nick")
MOST_WRITTEN = 80
COUNTED: "Sections" = {"model": {"type": "ngram"}}
LEARNED: "Sections" = {
    "model": {"type": "transformer", "layers": 2},
    "training": {"batch_tokens": 2048, "window": 64, "checkpoint_every": 100},
}
"""On top of what is fitted: found by measuring; some 90 s of one core."""
MAX_STEPS = 600
"""Unless there is a budget."""


def demonstrate_language_models(out: Path | None, given: "Sections", texts: Sequence[str]) -> None:
    """The whole demo; `given` are settings of the model that learns, `texts` are scored as well."""
    from headway.core.runtime import set_threads
    from headway.language_models.trained import TrainedLanguageModel

    out = out or FOLDER
    _write_texts(out)
    models: dict[str, TrainedLanguageModel] = {}
    # Counting holds nothing out.
    for run in (
        _trained(out, "counted", COUNTED, {}, None),
        _trained(out, "learned", _learned(given), given, out / "valid.txt"),
    ):
        set_threads(0)
        model = TrainedLanguageModel.load(run)
        models[model.settings.model_type] = model
    _compare(models, out / "test.txt")
    for text in texts:
        scores = (f"{name} {model.score([text])[0].log_prob:.2f}" for name, model in models.items())
        print(f"\n{text}\n  {', '.join(scores)}")
    _predict_and_write(models)
    _say_what_next(out)


def _write_texts(out: Path) -> None:
    from headway.demo.paragraphs import paragraphs

    n_held_out = N_VALID + N_TEST
    documents = paragraphs(N_TRAIN + n_held_out, CORPUS_SEED, "both", spaced=True)
    parts = {
        "train": documents[:N_TRAIN],
        "valid": documents[N_TRAIN:-N_TEST],
        "test": documents[-N_TEST:],
    }
    write_corpus(out, {out / f"{name}.txt": _as_text(part) for name, part in parts.items()})
    print(
        f"{sum(map(len, parts['train'])):,} lines to learn from, in {N_TRAIN:,} documents: "
        f"{out / 'train.txt'}\nChinese and English, each word and sign between spaces"
    )


def _as_text(documents: "Sequence[Document]") -> str:
    """Blank lines part documents."""
    return "\n\n".join("\n".join(lines) for lines in documents) + "\n"


def _learned(given: "Sections") -> "Sections":
    """What the demo sets itself: a type that was asked for comes with a shape of its own."""
    own = {} if "type" in given.get("model", {}) else LEARNED
    steps = {} if "budget" in given.get("training", {}) else {"max_steps": MAX_STEPS}
    return {**own, "training": own.get("training", {}) | steps}


def _trained(
    out: Path, folder: str, own: "Sections", given: "Sections", valid: Path | None
) -> Path:
    """The run in that folder, trained now unless it was; `given` goes on top of the demo's own."""
    from headway.api import train
    from headway.core.config import merge

    run = out / folder
    begun = (run / "config.toml").exists()  # then it keeps the settings that it has
    words: Sections = {"text": {"unit": "words"}}
    try:
        return train(
            corpus=out / "train.txt",
            task="language-model",
            out=run,
            settings=given if begun else merge(words, own, given),
            resume=True,
            valid_corpus=valid,
        )
    except StoppedError:
        again = command("demo", "--task", "language-model", "--out", out)
        raise StoppedError(f"stopped, and saved. Go on with: {again}") from None


def _compare(models: Models, test: Path) -> None:
    """Perplexity of text that is new to both, then the sentences of two senses."""
    from headway.demo.paragraphs import CONTRASTS, FAR_CONTRASTS

    print("\nPerplexity per word of text that is new to them:")
    for name, model in models.items():
        print(f"  {name} {model.evaluate([test]).scores.per_word:.2f}")
    print("\nWhich is likelier? Above zero: the first, by so many nats. They never saw either.")
    _rank(models, CONTRASTS)
    print("\nWhere the word that tells stands far before:")
    _rank(models, FAR_CONTRASTS)


def _rank(models: Models, contrasts: "Sequence[Contrast]") -> None:
    from headway.demo.paragraphs import unspaced

    print("  " + "".join(f"{name:>13}" for name in models))
    right = dict.fromkeys(models, 0)
    for contrast in contrasts:
        row = ""
        for name, model in models.items():
            first, second = model.score([contrast.right, contrast.wrong])
            ahead = first.log_prob - second.log_prob
            right[name] += ahead > 0
            row += f"{ahead:>+13.2f}"
        words = zip(contrast.right.split(), contrast.wrong.split(), strict=True)
        other = next(wrong for word, wrong in words if word != wrong)
        print(f"  {row}   {unspaced(contrast.right, contrast.language)}  (not {other})")
    n = len(contrasts)
    print("  " + "".join(f"{f'{right[name]} of {n}':>13}" for name in models) + "   right")


def _predict_and_write(models: Models) -> None:
    print(f"\nWhat comes after {PROMPT}?")
    for name, model in models.items():
        following = ", ".join(f"{token} {prob:.3f}" for token, prob in model.next(PROMPT, N_NEXT))
        print(f"  {name}: {following}")
    for name, model in models.items():
        print(f"\nWritten by {name}, after the first words:")
        for beginning in BEGINNINGS:
            text = beginning + "".join(model.write(beginning, max_tokens=MOST_WRITTEN))
            print("  " + text.rstrip().replace("\n", "\n  "), end="\n\n")


def _say_what_next(out: Path) -> None:
    run, counted, test = (quote(str(out / name)) for name in ("learned", "counted", "test.txt"))
    print(
        f"""Try:
  headway score {run}                        then type sentences, words parted by spaces
  headway predict {run} "{PROMPT}"
  headway generate {run} "The bat"
  headway compare {counted} {run} --corpus {test}
With text of your own:
  headway train --task language-model --corpus yours.txt --out runs/mine"""
    )
