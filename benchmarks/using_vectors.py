"""What word vectors are worth to another model: drawn, word2vec's, frozen, tuned.

NNLM and LSTM on English Wikipedia (DIR/lm/wiki-en, lower-cased, signs apart from words), and
Transformers (`tiny`, d_model 100, two layers a side) on Multi30k English-German, each on the first
--sizes lines, each four ways: embeddings drawn and tuned, drawn and frozen (a look-up in a fixed
random matrix, which is one-hot times that matrix), word2vec's and frozen, word2vec's and tuned. The
same number of updates for the four ways. Vectors: skip-gram of 100 numbers, from all of wiki-en's
training text; for translation from both sides of Multi30k and of 50,000 pairs of Tatoeba, cut by
the sub-words of the translator. Perplexity of wiki-en's test text, BLEU of test_2016_flickr
(`headway evaluate`): the mean, and each seed.

What was finished in --out is not done again. Prints a table in Markdown.
"""

import argparse
import contextlib
import io
import json
import re
import statistics
import time
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import record
from runs import CORPORA, Corpus

import headway
from headway.cli import main as command
from headway.core.errors import DataError, HeadwayError
from headway.core.lines import read_lines
from headway.core.run_folder import RunFolder
from headway.core.subwords import Subwords

SIZE = 100
"""Numbers in a vector."""
EVERYTHING = 0
"""As a size: all lines."""
WAYS = {
    "drawn, tuned": (False, False),
    "drawn, frozen": (False, True),
    "word2vec, frozen": (True, True),
    "word2vec, tuned": (True, False),
}
"""Whether embeddings begin with vectors, and whether they stay."""


SCORED = "scored.json"
"""In a run's folder: what `headway evaluate --json` said."""


class Kind(NamedTuple):
    """A type of model, and how long it learns on the first so many lines."""

    name: str
    preset: str
    model: dict[str, Any]
    updates: dict[int, int]
    ways: Sequence[str] = tuple(WAYS)


LANGUAGE_MODELS = (
    Kind("NNLM", "nnlm", {"direct": False}, {1_000: 150, 5_000: 300}),
    Kind("LSTM", "lstm", {"tied": False}, {1_000: 300, 5_000: 500, EVERYTHING: 800}),
)
WAY = next(iter(WAYS))
TUNED = [way for way, (_, frozen) in WAYS.items() if not frozen]
_UPDATES = {1_000: 300, 5_000: 600, EVERYTHING: 1_200}
_SMALL = {"encoder_layers": 2, "decoder_layers": 2}
TRANSLATORS = (
    Kind("Transformer", "tiny", {**_SMALL, "tied": False}, _UPDATES),
    Kind("Transformer, tied", "tiny", _SMALL, _UPDATES, TUNED),
)
"""But for the last, outputs have a matrix of their own: what is frozen is what is read."""
_WORDS = {"unit": "words", "vocabulary_size": 5_000, "min_count": 2}
CAPTIONS, EVERYDAY = CORPORA["multi30k-en-de"], CORPORA["tatoeba-en-de"]
TEST = "test_2016_flickr"
EPOCHS = 3
"""Of word2vec."""
MOST_EVERYDAY = 50_000
"""Pairs of Tatoeba whose sides are read for the vectors, beside all of Multi30k."""
VALIDATED = 100
"""Sentences, or lines, that checkpoints are chosen by: the same for the four ways."""
CHECKPOINTS = 2


class Job(NamedTuple):
    """One training."""

    kind: Kind
    size: int
    way: str
    seed: int

    @property
    def name(self) -> str:
        words = (self.kind.name, self.size or "all", self.way, self.seed)
        return re.sub(r"\W+", "-", "-".join(map(str, words))).lower()


def said(arguments: Sequence[str]) -> str:
    """What a command writes to standard output; raises HeadwayError where it fails."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = command(list(arguments))
    if status:
        raise HeadwayError(f"headway {' '.join(arguments)} ended with exit status {status}.")
    return out.getvalue()


def written(path: Path, lines: Iterable[str]) -> Path:
    """A text file, made once."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_suffix(".part")
        aside.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        aside.rename(path)
    return path


def lines_of(*files: Path) -> Iterable[str]:
    """Lines with text."""
    return (line for file in files for line in read_lines(file) if line and line.strip())


