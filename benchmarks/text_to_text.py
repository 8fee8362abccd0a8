"""Text to text in one language: Shakespeare's exchanges, and first sentences of paragraphs.

    python benchmarks/text_to_text.py --data DIR --out DIR [--updates 1500]

Makes pairs of text and answer (of one and of three turns) out of lm/tinyshakespeare, and pairs of a
paragraph without its first sentence and that sentence out of mt/pydocs-en-zh; trains a run of each
with default flags but for the number of updates; scores them on text that was held out. Beside the
dialogue: the loss when each answer follows another text, so that it can be seen whether the model
reads what it is told. Beside the summaries: the first sentence of what is read.
"""

import gzip
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import record
import torch

from headway.commands.chat import PARTED
from headway.core.lines import read_lines
from headway.core.loss import projected_label_smoothed
from headway.core.rows import pad
from headway.translator import Translator

LONGEST = 300
"""Characters of a turn."""


def turns(data: Path) -> Iterator[tuple[str, str] | None]:
    """Who speaks, and what; None where a scene may end."""
    with gzip.open(data / "lm/tinyshakespeare/input.txt.gz", "rt", encoding="utf-8") as file:
        for block in file.read().split("\n\n"):
            name, _, speech = block.strip().partition("\n")
            yield (name, " ".join(speech.split())) if name.endswith(":") and speech else None


def dialogue(data: Path, n_turns: int) -> list[tuple[str, str]]:
    """The last turns, and the answer."""
    found, before = [], list[str]()
    for one, after in pairwise(turns(data)):
        if one is None or len(one[1]) > LONGEST:
            before = []
            continue
        before = [*before, one[1]][-n_turns:]
        if after and after[0] != one[0] and len(after[1]) <= LONGEST:
            found.append((PARTED.join(before), after[1]))
    return found


def summaries(data: Path, part: str) -> list[tuple[str, str]]:
    """The rest of a paragraph of three sentences or more, and its first one."""
    path = data / "mt/pydocs-en-zh" / (f"{part}.en.gz" if part == "train" else f"{part}.en")
    split = (re.split(r"(?<=[a-z`*)][.!?]) (?=[A-Z`*:])", line or "") for line in read_lines(path))
    return [(" ".join(some[1:]), some[0]) for some in split if len(some) > 2]


def write(pairs: Sequence[tuple[str, str]], path: Path) -> Path:
    """As TSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), "utf-8")
    return path


def command(*words: str | Path) -> str:
    """What a command of headway prints on standard output."""
    line = [sys.executable, "-m", "headway", *map(str, words)]
    return subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True).stdout


def trained(folder: Path, parts: Sequence[Sequence[tuple[str, str]]], updates: str) -> Path:
    """A run with default flags, on the first part; validated on the second."""
    train, valid = write(parts[0], folder / "train.tsv"), write(parts[1], folder / "valid.tsv")
    run = folder / "run"
    if not (run / "README.md").exists():
        languages = ("--source-language", "en", "--target-language", "en")
        files = ("--pairs", train, "--valid-pairs", valid, "--out", run)
        command("train", *files, *languages, "--training.max-steps", updates)
    return run


def scores(folder: Path, run: Path, test: Sequence[tuple[str, str]], name: str) -> dict[str, float]:
    """What the run writes of the test sources, scored; what it writes stays in a file."""
    for place, side in enumerate(("source", "reference")):
        (folder / f"test.{side}").write_text("".join(f"{pair[place]}\n" for pair in test), "utf-8")
    output = folder / f"test.{name}"
    command("translate", run, folder / "test.source", "--out", output)
    return of_file(output, folder / "test.reference")


def of_file(output: Path, reference: Path) -> dict[str, float]:
    """BLEU, chrF, ROUGE and exact match."""
    flags = ("--target-language", "en", "--rouge", "--no-ter", "--json")
    found = json.loads(
        command("evaluate", "--hypothesis", output, "--reference", reference, *flags)
    )
    rouge = {name: round(one["score"], 2) for name, one in found["rouge"].items()}
    both = {name: round(found[name]["score"], 2) for name in ("bleu", "chrf")}
    return {**both, **rouge, "exact": found["exact_match"]}


@torch.inference_mode()
def losses(run: Path, test: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Nats per token of the answers, each after its own text, and after another pair's."""
    translator = Translator.load(run)
    model, vocabulary = translator.model, translator.subwords
    special, found = vocabulary.special, {}
    others = random.Random(1).sample(range(len(test)), len(test))
    for name, order in (("own", range(len(test))), ("another's", others)):
        nats = n_tokens = 0.0
        for row, other in enumerate(order):
            source = np.array(vocabulary.encode(test[other][0])[:255])
            target = np.array(vocabulary.encode(test[row][1])[:255])
            read = torch.from_numpy(pad([source], special.padding, end=special.end))
            both = pad([target], special.padding, begin=special.decoder_begin, end=special.end)
            fed, wanted = torch.from_numpy(both[:, :-1]), torch.from_numpy(both[:, 1:])
            features = model.features(read, fed).float()
            loss = projected_label_smoothed(
                features, model.output_weight, wanted, smoothing=0, padding=special.padding
            )
            nats, n_tokens = nats + loss.nll.item(), n_tokens + wanted.numel()
        found[name] = round(nats / n_tokens, 3)
    return found


def main() -> None:
    options = record.parser(__doc__)
    record.add_data_option(options)
    record.add_record_option(options)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--updates", default="1500")
    told = options.parse_args()
    figures = {}
    for n_turns in (1, 3):
        pairs, folder = dialogue(told.data, n_turns), told.out / f"dialogue-{n_turns}"
        cuts = (int(0.9 * len(pairs)), int(0.95 * len(pairs)))
        parts = pairs[: cuts[0]], pairs[cuts[0] : cuts[1]], pairs[cuts[1] :]
        run = trained(folder, parts, told.updates)
        name = f"dialogue, {n_turns} turn{'s'[: n_turns > 1]}"
        figures[name] = {
            "pairs": len(parts[0]),
            **scores(folder, run, parts[2], "run"),
            "nats": losses(run, parts[2]),
        }
        print(name, figures[name], flush=True)
    parts = [summaries(told.data, part) for part in ("train", "valid", "devtest")]
    folder = told.out / "summaries"
    run = trained(folder, parts, told.updates)
    found = scores(folder, run, parts[2], "run")
    first = [re.split(r"(?<=[.!?]) (?=[A-Z`*:])", source)[0] for source, _ in parts[2]]
    (folder / "test.first").write_text("".join(f"{one}\n" for one in first), "utf-8")
    figures["summaries"] = {"pairs": len(parts[0]), **found}
    figures["summaries, first sentence of what is read"] = of_file(
        folder / "test.first", folder / "test.reference"
    )
    for name in [*figures][-2:]:
        print(name, figures[name], flush=True)
    record.write(told.record, "text_to_text", seeds=[1], figures=figures)


if __name__ == "__main__":
    main()
