"""Word2vec's updates beside gensim's: raw words a second, and the quality of the vectors.

The text of DIR/lm/wiki-en/train.txt.gz, lower-cased words alone, again and again until there are
--words of them. Both learn from it once: vectors of 100, window 5, 5 words of noise, thinning 1e-3,
words that occur 5 times, in turn (A B A B), with each number of threads; gensim from a file and
from lists of words. Time to prepare (counting, encoding) is told apart. Quality is
Spearman's rho on WordSim-353 and MEN and the accuracy of analogies (DIR/wordvec/en), all by
gensim's own evaluation, for --seeds seeds.

Needs: pip install gensim.
"""

import argparse
import gzip
import re
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import record
import torch
from gensim.models import KeyedVectors, Word2Vec
from numpy.typing import NDArray

from headway.word2vec.updates import Objective, updates

SIZE, WINDOW, NEGATIVES, THIN, LEAST = 100, 5, 5, 1e-3, 5
STRETCH = 10_000
"""Words that a thread takes at once; gensim's are as long."""
RATES = {"cbow": 0.05, "skip-gram": 0.025}
LAST_RATE = 1e-4
Direction = Literal["cbow", "skip-gram"]
SETS = {"WordSim-353": "wordsim353.tsv", "MEN": "men3k.tsv"}


class Corpus(NamedTuple):
    """The same text for all."""

    file: Path
    lines: list[list[str]]
    n_words: int


class Training(NamedTuple):
    """What one of them made of it."""

    words: list[str]
    vectors: NDArray[np.float32]
    prepare_s: float
    train_s: float
    process_s: float


def corpus_of(data: Path, n_words: int, folder: Path) -> Corpus:
    """Lines of lower-cased words, repeated; a word is the same object wherever it stands."""
    with gzip.open(data / "lm" / "wiki-en" / "train.txt.gz", "rt", encoding="utf-8") as text:
        once = [" ".join(re.findall(r"\w+", line.lower())) for line in text]
    same: dict[str, str] = {}
    once = [[same.setdefault(word, word) for word in line.split()] for line in once if line]
    lines: list[list[str]] = []
    left = n_words
    while left > 0:
        for line in once:
            lines.append(line[:left])
            left -= len(lines[-1])
            if not left:
                break
    file = folder / "corpus.txt"
    file.write_text("".join(" ".join(line) + "\n" for line in lines), encoding="utf-8")
    return Corpus(file, lines, n_words)


def ours(
    corpus: Corpus, direction: Direction, threads: int, seed: int, *, want_c: bool = True
) -> Training:
    """headway's updates, given ids in stretches."""
    start = time.perf_counter()
    counts = Counter(chain.from_iterable(corpus.lines))
    words = [word for word, count in counts.most_common() if count >= LEAST]
    number = {word: i for i, word in enumerate(words)}
    rows = [[number[word] for word in line if word in number] for line in corpus.lines]
    lengths = np.array([len(row) for row in rows], dtype=np.int32)
    ids = np.fromiter(chain.from_iterable(rows), dtype=np.uint32, count=int(lengths.sum()))
    shape = (len(words), SIZE)
    draw = np.random.default_rng(seed)
    vectors = draw.uniform(-0.5 / SIZE, 0.5 / SIZE, shape).astype(np.float32)
    learner = updates(
        vectors, np.zeros(shape, dtype=np.float32), np.array([counts[word] for word in words]),
        Objective(direction, WINDOW, NEGATIVES, hierarchical=False, thin=THIN),
        seed=seed, threads=threads, want_c=want_c,
    )  # fmt: skip
    ends = np.cumsum(lengths)
    cuts = [0, *np.searchsorted(ends, np.arange(STRETCH, len(ids), STRETCH)), len(lengths)]
    begins = np.concatenate([[0], ends])
    stretches = iter([(a, b) for a, b in pairwise(cuts) if a < b])
    prepared, spent = time.perf_counter(), time.process_time()

    def learn(thread: int) -> None:
        for a, b in stretches:
            first, last = (
                RATES[direction] + (LAST_RATE - RATES[direction]) * begins[line] / len(ids)
                for line in (a, b)
            )
            learner.update(ids[begins[a] : begins[b]], lengths[a:b], first, last, thread)

    side_by_side(learn, threads)
    done = time.perf_counter()
    return Training(words, vectors, prepared - start, done - prepared, time.process_time() - spent)


