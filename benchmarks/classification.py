"""Text classification from scratch beside a bag of words, and what vectors from elsewhere add.

On TREC (six classes), SST-2, THUCNews titles and ChnSentiCorp's hotels (DIR/cls): `headway train
--task classification` with default flags (a CNN) and with --types, and TF-IDF with logistic
regression of scikit-learn (words, or characters where there are no spaces; single ones, and with
pairs; the weight of its penalty chosen on the validation texts) on the same files. With --vectors,
a run or a file, the same models begin with them (English sets); with --elmo, a run, logistic
regression is given the mean of a text's ELMo vectors beside the words. Accuracy on the test texts
(of THUCNews the validation file, a tenth of the training file being held out), the mean over
--seeds and each, Wilson's 95 % interval of the mean's share.

What was finished in --out is not done again. Prints a table in Markdown.
"""

import gzip
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import record

from headway.labelling.scores import share


class LabelledSet(NamedTuple):
    """Files of a set below DIR/cls."""

    name: str
    train: str
    test: str
    valid: str = ""
    spaced: bool = True
    coarse: bool = False
    """Whether a label is what stands before its colon."""


SETS = {
    "trec": LabelledSet("TREC, 6 classes", "trec/train.tsv", "trec/test.tsv", coarse=True),
    "sst2": LabelledSet("SST-2", "sst2/train.tsv", "sst2/test.tsv", "sst2/valid.tsv"),
    "thucnews": LabelledSet(
        "THUCNews titles", "thucnews-titles/train.tsv", "thucnews-titles/valid.tsv", spaced=False
    ),
    "hotel": LabelledSet(
        "ChnSentiCorp hotels", "chnsenticorp-hotel/train.tsv.gz", "chnsenticorp-hotel/test.tsv",
        "chnsenticorp-hotel/valid.tsv", spaced=False,
    ),
}  # fmt: skip
PENALTIES = (1.0, 3.0, 10.0, 30.0)
SCORED = "scored.json"


