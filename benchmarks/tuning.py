"""A general translator made one's own: what it learns from few pairs, and what it forgets.

A general model is trained on Tatoeba en-de (everyday sentences). Then it is tuned on 2,000 pairs of
Multi30k (image captions), which stand for a user's own text, in several ways of equal time: at the
rate that the general model was trained with, at a third and at a tenth of it; with the general text
mixed in again (`general@0.1`, own pairs `@8`); and the same with a tag in front of the user's own.
For comparison, a model from the start on the 2,000 pairs alone. Every run is validated on Multi30k
val. Reported: BLEU by beam 5 on Multi30k test_2016_flickr (one's own text) and on Tatoeba devtest
(what may be forgotten), before and after.
Run: python benchmarks/tuning.py --data DIR --budget 20m --tuning-budget 4m --out DIR
"""

import argparse
import random
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import record
import runs

from headway import Translator
from headway.core.bleu import bleu_statistics

GENERAL, OWN = runs.CORPORA["tatoeba-en-de"], runs.CORPORA["multi30k-en-de"]
TESTS = {"own": (OWN, "test_2016_flickr"), "general": (GENERAL, "devtest")}
N_PAIRS = 2_000
TUNED = "a third of the rate"
"""What `headway train --init-from` does by itself."""


@dataclass(frozen=True)
class Way:
    """One way to come to a model for one's own text."""

    name: str
    folder: str
    pairs: tuple[str, ...]
    """Specifications, `own` and `general` standing for the two files."""
    flags: tuple[str, ...] = ()
    from_general: bool = True
    tags: tuple[str, ...] = ("",)
    """How its own test text is tagged when it is translated; the first one is reported first."""


def ways(rate: float) -> list[Way]:
    """All of them; `rate` is the peak that the general model was trained with."""

    def peak(factor: float) -> tuple[str, ...]:
        return ("--training.learning-rate", f"{factor * rate:g}")

    mixed = ("own@8", "general@0.1")
    return [
        Way("own pairs alone, from the start", "scratch", ("own",), from_general=False),
        Way("own pairs, the same rate", "same-rate", ("own",), peak(1.0)),
        Way(f"own pairs, {TUNED}", "third", ("own",)),
        Way("own pairs, a tenth of the rate", "tenth", ("own",), peak(0.1)),
        Way(f"own@8 and general@0.1, {TUNED}", "mixed", mixed),
        Way("the same, own:tag=own", "tagged", ("own@8:tag=own", mixed[1]), tags=("own", "")),
    ]


def write_tsv(path: Path, pairs: Iterable[tuple[str, str]]) -> Path:
    """Pairs as a TSV; tabs in the text become spaces, as in every corpus that is read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = ("\t".join(side.replace("\t", " ") for side in pair) for pair in pairs)
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def write_files(asked: argparse.Namespace) -> dict[str, Path]:
    """The user's own pairs, the general ones, and validation pairs, as files of pairs."""
    own = list(zip(*OWN.lines(asked.data, OWN.train), strict=True))
    chosen = random.Random(asked.seed).sample(own, N_PAIRS)
    return {
        "own": write_tsv(asked.out / "own.tsv", chosen),
        "general": write_tsv(
            asked.out / "general.tsv", zip(*GENERAL.lines(asked.data, GENERAL.train), strict=True)
        ),
        "valid": write_tsv(
            asked.out / "valid.tsv", zip(*OWN.lines(asked.data, OWN.valid), strict=True)
        ),
    }


def specification(text: str, files: dict[str, Path]) -> str:
    """`own@8:tag=own` with the file's path in the place of its name."""
    name = text.split("@")[0].split(":")[0]
    return f"{files[name]}{text.removeprefix(name)}"


def train_way(way: Way, asked: argparse.Namespace, general: Path, files: dict[str, Path]) -> Path:
    """The run folder of one way."""
    print(f"\n# {way.name}", flush=True)
    run: Path = asked.out / way.folder
    flags = [flag for text in way.pairs for flag in ("--pairs", specification(text, files))]
    valid_tag = f":tag={way.tags[0]}" if way.tags[0] else ""
    flags += ["--valid-pairs", f"{files['valid']}{valid_tag}"]
    flags += ["--source-language", OWN.source, "--target-language", OWN.target]
    flags += [*length(asked.tuning_budget, asked.tuning_steps), "--seed", str(asked.seed)]
    flags += way.flags
    if way.from_general:
        flags += ["--init-from", str(general)]
    runs.headway_train(run, flags)
    return run


def length(budget: str | None, steps: int | None) -> list[str]:
    """How long to train, as flags."""
    return ["--budget", budget] if budget else ["--training.max-steps", str(steps)]


def scores(run: Path, data: Path, tags: tuple[str, ...]) -> dict[str, float]:
    """BLEU on both test sets, on one's own with each of the tags."""
    translator = Translator.load(run)
    search = asdict(runs.decodings(translator.settings.decoding)["beam 5"])
    found = {}
    for name, (corpus, split) in TESTS.items():
        sources, references = corpus.lines(data, split)
        for tag in tags if name == "own" else ("",):
            output = translator.translate(sources, tag=tag or None, **search)
            key = f"{name}:{tag}" if tag != tags[0] and name == "own" else name
            bleu = bleu_statistics(output, references, target_language=corpus.target)
            found[key] = bleu.score()
    return found


def main() -> int:
    """Train the general model, tune it in every way, score, print, record."""
    parser = record.parser(__doc__)
    record.add_data_option(parser)
    general_length = parser.add_mutually_exclusive_group(required=True)
    general_length.add_argument("--budget", help="time for the general model, such as 20m")
    general_length.add_argument("--steps", type=int, metavar="N", help="its updates instead")
    tuning_length = parser.add_mutually_exclusive_group(required=True)
    tuning_length.add_argument("--tuning-budget", help="time for each way, such as 4m")
    tuning_length.add_argument("--tuning-steps", type=int, metavar="N", help="updates instead")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, metavar="DIR", required=True, help="for the runs")
    record.add_record_option(parser)
    asked = parser.parse_args()
    asked.out = asked.out.absolute()
    files = write_files(asked)
    general = asked.out / "general"
    flags = [*length(asked.budget, asked.steps), "--seed", str(asked.seed)]
    runs.train(GENERAL, asked.data, general, flags)
    rate = runs.facts(general)["settings"]["training"]["learning_rate"]
    rows: list[dict[str, Any]] = [
        {"way": "the general model", **scores(general, asked.data, ("",))}
    ]
    for way in ways(rate):
        run = train_way(way, asked, general, files)
        measured = scores(run, asked.data, way.tags)
        rows.append({"way": way.name, **measured, **runs.facts(run)})
    header = [
        "model",
        "BLEU, own text",
        "BLEU, general text",
        "own text without the tag",
        "updates",
    ]
    cells = [
        [
            row["way"],
            *(f"{row[key]:.2f}" if key in row else "" for key in ("own", "general", "own:")),
            f"{row['updates']:,}" if "updates" in row else "",
        ]
        for row in rows
    ]
    print("\n" + record.table(header, cells))
    record.write(asked.record, "tuning", seeds=[asked.seed], figures={"runs": rows})
    return 0


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
