"""What the length penalty that a training chose is worth on text that it never saw.

Each run searches several test sets, of its own domain and of others, and its validation set with
every penalty (a search each, no n-best list ranked anew). One row a run: mean BLEU over its test
sets under the penalty that the rules choose on validation, and under the best of all, which nobody
could know. What was found is kept in a file, and a second call goes on there.
Run: python benchmarks/length_penalty.py RUN.. --sets SETS.json --kept FILE --lines 300

SETS.json says by the name of each run folder {"valid": [source, reference], SET: [..], ..}, files.
"""

import json
from pathlib import Path
from typing import Any

import record

from headway import Translator
from headway.core.bleu import SentenceStatistics, bleu_statistics
from headway.core.lines import read_lines
from headway.metrics.evaluation import difference
from headway.translation.spec import LENGTH_PENALTIES, choose_length_penalty

PENALTIES = (0.6, 0.8, 1.0, 1.2, 1.4)
USUAL = 1.0


def lines(file: str, most: int) -> list[str]:
    """At most so many, evenly spaced."""
    found = [line or "" for line in read_lines(Path(file))]
    n = min(most, len(found))
    return [found[i * len(found) // n] for i in range(n)]


def old_rule(valid: dict[float, SentenceStatistics]) -> float:
    """The best of 0.6, 1.0 and 1.4, if it is significantly better (p < 0.025) than 1.0."""
    best = max((0.6, USUAL, 1.4), key=lambda one: valid[one].score())
    return best if difference(valid[USUAL], valid[best]).p_value < 0.025 else USUAL


def searched(run: Path, sets: dict[str, list[str]], kept: Path, asked: Any) -> dict[str, Any]:
    """Counts for BLEU of each set under each penalty."""
    outputs = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    translator = Translator.load(run)
    found: dict[str, Any] = {}
    for name, (source, reference) in sets.items():
        sources, references = (lines(file, asked.lines) for file in (source, reference))
        for penalty in PENALTIES:
            key = f"{run.name} {name} {penalty} {len(sources)}"
            if key not in outputs:
                outputs[key] = translator.translate(sources, length_penalty=penalty)
                kept.write_text(json.dumps(outputs, ensure_ascii=False), "utf-8")
            language = translator.target_language
            counts = bleu_statistics(outputs[key], references, target_language=language)
            found.setdefault(name, {})[penalty] = counts
        print(run.name, name, table_of(found[name]), flush=True)
    return found


def table_of(counts: dict[float, SentenceStatistics]) -> str:
    """BLEU, and how long the output is beside the references, under each penalty."""
    sums = {one: of.counts.sum(0) for one, of in counts.items()}
    return ", ".join(
        f"{one}: {of.score():.2f} (length {sums[one][0] / sums[one][1]:.2f})"
        for one, of in counts.items()
    )


def main() -> int:
    """Search, and print the table."""
    options = record.parser(__doc__)
    options.add_argument("runs", nargs="+", type=Path)
    options.add_argument("--sets", type=Path, required=True)
    options.add_argument("--kept", type=Path, required=True)
    options.add_argument("--lines", type=int, default=300, help="of each set, evenly spaced")
    asked = options.parse_args()
    sets, rows = json.loads(asked.sets.read_text("utf-8")), []
    for run in asked.runs:
        found = searched(run, sets[run.name], asked.kept, asked)
        valid = found.pop("valid")
        mean = {
            one: sum(of[one].score() for of in found.values()) / len(found) for one in PENALTIES
        }
        best = max(mean, key=mean.__getitem__)
        new, _ = choose_length_penalty({one: valid[one] for one in LENGTH_PENALTIES})
        chosen = [f"{one}: {mean[one]:.2f}" for one in (old_rule(valid), new, best)]
        rows.append([run.name, str(len(found)), *chosen])
    print(record.table(["run", "sets", "old rule", "new rule", "best fixed"], rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