def rows_of(path: Path, coarse: bool = False) -> Iterator[tuple[str, str]]:
    """(label, text)."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            label, _, text = line.rstrip("\n").partition("\t")
            yield label.partition(":")[0] if coarse else label, text


def files_of(one: LabelledSet, data: Path, out: Path) -> tuple[Path, Path, Path | None]:
    """Train, test and validation file; those whose labels are made coarse lie in `out`."""
    found = [data / "cls" / name for name in (one.train, one.test, one.valid) if name]
    if one.coarse:
        made = [out / f"{path.parent.name}-{path.name}" for path in found]
        for path, file in zip(found, made, strict=True):
            text = "".join(f"{label}\t{text}\n" for label, text in rows_of(path, coarse=True))
            file.write_text(text, encoding="utf-8")
        found = made
    return found[0], found[1], found[2] if one.valid else None


def headway(files: Sequence[Path | None], run: Path, flags: Sequence[str]) -> tuple[float, float]:
    """Accuracy of a run with such flags, and seconds of its training; kept in the run's folder."""
    if not (run / SCORED).exists():
        train, test, valid = files
        call = [sys.executable, "-m", "headway"]
        validated = ["--valid-corpus", str(valid)] if valid else []
        begun = time.monotonic()
        named = ["--corpus", str(train), *validated, "--out", str(run), "--resume"]
        subprocess.run(
            [*call, "train", "--task", "classification", *named, *flags],
            check=True, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        took_s = time.monotonic() - begun
        evaluated = [*call, "evaluate", str(run), "--corpus", str(test), "--json"]
        told = json.loads(subprocess.run(evaluated, check=True, stdout=subprocess.PIPE).stdout)
        (run / SCORED).write_text(json.dumps({**told, "took_s": took_s}), encoding="utf-8")
    scored = json.loads((run / SCORED).read_text("utf-8"))
    return scored["accuracy"]["score"], scored["took_s"]


def bag(one: LabelledSet, files: Sequence[Path | None], pairs: bool, elmo: str) -> float:
    """Accuracy of scikit-learn's logistic regression on the same texts."""
    from scipy.sparse import csr_matrix, hstack
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    train, test, valid = ([*rows_of(file)] if file else [] for file in files)
    if not valid:
        chosen = np.random.default_rng(1).permutation(len(train))
        n = len(train) // 10
        train, valid = [train[i] for i in chosen[n:]], [train[i] for i in chosen[:n]]
    cut: dict[str, Any] = {"token_pattern": r"\S+"} if one.spaced else {"analyzer": "char"}
    words = TfidfVectorizer(ngram_range=(1, 2 if pairs else 1), sublinear_tf=True, **cut)
    words.fit([text for _, text in train])

    def seen(rows: Sequence[tuple[str, str]]) -> Any:
        texts = [text for _, text in rows]
        found = words.transform(texts)
        return hstack([found, csr_matrix(elmo_means(elmo, texts))]).tocsr() if elmo else found

    inputs, labels = [seen(rows) for rows in (train, valid, test)], [
        [label for label, _ in rows] for rows in (train, valid, test)
    ]  # fmt: skip
    models = [
        LogisticRegression(C=penalty, max_iter=2_000).fit(inputs[0], labels[0])
        for penalty in PENALTIES
    ]
    best = max(models, key=lambda model: model.score(inputs[1], labels[1]))
    return 100 * float(best.score(inputs[2], labels[2]))


def elmo_means(run: str, texts: Sequence[str]) -> np.ndarray[Any, Any]:
    """For each text the mean of its words' vectors, over all layers: `[texts, size]`."""
    from headway.tasks import brought_by_run

    embedder = brought_by_run(run, "embed")(Path(run), "cpu")
    found = [one.vectors.mean((0, 1)) for one in embedder.embed(texts)]
    return np.stack(found) / np.sqrt(len(found[0]))


def measured(name: str, told: Any) -> list[dict[str, Any]]:
    """A row for each way, on one set."""
    one = SETS[name]
    told.out.mkdir(parents=True, exist_ok=True)
    files = files_of(one, told.data, told.out)
    n = sum(1 for _ in rows_of(files[1]))
    rows = []

    def tell(way: str, scores: Sequence[float], took_s: float = 0.0) -> None:
        mean = statistics.mean(scores)
        interval = share(round(mean * n / 100), n)
        row = {"set": name, "way": way, "accuracy": mean, "scores": [*scores], "n": n}
        rows.append({**row, "low": interval.low, "high": interval.high, "took_s": took_s})
        each = ", ".join(f"{score:.2f}" for score in scores) if len(scores) > 1 else ""
        bounds = f"{interval.low:.1f} to {interval.high:.1f}"
        print(f"| {one.name} | {way} | {mean:.2f} | {each} | {bounds} | {took_s:.0f} |", flush=True)

    tell("TF-IDF, logistic regression", [bag(one, files, pairs=False, elmo="")])
    tell("the same with pairs", [bag(one, files, pairs=True, elmo="")])
    if told.elmo and one.spaced:
        tell("the same without pairs, with ELMo", [bag(one, files, pairs=False, elmo=told.elmo)])
    ways = {f"headway, {kind}": [f"--model.type={kind}"] for kind in told.types}
    ways |= {"headway, default flags": []}
    if told.vectors and one.spaced:
        ways |= {"the same, word2vec": ["--init-embedding", told.vectors]}
    for way, flags in ways.items():
        found = []
        for seed in told.seeds:
            folder = told.out / f"{name}-{way.replace('headway, ', '').replace(' ', '-')}-{seed}"
            found.append(headway(files, folder, [*flags, f"--seed={seed}", *told.flags]))
        scores, took = zip(*found, strict=True)
        tell(way, scores, statistics.median(took))
    return rows


def main() -> None:
    options = record.parser(__doc__)
    record.add_data_option(options)
    options.add_argument("--out", type=Path, required=True, help="folder for the runs")
    options.add_argument("--sets", nargs="+", choices=SETS, default=[*SETS])
    options.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    options.add_argument("--types", nargs="*", default=["transformer"], help="beside the default")
    options.add_argument("--vectors", default="", help="a file of word vectors, or a run")
    options.add_argument("--elmo", default="", help="a run of an ELMo")
    options.add_argument("--flags", nargs="*", default=["--runtime.threads=1"])
    record.add_record_option(options)
    told = options.parse_args()
    print("| set | what | accuracy, % | each seed | 95 % | seconds |\n|---|---|---|---|---|---|")
    rows = [row for name in told.sets for row in measured(name, told)]
    record.write(told.record, "classification", seeds=told.seeds, figures={"rows": rows})


if __name__ == "__main__":
    main()
