"""Every "why" of the notes, measured: what is said of the Transformer, and whether that holds.

Trains and measures every question on text and letters that are generated here (about 25 minutes on
two cores), then writes docs/why.md, docs/why.zh-CN.md and their pictures; every verdict follows
from the figures. Each finished cell (one training, mostly) is kept in the cache: started again
after a kill, it goes on; --write-only writes the pages from what is there.
Run: make why, or: python benchmarks/why.py --only positions --only heads
"""

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import record
from whys.cells import Left, do_all
from whys.page import write_pages
from whys.question import Question
from whys.questions import QUESTIONS

from headway.corpora.cache_place import cache_root
from headway.operations.time_budget import seconds

DOCS = Path(__file__).parent.parent / "docs"


def chosen(names: Sequence[str]) -> list[Question]:
    """The questions of these names, in the order of the page; all of them without names."""
    return [question for question in QUESTIONS if not names or question.name in names]


def run(questions: Sequence[Question], asked: Namespace) -> int:
    """Measure what is missing, then write both pages from all that is there."""
    left = Left(failed=0, waiting=0)
    if not asked.write_only:
        cells = [
            cell for question in questions for some in question.cells.values() for cell in some
        ]
        left = do_all(
            cells,
            asked.cache,
            jobs=asked.jobs,
            threads=asked.threads,
            budget_s=seconds(asked.budget),
        )
    for page in write_pages(QUESTIONS, asked.cache, asked.docs):
        print(f"wrote {page}")
    if left.waiting:
        print(f"{left.waiting} cells are left: the same command goes on")
    if left.failed:
        cells = f"{left.failed} cell{'s' * (left.failed != 1)}"
        print(f"{cells} failed, for the reasons above", file=sys.stderr)
    return 1 if left.failed else 0


def main() -> int:
    """Ask, measure, write."""
    parser = record.parser(__doc__)
    names = [question.name for question in QUESTIONS]
    parser.add_argument("--only", action="append", default=[], choices=names, metavar="NAME")
    parser.add_argument("--budget", default="", metavar="TIME", help="such as 45m; then no more")
    parser.add_argument("--threads", type=int, default=1, help="of each process")
    parser.add_argument("--jobs", type=int, default=2, help="processes side by side")
    parser.add_argument("--cache", type=Path, default=cache_root() / "why", metavar="DIR")
    parser.add_argument("--docs", type=Path, default=DOCS, metavar="DIR", help="of the pages")
    parser.add_argument("--write-only", action="store_true", help="measure nothing")
    asked = parser.parse_args()
    return run(chosen(asked.only), asked)


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
