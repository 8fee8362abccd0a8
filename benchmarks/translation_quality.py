"""Translation quality: what does `headway train` reach on public data with nothing but a budget?

Trains as `headway train --source .. --target .. --valid-source .. --valid-target .. --budget ..`
does with no other setting (or only scores a finished run), then scores the test sets with beam 5,
and with the run's own search where that differs: cased sacreBLEU with signature and 95 % interval,
chrF, and for Multi30k the lower-cased Moses-tokenized BLEU of the papers. Twenty translations, at
the same places of the test set every time, go into a Markdown file beside the record.
Run: python benchmarks/translation_quality.py --data DIR --corpus multi30k-en-de --budget 60m
     --seed 1 --out RUN --record FILE
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import record
import runs

from headway import Translator

SHOWN = 20


def flags(asked: argparse.Namespace) -> list[str]:
    """What `headway train` is told besides its files."""
    told = {
        "--budget": asked.budget,
        "--seed": asked.seed,
        "--training.max-steps": asked.max_steps,
        "--training.checkpoint-every": asked.checkpoint_every,
    }
    given = [str(part) for item in told.items() if item[1] is not None for part in item]
    return [*given, *asked.settings]


def score_run(
    corpus: runs.Corpus, data: Path, run: Path
) -> tuple[list[runs.TestScores], list[tuple[str, str, str]]]:
    """Scores of every test set, and source, reference, output of some lines of the first."""
    translator = Translator.load(run)
    rows: list[runs.TestScores] = []
    shown: list[tuple[str, str, str]] = []
    for test in corpus.tests:
        sources, references = corpus.lines(data, test)
        for name, search in runs.decodings(translator.settings.decoding).items():
            output = runs.translate(translator, sources, search)
            rows.append(runs.score(corpus, test, references, output, name))
            if not shown:
                places = [i * len(sources) // SHOWN for i in range(SHOWN)]
                shown = [(sources[i], references[i], output[i]) for i in places]
    return rows, shown


def scores_table(rows: Sequence[runs.TestScores]) -> str:
    """The figures for people."""
    header = ["test set", "search", "BLEU (95 % interval)", "chrF", "lower-cased Moses BLEU"]
    cells = [
        [
            row.test,
            row.decoding,
            f"{row.bleu['score']:.2f} ({row.bleu['low']:.2f} to {row.bleu['high']:.2f})",
            f"{row.chrf['score']:.2f}",
            "-" if row.moses_bleu is None else f"{row.moses_bleu:.2f}",
        ]
        for row in rows
    ]
    signatures = [row.bleu["signature"] for row in rows[:1]] + [rows[0].chrf["signature"]]
    return record.table(header, cells) + "\n\n" + "\n".join(f"`{name}`" for name in signatures)


def page(
    name: str,
    of_run: dict[str, Any],
    rows: Sequence[runs.TestScores],
    shown: Sequence[tuple[str, str, str]],
) -> str:
    """The Markdown file: scores, then translations as they came out."""
    cells = [[text.strip().replace("|", "\\|") for text in line] for line in shown]
    return f"""# {name}, seed {of_run["seed"]}: scores and {len(shown)} translations

{of_run["updates"]:,} updates in {of_run["training_s"] / 60:.1f} minutes. The translations are of
{len(shown)} evenly spaced lines of {rows[0].test}, {rows[0].decoding}; none was chosen.

{scores_table(rows)}

{record.table(["source", "reference", "output"], cells)}
"""


def main() -> int:
    """Train unless told not to, score, print, record."""
    parser = record.parser(__doc__)
    record.add_data_option(parser)
    parser.add_argument("--corpus", choices=runs.CORPORA, required=True)
    run = parser.add_mutually_exclusive_group(required=True)
    run.add_argument("--out", type=Path, metavar="RUN", help="train there; goes on if interrupted")
    run.add_argument("--score-only", type=Path, metavar="RUN", help="score this run, train nothing")
    parser.add_argument("--budget", help="time for all of training, such as 60m")
    parser.add_argument("--seed", type=int, help="of the training; default: headway's own")
    parser.add_argument(
        "--max-steps", type=int, metavar="N", help="this many updates, as an earlier run made"
    )
    parser.add_argument(
        "--checkpoint-every", type=int, metavar="N", help="between validations, as it did"
    )
    record.add_record_option(parser, required=True)
    parser.add_argument(
        "--settings",
        nargs=argparse.REMAINDER,
        default=[],
        help="all that follows goes to headway train, such as --model.dropout 0.2",
    )
    asked = parser.parse_args()
    corpus = runs.CORPORA[asked.corpus]
    folder: Path = asked.score_only or asked.out
    if asked.score_only is None:
        runs.train(corpus, asked.data, folder, flags(asked))
    rows, shown = score_run(corpus, asked.data, folder)
    of_run = runs.facts(folder)
    print(f"\n{asked.corpus}, seed {of_run['seed']}, {of_run['updates']:,} updates, "
          f"{of_run['training_s'] / 60:.1f} min, {of_run['updating_s'] / 60:.1f} of them updates"
          f"\n\n{scores_table(rows)}\n")  # fmt: skip
    translations: Path = asked.record.with_name(f"{asked.corpus}.{folder.resolve().name}.md")
    figures = {"corpus": asked.corpus, **of_run, "scores": [asdict(row) for row in rows]}
    record.write(asked.record, "translation_quality", seeds=[of_run["seed"]], figures=figures)
    translations.write_text(page(asked.corpus, of_run, rows, shown), encoding="utf-8")
    print(f"translations in {translations}")
    return 0


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