def side_by_side(learn: Callable[[int], None], threads: int) -> None:
    """Each in a thread of its own."""
    workers = [threading.Thread(target=learn, args=(i,)) for i in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def gensims(
    corpus: Corpus, direction: Direction, threads: int, seed: int, *, from_file: bool = True
) -> Training:
    """gensim's Word2Vec, from a file or from lists of words."""
    start = time.perf_counter()
    model = Word2Vec(
        vector_size=SIZE, window=WINDOW, negative=NEGATIVES, sample=THIN, min_count=LEAST,
        sg=int(direction == "skip-gram"), alpha=RATES[direction], min_alpha=LAST_RATE,
        workers=threads, seed=seed, epochs=1,
    )  # fmt: skip
    source: dict[str, Any] = {"corpus_iterable": corpus.lines}
    if from_file:
        source = {"corpus_file": str(corpus.file)}
    model.build_vocab(**source)
    prepared, spent = time.perf_counter(), time.process_time()
    model.train(
        **source, epochs=1, total_examples=model.corpus_count, total_words=model.corpus_total_words
    )
    done = time.perf_counter()
    return Training(
        list(model.wv.index_to_key), model.wv.vectors, prepared - start, done - prepared,
        time.process_time() - spent,
    )  # fmt: skip


def headways_plain(corpus: Corpus, direction: Direction, threads: int, seed: int) -> Training:
    return ours(corpus, direction, threads, seed, want_c=False)


def gensims_lists(corpus: Corpus, direction: Direction, threads: int, seed: int) -> Training:
    return gensims(corpus, direction, threads, seed, from_file=False)


WHO: dict[str, Callable[[Corpus, Direction, int, int], Training]] = {
    "headway": ours,
    "gensim file": gensims,
    "gensim lists": gensims_lists,
    "headway plain": headways_plain,
}


def scores(training: Training, data: Path) -> dict[str, float]:
    """Rho and accuracies in percent; by gensim, for both alike."""
    keyed = KeyedVectors(SIZE)
    keyed.add_vectors(training.words, training.vectors)
    folder, found = data / "wordvec" / "en", {}
    for name, file in SETS.items():
        _, rho, _ = keyed.evaluate_word_pairs(str(folder / file))
        found[name] = 100 * float(rho.statistic)
    accuracy, _ = keyed.evaluate_word_analogies(str(folder / "questions-words.txt"))
    return {**found, "analogies": 100 * accuracy}


def measured(
    corpus: Corpus, given: argparse.Namespace, seeds: list[int], threads: list[int]
) -> Iterator[dict[str, Any]]:
    """A line for each training, in turn."""
    for direction in given.directions:
        for n_threads in threads:
            for seed in seeds:
                for who in given.who:
                    training = WHO[who](corpus, direction, n_threads, seed)
                    line = {"who": who, "direction": direction, "threads": n_threads, "seed": seed}
                    line["words_per_s"] = corpus.n_words / training.train_s
                    line["process_words_per_s"] = corpus.n_words / training.process_s
                    line["prepare_s"] = training.prepare_s
                    line.update(scores(training, given.data) if given.quality else {})
                    print({k: round(v, 2) if isinstance(v, float) else v for k, v in line.items()},
                          flush=True)  # fmt: skip
                    yield line


def speed_table(lines: list[dict[str, Any]]) -> str:
    """Medians over the rounds, and ratios of neighbours in the same round."""
    rows = []
    groups = dict.fromkeys((line["direction"], line["threads"]) for line in lines)
    for direction, threads in groups:
        here = [one for one in lines if (one["direction"], one["threads"]) == (direction, threads)]
        mine = [one for one in here if one["who"] == "headway"]
        for who in dict.fromkeys(one["who"] for one in here):
            his = [one for one in here if one["who"] == who]
            ratios = [
                [a[key] / b[key] for a, b in zip(mine, his, strict=True)]
                for key in ("words_per_s", "process_words_per_s")
            ]
            speed, prepares = (
                statistics.median(one[key] for one in his) for key in ("words_per_s", "prepare_s")
            )
            faster = [
                f"{statistics.median(some):.1f} ({min(some):.1f} to {max(some):.1f})"
                for some in ratios
            ]
            rows.append([direction, threads, who, f"{speed:,.0f}", *faster, f"{prepares:.1f}"])
    return record.table(
        ["", "threads", "", "words/s", "headway is faster by", "by processor time", "prepares, s"],
        rows,
    )


def quality_table(lines: list[dict[str, Any]]) -> str:
    """Mean and standard deviation over the seeds."""
    rows, names = [], [*SETS, "analogies"]
    for direction, who in dict.fromkeys((one["direction"], one["who"]) for one in lines):
        here = [one for one in lines if (one["direction"], one["who"]) == (direction, who)]
        cells = []
        for name in names:
            values = [one[name] for one in here]
            spread = statistics.stdev(values) if len(values) > 1 else 0.0
            cells.append(f"{statistics.mean(values):.1f} ± {spread:.1f}")
        rows.append([direction, who, *cells])
    return record.table(["", "", *names], rows)


def main() -> int:
    options = record.parser(__doc__)
    record.add_data_option(options)
    options.add_argument("--words", type=float, default=20e6)
    options.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options.add_argument("--seeds", type=int, default=3, help="rounds of both in turn")
    options.add_argument("--who", nargs="+", choices=WHO, default=list(islice(WHO, 3)))
    options.add_argument("--directions", nargs="+", choices=RATES, default=list(RATES))
    options.add_argument("--quality", action="store_true", help="score the vectors as well")
    record.add_record_option(options)
    given = options.parse_args()
    given.who = list(dict.fromkeys(["headway", *given.who]))
    torch.set_num_threads(1)
    seeds = list(range(1, given.seeds + 1))
    with tempfile.TemporaryDirectory() as folder:
        corpus = corpus_of(given.data, int(given.words), Path(folder))
        lines = list(measured(corpus, given, seeds, given.threads))
    print(speed_table(lines))
    if given.quality:
        print(quality_table(lines))
    record.write(given.record, "word2vec_speed", seeds=seeds, figures={"trainings": lines})
    return 0


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
