"""Counting models: how long counting takes, how fast they answer, and who agrees.

An order-3 model of DIR/lm/wiki-en/train.txt.gz is counted (from encoded text to a file), asked for
whole next-word distributions, and scores DIR/lm/wiki-en/test.txt beside nltk.lm on a part of both;
add-one and Kneser-Ney are written as ARPA files and read by kenlm, which scores 3,000 lines of that
test text cut into sentences; a modified Kneser-Ney model of order 5 is compared with what kenlm's
lmplz makes of the same words, if --lmplz PROGRAM names it (built from kenlm's source).

Needs: pip install nltk kenlm.
"""

import json
import math
import re
import resource
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import record
import torch
from numpy.typing import NDArray

from headway.core.lines import read_lines
from headway.core.tensor_files import save_tensors
from headway.language_models import counting
from headway.language_models.arpa import write_arpa
from headway.language_models.estimation import Counting, count_ngrams, smoothed
from headway.language_models.ngram import Ngram, NgramConfig
from headway.tokenizers.words import Words

LEAST = 2  # rarer words are unknown
MARKERS = {"padding": 0, "begin": 2, "end": 3}


def silent(_message: str) -> None:
    """Say nothing."""


class Text:
    """Encoded lines in memory, each with its end marker."""

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        self.lengths = np.array([len(row) + 1 for row in rows], np.int32)
        self.ids = np.array([i for row in rows for i in (*row, MARKERS["end"])], np.uint32)
        self.offsets = np.concatenate([[0], np.cumsum(self.lengths, dtype=np.int64)])

    def read(self, begin: int, end: int) -> NDArray[np.uint32]:
        found: NDArray[np.uint32] = self.ids[self.offsets[begin] : self.offsets[end]]
        return found


class Spent:
    """Seconds since it was made, by the clock and of this process."""

    def __init__(self) -> None:
        self._clock, self._process = time.perf_counter(), time.process_time()

    def __call__(self) -> tuple[float, float]:
        return time.perf_counter() - self._clock, time.process_time() - self._process


def counted(text: Any, size: int, config: NgramConfig, folder: Path) -> Ngram:
    """From encoded text to a model laid over its file; what is in the folder is gone on with."""
    kneser_ney = config.smoothing.endswith("kneser-ney")
    settings = Counting(config.order, size, MARKERS["begin"], kneser_ney)
    counts = count_ngrams(text, settings)
    arrays = smoothed(counts, config, padding=MARKERS["padding"], say=silent)
    config = replace(config, n_grams=counts.n_grams)
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    save_tensors(tensors, folder / "model.safetensors")
    model = Ngram(config, vocabulary_size=size, **MARKERS)
    counting.load(model, folder / "model.safetensors")
    return model


def logs10(model: Ngram, rows: Sequence[Sequence[int]]) -> list[float]:
    """The decimal logarithm of each line."""
    found = []
    for row in rows:
        fed, wanted = (
            torch.tensor([[MARKERS["begin"], *row]]),
            torch.tensor([[*row, MARKERS["end"]]]),
        )
        natural = model.log_probs(fed, wanted).log_probs
        found.append(float(natural.double().sum()) / math.log(10))
    return found


def stream_speed(model: Ngram, rows: Sequence[Sequence[int]]) -> tuple[float, float]:
    """Words and line ends scored a second, by the clock and of this process."""
    fed = torch.tensor([[i for row in rows for i in (MARKERS["begin"], *row)]])
    wanted = torch.tensor([[i for row in rows for i in (*row, MARKERS["end"])]])
    spent = Spent()
    for begin in range(0, fed.shape[1], 1 << 14):
        model.log_probs(fed[:, begin : begin + (1 << 14)], wanted[:, begin : begin + (1 << 14)])
    clock, process = spent()
    return fed.shape[1] / clock, fed.shape[1] / process


def distribution_ms(model: Ngram, rows: Sequence[Sequence[int]]) -> tuple[float, float]:
    """Milliseconds for all next words of a context, the mean over contexts of running text."""
    ids = [i for row in rows for i in (MARKERS["begin"], *row)][:1000]
    state = model.start()
    with torch.inference_mode():
        spent = Spent()
        for i in ids:
            state = model.step(state, torch.tensor([i])).state
    clock, process = spent()
    return 1e3 * clock / len(ids), 1e3 * process / len(ids)


def nltk_speed(words: Sequence[Sequence[str]], test: Sequence[Sequence[str]]) -> dict[str, float]:
    """nltk's interpolated Kneser-Ney of order 3: seconds to fit, and words scored a second."""
    from nltk.lm import KneserNeyInterpolated
    from nltk.util import everygrams

    model = KneserNeyInterpolated(3)
    spent = Spent()
    lines = [["<s>", *line, "</s>"] for line in words]
    model.fit((everygrams(line, max_len=3) for line in lines), {w for line in lines for w in line})
    fit_s, _ = spent()
    spent, n = Spent(), 0
    for line in test:
        for i in range(2, len(line)):
            model.score(line[i], line[i - 2 : i])
            n += 1
            if spent()[0] > 20:
                return {"fit_s": fit_s, "words_per_s": n / spent()[0]}
    return {"fit_s": fit_s, "words_per_s": n / spent()[0]}