class Benchmark:
    """Files, vectors and runs below one folder."""

    def __init__(self, data: Path, out: Path, log: Path) -> None:
        self.data, self.out, self.log = data, out, log

    def say(self, message: str) -> None:
        with self.log.open("a", encoding="utf-8") as file:
            file.write(f"{message}\n")

    # -- texts --------------------------------------------------------------------------------

    def wiki(self, split: str, size: int = EVERYTHING) -> Path:
        """Lower-cased words and signs of the first lines of wiki-en."""
        folder = self.data / "lm" / "wiki-en"
        file = next((one for one in folder.glob(f"{split}.txt*")), None)
        if file is None:
            raise DataError(f"--data must hold lm/wiki-en; there is no {folder}/{split}.txt[.gz].")
        whole = (" ".join(re.findall(r"\w+|[^\w\s]", line.lower())) for line in lines_of(file))
        some = (line for n, line in enumerate(whole) if not size or n < size)
        return written(self.out / "text" / f"wiki-{split}-{size}.txt", some)

    def pairs(self, size: int) -> dict[str, Path]:
        """The first pairs of Multi30k."""
        texts = {}
        for language in (CAPTIONS.source, CAPTIONS.target):
            lines = read_lines(CAPTIONS.file(self.data, "train", language))
            some = (line or "" for n, line in enumerate(lines) if not size or n < size)
            name = self.out / "text" / f"captions-{size}.{language}"
            texts[language] = written(name, some)
        return texts

    def sides(self, corpus: Corpus) -> list[Path]:
        return [corpus.file(self.data, corpus.train, one) for one in (corpus.source, corpus.target)]

    # -- vectors ------------------------------------------------------------------------------

    def vectors(self, name: str, text: Path) -> Path:
        """A run of skip-gram with headway's own settings, but for the size."""
        run = self.out / "vectors" / name
        if not finished(run):
            settings = {
                "run": {"task": "word-vectors"},
                "text": {"unit": "words", "segmenter": "none"},
                "model": {"type": "skip-gram", "d_model": SIZE},
                "training": {"epochs": EPOCHS},
                "runtime": {"threads": 1},
            }
            headway.train(out=run, corpus=[text], settings=settings, resume=True, say=self.say)
        return run

    def vectors_for(self, job: Job) -> Path:
        """Those that a job begins with."""
        if job.kind in LANGUAGE_MODELS:
            return self.vectors("wiki", self.wiki("train"))
        plain = Job(TRANSLATORS[0], job.size, WAY, 1)  # its sub-words are those of all
        subwords = Subwords.load(self.out / "runs" / plain.name)
        everyday = (islice(lines_of(side), MOST_EVERYDAY) for side in self.sides(EVERYDAY))
        lines = chain(lines_of(*self.sides(CAPTIONS)), *everyday)
        cut = (" ".join(subwords.pieces(subwords.encode(line))) for line in lines)
        text = written(self.out / "text" / f"pieces-{subwords.fingerprint()[:12]}.txt", cut)
        return self.vectors(text.stem, text)

    # -- models -------------------------------------------------------------------------------

    def trained(self, job: Job) -> Path:
        """The run of a job."""
        run, (begun, frozen) = self.out / "runs" / job.name, WAYS[job.way]
        if finished(run):
            return run
        updates = job.kind.updates[job.size]
        training = {
            "max_steps": updates,
            "checkpoint_every": updates // CHECKPOINTS,
            "freeze": ["embedding"] if frozen else [],
        }
        if begun:
            training["init_embedding"] = str(self.vectors_for(job).absolute())
        flags: dict[str, Any] = {"seed": job.seed}
        if job.kind in LANGUAGE_MODELS:
            flags |= {"task": "language-model", "corpus": [self.wiki("train", job.size)]}
            flags["valid_corpus"] = [self.wiki("valid", VALIDATED)]
        else:
            training |= {"valid_sentences": VALIDATED, "tune_length_penalty": False}
            training |= {"batch_tokens": 1_024}
            texts = self.pairs(job.size)
            for key, split in (("source", CAPTIONS.source), ("target", CAPTIONS.target)):
                flags[key] = [texts[split]]
                flags[f"valid_{key}"] = [CAPTIONS.file(self.data, CAPTIONS.valid, split)]
        settings = {
            "model": {"d_model": SIZE, **job.kind.model},
            "training": training,
            "runtime": {"threads": 1, "device": "cpu"},
        }
        if job.kind in LANGUAGE_MODELS:
            settings["text"] = _WORDS
        preset = None if (run / "config.toml").exists() else job.kind.preset
        headway.train(out=run, preset=preset, settings=settings, resume=True, say=self.say, **flags)
        return run

    def scored(self, job: Job) -> dict[str, Any]:
        """Its score on text that nobody looked at, and what of its vocabulary was found."""
        run = self.trained(job)
        file = run / SCORED
        if not file.exists():
            if job.kind in LANGUAGE_MODELS:
                told = ["--corpus", str(self.wiki("test"))]
            else:
                sides = CAPTIONS.source, CAPTIONS.target
                source, target = (str(CAPTIONS.file(self.data, TEST, one)) for one in sides)
                told = ["--source", source, "--reference", target]
            written(file, [said(["evaluate", str(run), *told, "--json"])])
        return json.loads(file.read_text(encoding="utf-8"))


