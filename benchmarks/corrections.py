"""Corrections taught to a translator: what it takes up on sentences that nobody corrected.

A reviewer goes over what a run wrote for texts that it has not seen, and always makes the same
change: a pattern. Patterns are made by rule from the run's own output: another word, a word that
the run never writes, a phrase, a polite form, an agreement, an order of words, a sign. 10, 30 or
100 such corrections stand among as many units that the reviewer left as they were, in the table
that `headway corrections` writes of both versions or, with --as-reviewed, in the reviewed file
itself. `headway train --init-from` goes on from the run with default flags. Reported: in how many
of up to 200 unseen sentences that call for the change the tuned run writes the wanted form and not
the old one, without any memory; BLEU on sentences that do not call for it, before and after; and
how long the command took.

Texts are the test sentences of Multi30k for a run into German (--data), and sentences of the demo's
grammar for one into Chinese.
Run: python benchmarks/corrections.py --run demo --out DIR --sizes 10 30 100
"""

import argparse
import random
import re
import resource
import shlex
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import record
import runs

from headway import Translator
from headway.commands.demo import corpus
from headway.core.bleu import bleu_statistics
from headway.core.run_folder import RunFolder
from headway.demo import generate
from headway.operations.shipped import open_folder, place_of

N_UNSEEN = 200
N_DRAWN = 6_000
"""Sentences of the demo's grammar."""


class Pattern(NamedTuple):
    """What a reviewer always changes."""

    kind: str
    old: str
    """A regular expression of what the run writes."""
    new: str | Callable[[re.Match[str]], str]

    def corrected(self, text: str) -> str:
        """As the reviewer leaves it."""
        return re.sub(self.old, self.new, text)

    @property
    def name(self) -> str:
        """For tables."""
        return self.kind


def agreed(found: re.Match[str]) -> str:
    """`eine junge Frau` as a neuter noun has it: `ein junges Fräulein`."""
    article, adjective = found.groups()
    ending = {"ine": "in", "iner": "inem", "ie": "as", "er": "em"}[article[1:]]
    if adjective and ending == "in":
        adjective = f"{adjective[:-1]}s "
    return f"{article[0]}{ending} {adjective or ''}Fräulein"


DISAGREEING = (
    r"\b([Ee]iner?|[Dd]ie|[Dd]er|[Ee]in [a-zäöüß]+(e|er|en|em)|[Dd]as [a-zäöüß]+e[rsnm]"
    r"|([Ee]inem|[Dd]em) [a-zäöüß]+(e|er|es|em)) ([a-zäöüß]+ )?Fräulein\b"
)


def turned(found: re.Match[str]) -> str:
    """`Ein Hund läuft am Strand.` with the place in front."""
    who, verb, where = found.groups()
    return f"{where[0].upper()}{where[1:]} {verb} {who[0].lower()}{who[1:]}."


PATTERNS = {
    "de": {
        "word": Pattern("word", r"\bMann\b", "Herr"),
        "new word": Pattern("new word", r"\bHund\b", "Vierbeiner"),
        "phrase": Pattern("phrase", r"\bin einem\b", "im Inneren von einem"),
        "agreement": Pattern(
            "agreement", r"\b([Ee]iner?|[Dd]ie|[Dd]er) ([a-zäöüß]+en? )?Frau\b", agreed
        ),
        "order": Pattern(
            "order",
            r"^((?:Eine?|D(?:er|ie|as)|Zwei|Drei) (?:\w+ )?\w+) "
            r"((?:sitz|steh|lauf|geh|renn|spiel)en|(?:sitz|steh|läuf|geh|renn|spring|lieg|spiel)t) "
            r"((?:auf|in|vor|an|am|im|durch|mit|über|neben) [^.,]+)\.$",
            turned,
        ),
        "sign": Pattern("sign", r",", " –"),
    },
    "zh": {
        "word": Pattern("word", "花园", "园子"),
        "new word": Pattern("new word", "狗", "犬"),
        "phrase": Pattern("phrase", "，因为", "，这是由于"),
        "polite form": Pattern("polite form", "你(?!们)", "您"),
        "order": Pattern("order", r"^([^，。？]+?)((?:昨天|明天)(?:早上|晚上)?)", r"\2\1"),
        "sign": Pattern("sign", "，", "；"),
    },
}


class Texts(NamedTuple):
    """Sentences that the run has not seen, with references, and what the run makes of them."""

    sources: list[str]
    references: list[str]
    outputs: list[str]


class Task(NamedTuple):
    """Which of them are for what: numbers of sentences."""

    corrections: list[int]
    confirmed: list[int]
    unseen: list[int]
    general: list[int]


def texts(run: Path, data: Path | None, language: str) -> Texts:
    """Of the run's own kind."""
    if language == "zh":
        seen = {source for part in corpus() for source, _ in part}
        drawn = {s: t for s, t in generate(N_DRAWN, 2_001) if s not in seen}
        sources, references = list(drawn), list(drawn.values())
    else:
        assert data is not None, "--data is needed for Multi30k"
        sources, references = [], []
        for split in runs.FLICKR:
            for side, more in zip(
                (sources, references),
                runs.CORPORA["multi30k-en-de"].lines(data, split),
                strict=True,
            ):
                side.extend(text.strip() for text in more)
    return Texts(sources, references, Translator.load(run).translate(sources))