def kenlm_logs10(arpa: Path, lines: Sequence[Sequence[str]]) -> list[float]:
    """kenlm's decimal logarithm of each line, its float32 ones of words summed exactly."""
    import kenlm

    model = kenlm.Model(str(arpa))
    return [math.fsum(word[0] for word in model.full_scores(" ".join(line))) for line in lines]


def perplexity(logarithms: Sequence[float], rows: Sequence[Sequence[int]]) -> float:
    """Per word, line ends included."""
    return float(10 ** (-sum(logarithms) / sum(len(row) + 1 for row in rows)))


def wiki(data: Path, lmplz: Path | None, folder: Path) -> dict[str, Any]:
    """All but the large ones."""
    place = data / "lm" / "wiki-en"
    lines = [(line or "").split() for line in read_lines(place / "train.txt.gz") if line]
    test = [(line or "").split() for line in read_lines(place / "test.txt") if line]
    occurrences = Counter(word for line in lines for word in line)
    words = Words.learned(occurrences, "words", min_count=LEAST)
    rows = [words.encode(" ".join(line)) for line in lines]
    test_rows = [words.encode(" ".join(line)) for line in test]
    text, size = Text(rows), len(words)
    n_words = sum(map(len, rows))
    figures: dict[str, Any] = {"words": n_words, "vocabulary": size}
    for smoothing in ("add-one", "kneser-ney"):
        own = folder / smoothing
        own.mkdir()
        spent = Spent()
        model = counted(text, size, NgramConfig(3, smoothing), own)  # type: ignore[arg-type]
        clock, process = spent()
        figures[f"{smoothing}_fit_s"] = {"clock": clock, "process": process}
        speed = stream_speed(model, test_rows)
        figures[f"{smoothing}_words_per_s"] = {"clock": speed[0], "process": speed[1]}
        ms = distribution_ms(model, test_rows)
        figures[f"{smoothing}_distribution_ms"] = {"clock": ms[0], "process": ms[1]}
        figures[f"{smoothing}_perplexity"] = perplexity(logs10(model, test_rows), test_rows)
        arpa = folder / f"{smoothing}.arpa"
        write_arpa(model, [words.pieces([i])[0] for i in range(size)], arpa)
        sentences = [s.split() for line in test for s in re.split(r"(?<=[.!?]) ", " ".join(line))]
        sentences = [sentence for sentence in sentences if sentence][:3000]
        known = [[w if words.has(w) else "<unk>" for w in sentence] for sentence in sentences]
        ours = logs10(model, [words.encode(" ".join(sentence)) for sentence in sentences])
        theirs = kenlm_logs10(arpa, known)
        worst = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
        figures[f"{smoothing}_kenlm_worst_of_{len(sentences)}"] = worst
        print(json.dumps(figures, indent=1), flush=True)
    few = [[w if words.has(w) else "unk" for w in line] for line in lines[:4000]]
    figures["nltk_on_4000_lines"] = nltk_speed(few, few[:100])
    own = folder / "five"
    own.mkdir()
    config = NgramConfig(5, "modified-kneser-ney")
    if lmplz:
        figures["order_5"] = beside_lmplz(lmplz, lines, test, folder, config)
    return figures


def beside_lmplz(
    lmplz: Path, lines: list[list[str]], test: list[list[str]], folder: Path, config: NgramConfig
) -> dict[str, Any]:
    """Both on the same words: rare ones are a word `unk` of their own, as lmplz refuses <unk>."""
    occurrences = Counter(word for line in lines for word in line)
    words = Words.learned(occurrences + Counter(unk=LEAST), "words", min_count=LEAST)
    kept, asked = (
        [[w if words.has(w) else "unk" for w in line] for line in some] for some in (lines, test)
    )
    rows = [words.encode(" ".join(line)) for line in kept]
    test_rows = [words.encode(" ".join(line)) for line in asked]
    spent = Spent()
    model = counted(Text(rows), len(words), config, folder / "five")
    ours_s = spent()
    plain, arpa = folder / "plain.txt", folder / "lmplz.arpa"
    plain.write_text("".join(" ".join(line) + "\n" for line in kept), encoding="utf-8")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(
        [lmplz, "-o", str(config.order), "-S", "2G", "-T", folder, "--text", plain, "--arpa", arpa],
        check=True, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    clock = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    ours, theirs = logs10(model, test_rows), kenlm_logs10(arpa, asked)
    return {
        "fit_s": {"clock": ours_s[0], "process": ours_s[1]},
        "lmplz_fit_s": {"clock": clock, "process": process},
        "perplexity": perplexity(ours, test_rows),
        "lmplz_perplexity": perplexity(theirs, test_rows),
        "worst_line": max(abs(a - b) for a, b in zip(ours, theirs, strict=True)),
        "n_grams": list(model.config.n_grams),
    }


def main() -> None:
    options = record.parser(__doc__)
    options.add_argument("--data", type=Path, metavar="DIR", required=True, help="holds lm/wiki-en")
    options.add_argument("--lmplz", type=Path, metavar="PROGRAM")
    record.add_record_option(options)
    given = options.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        figures = wiki(given.data, given.lmplz, Path(folder))
    print(json.dumps(figures, indent=1))
    record.write(given.record, "ngram", seeds=[0], figures=figures)


if __name__ == "__main__":
    main()
