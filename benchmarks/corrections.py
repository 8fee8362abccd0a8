"""A week's corrections taught to a translator: what it learns of them, and what it forgets.

The translator is that of `headway demo` (everyday sentences, English to Chinese). A reviewer has
put one word in the place of another in 200 sentences, all with "dog"; a run goes on from the
translator with these, as `headway train --init-from` does by itself, and in other ways. Reported:
in how many of 200 sentences with a dog that nobody has seen the new word stands, and the old one
does not; BLEU of these; BLEU of the demo's test sentences without a dog, before and after; and how
long the command took.
Run: headway demo --out DIR; python benchmarks/corrections.py --demo DIR --out RUNS
"""

import argparse
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import record
import runs

from headway import Translator
from headway.config import merge
from headway.metrics.translation import bleu_statistics
from headway.text.everyday import generate
from headway.text.lines import read_lines
from headway.training.run_folder import RunFolder

Pairs = list[tuple[str, str]]

WORD, OLD, NEW = "dog", "狗", "犬"
N_PAIRS = 200


@dataclass(frozen=True)
class Way:
    """One way to teach them."""

    name: str
    folder: str
    flags: tuple[str, ...] = ()
    gone: bool = False
    """The text files that the translator learned from are not there any more."""


WAYS = (
    Way("as it is by itself", "plain"),
    Way("nothing old mixed in, but scored", "alone", ("--old-share", "0")),
    Way("the old text files are gone", "gone", gone=True),
)


def has_word(text: str) -> bool:
    """Whether a sentence is about the word."""
    return bool(re.search(rf"\b{WORD}s?\b", text, re.IGNORECASE))


def corrected(pairs: Pairs) -> Pairs:
    """As a reviewer leaves them."""
    return [(source, target.replace(OLD, NEW)) for source, target in pairs]


def lines(path: Path) -> list[str]:
    """All lines of a text file."""
    return [line or "" for line in read_lines(path)]


def corrections(demo: Path, seed: int) -> tuple[Pairs, Pairs]:
    """Pairs to learn from, and as many to test with: of sentences that the demo has not."""
    seen = {line for split in ("train", "valid", "test") for line in lines(demo / f"{split}.en")}
    drawn = dict(generate(200 * N_PAIRS, 1_000 + seed)).items()
    found = [pair for pair in drawn if has_word(pair[0]) and pair[0] not in seen]
    chosen = corrected(found[: 2 * N_PAIRS])
    assert len(chosen) == 2 * N_PAIRS, "more sentences have to be drawn"
    return chosen[:N_PAIRS], chosen[N_PAIRS:]


def without_texts(run: Path, copy: Path) -> Path:
    """The same run, of which the text files are gone."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(run, copy)
    folder = RunFolder(copy)
    gone = {key: [str(copy / "gone")] for key in ("source", "target", "valid_source")}
    gone["valid_target"] = gone["source"]
    folder.write_settings(merge(folder.settings(), {"data": gone}))
    return copy


def scores(run: Path, unseen: Pairs, general: Pairs) -> dict[str, float]:
    """How much of the pattern is kept, and BLEU."""
    translator, found = Translator.load(run), {}
    for name, pairs in (("pattern", unseen), ("general", general)):
        output = translator.translate([source for source, _ in pairs])
        found[name] = bleu_statistics(output, [t for _, t in pairs], target_language="zh").score()
        if name == "pattern":
            kept = [NEW in text and OLD not in text for text in output]
            found["kept"] = 100 * sum(kept) / len(kept)
    return found


def tuned(way: Way, asked: argparse.Namespace, fix: Path) -> tuple[Path, float]:
    """The run of one way, and the seconds that the command took."""
    print(f"\n# {way.name}", flush=True)
    parent = asked.demo / "run"
    if way.gone:
        parent = without_texts(parent, asked.out / "parent-without-texts")
    run: Path = asked.out / way.folder
    begun = time.monotonic()
    flags = ["--init-from", str(parent), "--pairs", str(fix), "--seed", str(asked.seed)]
    runs.headway_train(run, [*flags, *way.flags, *asked.flags])
    return run, time.monotonic() - begun


def main() -> int:
    """Tune in every way, score, print, record."""
    parser = record.parser(__doc__)
    parser.add_argument("--demo", type=Path, required=True, help="what `headway demo --out` wrote")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="for the runs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", help="folders of ways; all if left out")
    parser.add_argument("--flags", nargs="*", default=[], help="more flags of train, each as a=b")
    record.add_record_option(parser)
    asked = parser.parse_args()
    asked.out, asked.demo = asked.out.absolute(), asked.demo.absolute()
    asked.out.mkdir(parents=True, exist_ok=True)
    own, unseen = corrections(asked.demo, asked.seed)
    fix = asked.out / "fix.tsv"
    fix.write_text("".join(f"{s}\t{t}\n" for s, t in own), encoding="utf-8")
    test = zip(lines(asked.demo / "test.en"), lines(asked.demo / "test.zh"), strict=True)
    general = [pair for pair in test if not has_word(pair[0])]
    before = scores(asked.demo / "run", unseen, general)
    rows: list[dict[str, Any]] = [{"way": "before", **before, "seconds": 0.0}]
    for way in WAYS:
        if asked.only is None or way.folder in asked.only:
            run, seconds = tuned(way, asked, fix)
            rows.append({"way": way.name, **scores(run, unseen, general), "seconds": seconds})
    header = ["", "new word kept, %", "BLEU, its sentences", "BLEU, the others", "seconds"]
    cells = [
        [row["way"], f"{row['kept']:.1f}"]
        + [f"{row[key]:.2f}" for key in ("pattern", "general")]
        + [f"{row['seconds']:.0f}"]
        for row in rows
    ]
    print("\n" + record.table(header, cells))
    record.write(asked.record, "corrections", seeds=[asked.seed], figures={"runs": rows})
    return 0


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
