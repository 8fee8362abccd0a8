"""What the data doctor finds of damage that is done to good text, and what it says of good text.

Each corpus is examined as it is, and once more with these done to pairs that are drawn with a seed,
all at once and no two to one pair:
- 5% of the targets are shuffled among each other (found as `unrelated_pair`);
- 3% of the targets keep 40% to 70% of their words, or of their characters where there are no spaces
  (`truncated`);
- in 2% with accents every letter with one becomes a question mark (`lost_letters`);
And, where there is a third language, once more with 10% of the targets in that one
(`mixed_languages`).

Recall is the share of the damaged pairs that are named for it. False alarms are counted in the
corpus as it is, where some of them are right: `--show` prints the surest ones, to be read.

Run: python benchmarks/doctor.py [--data DIR] [--record FILE] [--seed 1] [--pairs 30000] [--show 5]
Without --data only generated sentences are looked at.
"""

import gzip
import random
import tempfile
import unicodedata
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from record import add_record_option, exit_status, parser, table, write

from headway.core.cleaning import Pair, clean
from headway.corpora.cleaned import clean_corpus
from headway.corpora.corpus import Corpus
from headway.corpora.settings import NotedCleaning
from headway.demo import generate
from headway.doctor.examination import Tools, examine
from headway.doctor.findings import Symptom
from headway.languages.detection import detect

Texts = list[tuple[str, str]]

CORPORA = {
    "multi30k en-de": ("multi30k", "en", "de", "fr"),
    "multi30k en-fr": ("multi30k", "en", "fr", "de"),
    "multi30k en-cs": ("multi30k", "en", "cs", "de"),
    "tatoeba en-de": ("tatoeba-en-de", "en", "de", ""),
    "tatoeba en-fr": ("tatoeba-en-fr", "en", "fr", ""),
    "tatoeba en-zh": ("tatoeba-en-zh", "en", "zh", ""),
    "pydocs en-zh": ("pydocs-en-zh", "en", "zh", ""),
}
KINDS = ("unrelated_pair", "truncated", "lost_letters")


class Heard(NamedTuple):
    """What the doctor said."""

    lines: dict[str, set[int]]
    """By symptom, the lines of the pairs that show it."""
    findings: dict[str, Any]
    seconds: float


def main() -> int:
    """Examine all corpora, with and without damage."""
    options = parser(__doc__)
    options.add_argument("--data", type=Path, metavar="DIR", help="folder that holds mt/multi30k")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--pairs", type=int, default=30_000, help="at most, of each corpus")
    options.add_argument("--show", type=int, default=0, help="examples of alarms in good text")
    options.add_argument("--only", default="", help="corpora whose names hold this")
    add_record_option(options)
    given = options.parse_args()
    rows: list[list[str]] = []
    figures: dict[str, Any] = {}
    wanted = {"generated en-zh": None, **(CORPORA if given.data else {})}
    for name, where in wanted.items():
        if given.only not in name:
            continue
        if where is None:
            texts, third = list(generate(5_000, given.seed)), []
        else:
            texts = _read(given.data, where[0], where[1], where[2])[: given.pairs]
            third = _read(given.data, where[0], where[1], where[3]) if where[3] else []
        languages = (where[1], where[2]) if where else ("en", "zh")
        figures[name] = _examined(name, texts, third, languages, given, rows)
    head = ["corpus", "pairs", "what", "damaged", "found", "recall", "said of good text", "share"]
    print(table(head, rows))
    write(given.record, "doctor", seeds=[given.seed], figures={"corpora": figures})
    return 0


