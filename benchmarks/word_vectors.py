"""Word vectors on small corpora: Chinese, and a by-product beside an aim.

chinese: the Chinese sides of pydocs-en-zh and tatoeba-en-zh, cut into words by jieba, as CBOW and
as skip-gram with default flags: CA8 and the translated analogies (coverage, accuracy), and the
neighbours of --words.
aims: the matrix Q as the by-product of an NNLM and as the aim of CBOW and of skip-gram: the same
corpus (wiki-en in lower case, letters only), the same vocabulary and size, --minutes of the
processor each, on one thread, under each of --seeds; Spearman's rho on every set of similar words.
Beside them vectors of that size that were drawn and never trained, and one-hot vectors: what they
reach, they reach without having learned anything. --first N reads the first lines only.
Run: python benchmarks/word_vectors.py chinese --data DIR --out OUT
     python benchmarks/word_vectors.py aims --data DIR --out OUT --minutes 3 --seeds 1 2
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import record
from language_models import BY_THE_PROCESSOR
from runs import CORPORA

from headway.commands.vectors import opened
from headway.core.errors import DataError, HeadwayError
from headway.core.lines import read_lines
from headway.core.run_folder import RunFolder
from headway.vectors.evaluation import read_similarities, rows_of, score_similarities
from headway.vectors.word_vectors import WordVectors

ANALOGIES = ("ca8-morphological.txt", "ca8-semantic.txt", "ca-translated.txt")
SIMILARITIES = ("wordsim353.tsv", "men3k.tsv", "simlex999.tsv", "rw-stanford.tsv")
SIZE, MIN_COUNT = 100, 5
"""Numbers in a vector, and how often a word must occur: headway's defaults for word vectors."""
TYPES = {
    "nnlm": ("language-model", "--text.unit", "words"),
    "cbow": ("word-vectors",),
    "skip-gram": ("word-vectors",),
}
"""The task of each type of model, with what it is told besides."""