def task_of(pattern: Pattern, known: Texts, n: int, seed: int) -> Task:
    """Corrections, units that were left as they were, and what is measured on."""
    numbers = list(range(len(known.sources)))
    random.Random(seed).shuffle(numbers)
    called = [pattern.corrected(text) != text for text in known.outputs]
    of_reference = [pattern.corrected(text) != text for text in known.references]
    asked = [i for i in numbers if called[i]]
    others = [i for i in numbers if not called[i] and not of_reference[i]]
    chosen = {known.sources[i] for i in asked[:n]}
    unseen = [i for i in asked[n:] if known.sources[i] not in chosen][:N_UNSEEN]
    return Task(asked[:n], others[:n], unseen, others[n : n + 1_000])


def scores(
    written: Mapping[int, str], pattern: Pattern, task: Task, known: Texts, language: str
) -> dict[str, float]:
    """What translations have of the pattern on what was corrected and on the unseen, and BLEU."""
    found = {
        name: float(sum(has_new(pattern, written[i], known.outputs[i]) for i in rows))
        for name, rows in (("corrections", task.corrections), ("unseen", task.unseen))
    }
    statistics = bleu_statistics(
        [written[i] for i in task.general],
        [known.references[i] for i in task.general],
        target_language=language,
    )
    return {**found, "general": statistics.score()}


def has_new(pattern: Pattern, text: str, before: str) -> bool:
    """Whether the wanted form stands there, and the old one nowhere."""
    wanted = pattern.corrected(before)
    if pattern.kind == "order":
        return (
            text.split(" ")[:2] == wanted.split(" ")[:2]
            if " " in wanted
            else (text[:2] == wanted[:2])
        )
    if pattern.corrected(text) != text:
        return False
    if callable(pattern.new):
        return bool(re.search("Fräulein", text)) and not re.search(DISAGREEING, text)
    return bool(re.search(re.escape(pattern.new.strip()), text))


def taught(
    asked: argparse.Namespace, place: Path, pattern: Pattern, task: Task, known: Texts
) -> dict[str, Any]:
    """Train on the table of corrections, with default flags."""
    rows = []
    for i in [*task.corrections, *task.confirmed]:
        target = pattern.corrected(known.outputs[i])
        cells = [known.sources[i], target] + [known.outputs[i]] * (not asked.as_reviewed)
        rows.append("\t".join(cells) + "\n")
    header = "" if asked.as_reviewed else "source\ttarget\tbefore\n"
    fix = place.with_suffix(".tsv")
    fix.write_text(header + "".join(rows), encoding="utf-8")
    begun = time.monotonic()
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    flags = ["--init-from", str(asked.run), "--pairs", str(fix), "--seed", str(asked.seed)]
    runs.headway_train(place, [*flags, *asked.flags])
    return {
        "seconds": round(time.monotonic() - begun),
        "processor_s": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - used),
        "updates": RunFolder(place).read_log()[-1]["step"],
    }


def main() -> int:
    """Make patterns, tune, score, print, record."""
    parser = record.parser(__doc__)
    parser.add_argument("--run", type=Path, required=True, help="what goes on learning")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder that holds mt/multi30k")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="for the runs")
    parser.add_argument("--sizes", type=int, nargs="*", default=[10, 30, 100])
    parser.add_argument("--only", nargs="*", help="kinds of pattern; all if left out")
    parser.add_argument("--as-reviewed", action="store_true", help="a table of two columns")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--flags", type=shlex.split, default=[], help="more of train, quoted")
    record.add_record_option(parser)
    asked = parser.parse_args()
    asked.out, asked.run = asked.out.absolute(), place_of(asked.run).absolute()
    asked.out.mkdir(parents=True, exist_ok=True)
    language = str(open_folder(asked.run).settings()["data"]["target_language"])
    known = texts(asked.run, asked.data, language)
    rows: list[dict[str, Any]] = []
    for name, pattern in PATTERNS[language].items():
        for n in asked.sizes if asked.only is None or name in asked.only else ():
            task = task_of(pattern, known, n, asked.seed)
            place = asked.out / f"{name.replace(' ', '-')}-{n}"
            before = scores(dict(enumerate(known.outputs)), pattern, task, known, language)
            work = taught(asked, place, pattern, task, known)
            asked_for = [*task.corrections, *task.unseen, *task.general]
            tuned = Translator.load(place).translate([known.sources[i] for i in asked_for])
            written = dict(zip(asked_for, tuned, strict=True))
            after = scores(written, pattern, task, known, language)
            sizes = {"n": len(task.corrections), "n_unseen": len(task.unseen)}
            rows.append({"pattern": name, **sizes, "before": before, "after": after, **work})
            print(rows[-1], flush=True)
    header = ["pattern", "corrections", "taken up", "unseen, before", "unseen", "of"]
    header += ["other sentences, BLEU", "updates", "s", "processor s"]
    cells = []
    for row in rows:
        before, after, of = row["before"], row["after"], row["n_unseen"]
        general = f"{before['general']:.2f} to {after['general']:.2f}"
        share = f"{after['unseen']} ({after['unseen'] / max(1, of):.0%})"
        work = [row[key] for key in ("updates", "seconds", "processor_s")]
        taken = [after["corrections"], before["unseen"], share, of]
        cells.append([row["pattern"], row["n"], *taken, general, *work])
    print("\n" + record.table(header, cells))
    record.write(asked.record, "corrections", seeds=[asked.seed], figures={"runs": rows})
    return 0


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