def _examined(
    name: str, texts: Texts, third: Texts, languages: tuple[str, str], given: Any, rows: list[Any]
) -> dict[str, Any]:
    good = heard(texts, languages)
    draw = random.Random(given.seed)
    damaged, lines = damage(texts, draw)
    bad = heard(damaged, languages)
    found: dict[str, Any] = {"pairs": len(texts), "seconds": round(good.seconds, 2)}
    for kind in KINDS:
        hit = bad.lines.get(kind, set()) & lines[kind]
        alarms = len(good.lines.get(kind, set()))
        recall = len(hit) / max(len(lines[kind]), 1)
        found[kind] = {
            "damaged": len(lines[kind]), "found": len(hit), "recall": round(recall, 4),
            "said_of_good_text": alarms, "share": round(alarms / len(texts), 5),
            "other_alarms_beside_damage": len(bad.lines.get(kind, set()) - lines[kind]),
            "asks_for_a_look": bad.findings.get(kind, {}).get("severity") == "look",
        }  # fmt: skip
        shown = f"{recall:.1%}" if lines[kind] else "-"
        share = f"{alarms / len(texts):.3%}"
        rows.append([name, f"{len(texts):,}", kind, str(len(lines[kind])), str(len(hit)), shown,
                     str(alarms), share])  # fmt: skip
        for case in good.findings.get(kind, {}).get("examples", ())[: given.show]:
            print(f"{name} {kind}: {case['source']} ||| {case['target']} ({case['detail']})")
    if third:
        mixed = mix(texts, third, draw)
        said = heard(mixed, languages).findings.get("mixed_languages")
        found["mixed_languages"] = said and said["title"]
        rows.append([name, f"{len(texts):,}", "mixed_languages", str(len(texts) // 10),
                     str(said["n"]) if said else "0", "said" if said else "not said",
                     str("mixed_languages" in good.findings), ""])  # fmt: skip
    return found


def heard(texts: Texts, languages: tuple[str, str]) -> Heard:
    """What the doctor says of some texts."""
    lines: dict[str, set[int]] = {}

    def hear(symptom: Symptom, pair: Pair, _detail: str) -> None:
        lines.setdefault(symptom.name, set()).add(pair.line)

    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"t.{language}" for language in languages]
        for n, file in enumerate(files):
            file.write_text("".join(f"{pair[n]}\n" for pair in texts), encoding="utf-8")
        corpus = Corpus((files[0],), (files[1],))
        cleaned = clean_corpus(
            corpus, NotedCleaning(deduplicate=False), Path(folder), hold_out=0, workers=1
        )
        start = perf_counter()
        found = examine(cleaned, *languages, Tools(detect), hear=hear)
        seconds = perf_counter() - start
    return Heard(lines, {one.name: one.as_dict() for one in found.findings}, seconds)


def damage(texts: Texts, draw: random.Random) -> tuple[Texts, dict[str, set[int]]]:
    """The same with damage, and the lines, from 1, of what was damaged in which way."""
    n = len(texts)
    free = draw.sample(range(n), n)
    shuffled, cut = (sorted(free.pop() for _ in range(int(n * share))) for share in (0.05, 0.03))
    lost = [row for row in free if _n_accents(texts[row][1]) >= 2][: n // 50]
    new = list(texts)
    targets = [texts[row][1] for row in shuffled]
    for row, target in zip(shuffled, targets[1:] + targets[:1], strict=True):
        new[row] = texts[row][0], target
    ways: list[tuple[list[int], Callable[[str, str], str]]] = [
        (cut, lambda _s, t: cut_off(t, draw.uniform(0.4, 0.7))),
        (lost, lambda _s, t: "".join("?" if _n_accents(c) else c for c in t)),
    ]
    for rows, way in ways:
        for row in rows:
            new[row] = texts[row][0], way(*texts[row])
    kinds = zip(KINDS, (shuffled, cut, lost), strict=True)
    return new, {kind: {row + 1 for row in rows if new[row] != texts[row]} for kind, rows in kinds}


def cut_off(target: str, part: float) -> str:
    """A part of its words, or of its characters."""
    pieces = target.split(" ") if target.count(" ") > 1 else list(target)
    joint = " " if target.count(" ") > 1 else ""
    return joint.join(pieces[: max(1, int(len(pieces) * part))])


def mix(texts: Texts, third: Texts, draw: random.Random) -> Texts:
    """A tenth of the targets in another language."""
    new = list(texts)
    for row in draw.sample(range(len(texts)), len(texts) // 10):
        new[row] = texts[row][0], third[row][1]
    return new


def _n_accents(text: str) -> int:
    return sum(
        "a" <= unicodedata.normalize("NFD", c)[0].lower() <= "z" for c in text if not c.isascii()
    )


def _read(data: Path, corpus: str, source: str, target: str) -> Texts:
    sides = []
    for language in (source, target):
        path = data / "mt" / corpus / f"train.{language}"
        raw = (
            path.read_bytes() if path.exists() else gzip.decompress(Path(f"{path}.gz").read_bytes())
        )
        sides.append([clean(line) for line in raw.decode("utf-8").split("\n")])
    return [pair for pair in zip(*sides, strict=True) if all(pair)]


if __name__ == "__main__":
    raise SystemExit(exit_status(main))