def headway(*arguments: object) -> str:
    """What a command prints, whose clocks read the processor's time; raises HeadwayError where it
    fails."""
    command = [sys.executable, "-c", BY_THE_PROCESSOR, "headway", *map(str, arguments)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise HeadwayError(f"{' '.join(command)} failed: {ran.stderr[-2000:]}")
    return ran.stdout


def train(run: Path, *flags: object) -> float:
    """Seconds of the processor that `headway train` took; a run that is finished stays as it is."""
    kept = run.with_name(f"{run.name}.seconds")
    if not kept.exists():
        shutil.rmtree(run, ignore_errors=True)  # of a sitting that was stopped
        before = os.times()
        headway("train", "--out", run, "--runtime.threads", 1, *flags)
        spent = os.times()
        n_s = spent.children_user + spent.children_system
        kept.write_text(f"{n_s - before.children_user - before.children_system:.1f}")
    return float(kept.read_text())


def chinese(asked: argparse.Namespace) -> dict[str, Any]:
    """Both corpora, both directions."""
    files = [
        CORPORA[name].file(asked.data, "train", "zh") for name in ("pydocs-en-zh", "tatoeba-en-zh")
    ]
    sets = [asked.data / "wordvec" / "zh" / name for name in ANALOGIES]
    figures = dict[str, Any]()
    for kind in ("cbow", "skip-gram"):
        run = asked.out / f"zh-{kind}"
        train(run, "--task", "word-vectors", "--corpus", *files, "--model.type", kind)
        print(headway("evaluate", run, "--analogies", *sets))
        scores = json.loads(headway("evaluate", run, "--analogies", *sets, "--json"))
        vectors = opened(run)
        near = {word: vectors.neighbours(word, 8) for word in asked.words if word in vectors}
        for word, found in near.items():
            print(f"{word}: " + ", ".join(f"{one.word} {one.cosine:.2f}" for one in found))
        figures[kind] = {**scores, "neighbours": near}
    return figures


def aims(asked: argparse.Namespace) -> dict[str, Any]:
    """All types of model under all seeds, then what was never trained."""
    train_file, valid_file = (
        letters_only(asked.data, split, asked.out, asked.first) for split in ("train", "valid")
    )
    sets = [asked.data / "wordvec" / "en" / name for name in SIMILARITIES]
    trained = list[dict[str, Any]]()
    for seed in asked.seeds:
        for kind in asked.types:
            run = asked.out / f"{kind}-{seed}"
            task, *more = TYPES[kind]
            validated = ["--valid-corpus", valid_file] if kind == "nnlm" else []
            flags = ["--model.type", kind, "--model.d-model", SIZE, "--text.min-count", MIN_COUNT]
            files = ["--corpus", train_file, *validated]
            also = ["--seed", seed, "--budget", f"{asked.minutes:g}m"]
            took = train(run, "--task", task, *files, *more, *flags, *also)
            trained.append({"model": kind, "seed": seed, "processor_s": took, **learned_from(run)})
            print(json.dumps(trained[-1]), flush=True)
    rows = [
        {**given, **scored(opened(asked.out / f"{given['model']}-{given['seed']}"), sets)}
        for given in trained
    ]
    words = opened(asked.out / f"{asked.types[-1]}-{asked.seeds[0]}").words
    for seed in asked.seeds:
        drawn = np.random.default_rng(seed).normal(size=(len(words), SIZE)).astype(np.float32)
        rows.append({"model": "drawn", "seed": seed, **scored(WordVectors(words, drawn), sets)})
    rows.append({"model": "one-hot", "seed": 0, **scored_one_hot(words, sets)})
    print(table(rows, [path.name for path in sets]))
    return {"minutes": asked.minutes, "rows": rows}


def learned_from(run: Path) -> dict[str, Any]:
    """How many words a run has read, as the last line of its log counts them."""
    last = RunFolder(run).read_log()[-1]
    return {"n_read": last.get("words", last.get("tokens"))}


def letters_only(data: Path, split: str, out: Path, first: int | None) -> Path:
    """A part of wiki-en in lower case, in which everything but letters is a space."""
    plain = data / "lm" / "wiki-en" / f"{split}.txt"
    source = next((it for it in (plain, Path(f"{plain}.gz")) if it.exists()), None)
    if source is None:
        raise DataError(f"--data must hold lm/wiki-en; there is no {plain}[.gz].")
    made = out / f"{split}.txt"
    made.parent.mkdir(parents=True, exist_ok=True)
    with made.open("w", encoding="utf-8") as file:
        for line in islice(read_lines(source), first):
            file.write(re.sub("[^a-z]+", " ", (line or "").lower()).strip() + "\n")
    return made


def scored(vectors: WordVectors, sets: Sequence[Path]) -> dict[str, Any]:
    """Rho of every set, with its interval and the share of pairs that are covered."""
    found = {path.name: score_similarities(vectors, read_similarities(path)) for path in sets}
    return {"words": len(vectors), **{name: one._asdict() for name, one in found.items()}}


def scored_one_hot(words: Sequence[str], sets: Sequence[Path]) -> dict[str, Any]:
    """The same of one-hot vectors; only those that a set asks for are made."""
    known = WordVectors(words, np.zeros((len(words), 1), np.float32))
    rho = dict[str, Any]()
    for path in sets:
        pairs = read_similarities(path)
        rows, _ = rows_of(known, (word for pair in pairs for word in pair[:2]))
        asked = sorted({known.words[row] for row in rows.values()})
        one_hot = WordVectors(asked, np.eye(len(asked), dtype=np.float32))
        rho[path.name] = score_similarities(one_hot, pairs)._asdict()
    return {"words": len(words), **rho}


def table(rows: Sequence[dict[str, Any]], sets: Sequence[str]) -> str:
    """For people."""
    lines = [f"| vectors | seed | {' | '.join(sets)} |", "|---" * (2 + len(sets)) + "|"]
    for row in rows:
        cells = []
        for name in sets:
            one = row[name]
            if one["rho"] is None:
                cells.append("undefined: all pairs are equally near")
                continue
            low, high = one["interval"]
            cells.append(f"{one['rho']:.3f} ({low:.2f} to {high:.2f}), {one['n_covered']:,} pairs")
        lines.append(f"| {row['model']} | {row['seed']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    """Train what is asked for, print the tables."""
    options = record.parser(__doc__)
    options.add_argument("part", choices=["chinese", "aims"])
    record.add_data_option(options)
    options.add_argument("--out", type=Path, required=True, help="for the run folders")
    options.add_argument("--words", nargs="*", default="妈妈 红色 英语 列表 文件 德国".split())
    options.add_argument("--types", nargs="+", choices=TYPES, default=[*TYPES])
    options.add_argument("--minutes", type=float, default=3)
    options.add_argument("--first", type=int, metavar="N", help="lines of wiki-en; else all")
    options.add_argument("--seeds", nargs="+", type=int, default=[1, 2])
    record.add_record_option(options)
    asked = options.parse_args()
    figures = chinese(asked) if asked.part == "chinese" else aims(asked)
    seeds = asked.seeds if asked.part == "aims" else [1]
    record.write(asked.record, f"word_vectors {asked.part}", seeds=seeds, figures=figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
