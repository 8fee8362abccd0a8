"""Does *it* know? How often heads and a probe of a translator pick what *it* stands for.

RUN is a run of `headway demo`, or any that learned its grammar. The sentences are the grammar's,
none of them in the demo's corpus. Heads are chosen, and ridge probes fitted, on as many other
sentences as are counted. Chance is 50 %: each of the two nouns is meant as often as the other.
Run: python benchmarks/pronouns.py RUN --sentences 600 --record FILE
"""

import argparse
from pathlib import Path

import record

from headway import Translator
from headway.commands.pronoun_report import lines, measured


def main() -> int:
    """Measure, print, and record."""
    options = record.parser(__doc__)
    options.add_argument("run", type=Path)
    options.add_argument("--sentences", type=int, default=600, metavar="N")
    options.add_argument("--seed", type=int, default=7)
    record.add_record_option(options)
    given: argparse.Namespace = options.parse_args()
    found = measured(Translator.load(given.run), given.sentences, given.seed)
    print("\n".join(lines(found)))
    record.write(given.record, "pronouns", seeds=[given.seed], figures=found)
    return 0


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