def finished(run: Path) -> bool:
    """Whether a run is there, and over."""
    return (run / "config.toml").exists() and RunFolder(run).finished


# -- the table ----------------------------------------------------------------------------------


def figure(job: Job, scored: dict[str, Any]) -> float:
    """Perplexity a token, or BLEU."""
    if job.kind in LANGUAGE_MODELS:
        return float(scored["perplexity_per_token"])
    return float(scored["bleu"]["score"])


def table(found: Sequence[tuple[Job, float]]) -> str:
    """A row for each model and size, a column for each way: the mean, and each seed."""
    updates = {(job.kind.name, job.size): job.kind.updates[job.size] for job, _ in found}
    lines = [f"| model, lines | updates | {' | '.join(WAYS)} |", f"|---|---{'|---' * len(WAYS)}|"]
    for (name, size), n_updates in updates.items():
        cells = []
        for way in WAYS:
            here = (name, size, way)
            seeds = [of for job, of in found if (job.kind.name, job.size, job.way) == here]
            each = " ".join(f"{one:.1f}" for one in seeds)
            cells.append(f"**{statistics.mean(seeds):.1f}** ({each})" if seeds else "")
        shown = f"{size:,}" if size else "all"
        lines.append(f"| {name}, {shown} | {n_updates} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Train what is missing, and print the table."""
    options = record.parser(__doc__)
    record.add_data_option(options)
    record.add_record_option(options)
    kinds = {kind.name: kind for kind in (*LANGUAGE_MODELS, *TRANSLATORS)}
    options.add_argument("--out", type=Path, required=True, help="folder of runs, gone on with")
    options.add_argument("--kinds", nargs="+", choices=kinds, default=list(kinds))
    options.add_argument("--seeds", nargs="+", type=int, default=[1, 2])
    options.add_argument(
        "--sizes", nargs="+", type=int, default=[1_000, 5_000, EVERYTHING], help="lines; 0: all"
    )
    options.add_argument(
        "--finished", action="store_true", help="train nothing: a table of what is there"
    )
    given: argparse.Namespace = options.parse_args()
    benchmark = Benchmark(given.data, given.out, given.out / "log.txt")
    given.out.mkdir(parents=True, exist_ok=True)
    jobs = [
        Job(kinds[name], size, way, seed)
        for seed in given.seeds
        for size in given.sizes
        for name in given.kinds
        for way in kinds[name].ways
        if size in kinds[name].updates
    ]
    if given.finished:
        jobs = [job for job in jobs if (given.out / "runs" / job.name / SCORED).exists()]
    found = list[tuple[Job, float]]()
    for job in jobs:
        begun = time.monotonic()
        found.append((job, figure(job, benchmark.scored(job))))
        print(f"{job.name}: {found[-1][1]:.2f} ({time.monotonic() - begun:.0f} s)", flush=True)
    print(table(found))
    figures = {job.name: value for job, value in found}
    record.write(given.record, "using_vectors", seeds=given.seeds, figures={"scores": figures})


if __name__ == "__main__":
    main()
