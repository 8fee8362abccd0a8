"""Reading comprehension as classification: questions about made-up stories, of the kind of bAbI.

    python benchmarks/stories.py [--stories 6000] [--budget 2m] [--seeds 1 2] [--record FILE]

Persons go to places, and take and drop things. A question is asked of each story: where a person is
(one sentence decides, bAbI's first task), or where a thing is (two do, its second: who had it last,
and where they then were). `headway train --task classification` gets the question and the story as
the text, the place as the label: a model of each type, default flags but for the budget. Right
answers on 400 new stories, beside those of the place that is named last.
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import record

PERSONS = "Mary John Sandra Daniel".split()
PLACES = "kitchen garden hallway office bedroom bathroom".split()
THINGS = "ball book apple".split()
N_TEST = 400
TYPES = ("bag", "transformer")


class Asked(NamedTuple):
    """A story with a question, and what is right."""

    text: str
    answer: str
    n_facts: int
    """Sentences that decide: 1 or 2."""
    last_place: str


def story(rng: random.Random) -> Asked:
    """One of 4 to 8 sentences, of which the question can be answered."""
    while True:
        place, held, lies = dict[str, str](), dict[str, str](), dict[str, str]()
        said = []
        for _ in range(rng.randint(4, 8)):
            person = rng.choice(PERSONS)
            own = [thing for thing, who in held.items() if who == person]
            free = [thing for thing in THINGS if thing not in held]
            if person not in place or rng.random() < 0.5:
                place[person] = last = rng.choice(PLACES)
                said.append(f"{person} went to the {last}.")
            elif own and rng.random() < 0.5:
                lies[own[0]] = place[held.pop(own[0])]
                said.append(f"{person} dropped the {own[0]}.")
            elif free:
                thing = rng.choice(free)
                held[thing] = person
                said.append(f"{person} took the {thing}.")
        where = {thing: place[who] for thing, who in held.items()} | {
            thing: at for thing, at in lies.items() if thing not in held
        }
        about_thing = rng.random() < 0.5
        if about_thing and not where:
            continue
        asked = rng.choice([*where]) if about_thing else rng.choice([*place])
        question = f"Where is the {asked}?" if about_thing else f"Where is {asked}?"
        answer = where[asked] if about_thing else place[asked]
        return Asked(f"{question} {' '.join(said)}", answer, 1 + about_thing, last)


def share(right: list[bool]) -> str:
    """In percent, with how many there are."""
    return f"{100 * sum(right) / len(right):.1f} of {len(right)}"


def answered(n_stories: int, budget: str, seed: int) -> dict[str, str]:
    """Train on stories, and answer new ones."""
    rng = random.Random(seed)
    found = {one.text: one for one in (story(rng) for _ in range(n_stories + 2 * N_TEST))}
    told = [*found.values()]
    test, learned = told[:N_TEST], told[N_TEST:]
    groups = {n: [i for i, one in enumerate(test) if one.n_facts == n] for n in (1, 2)}
    rows = {
        f"the place that is named last, {n}": share(
            [test[i].last_place == test[i].answer for i in g]
        )
        for n, g in groups.items()
    }
    with tempfile.TemporaryDirectory() as temporary:
        corpus, asked = Path(temporary, "train.tsv"), Path(temporary, "asked.txt")
        lines = (f"{one.answer}\t{one.text}\n" for one in learned)
        corpus.write_text("".join(lines), encoding="utf-8")
        asked.write_text("".join(f"{one.text}\n" for one in test), encoding="utf-8")
        for kind in TYPES:
            out, headway = str(Path(temporary, kind)), [sys.executable, "-m", "headway"]
            flags = ["--model.type", kind, "--runtime.seed", str(seed), "--budget", budget]
            files = ["--task", "classification", "--corpus", str(corpus), "--out", out]
            subprocess.run([*headway, "train", *files, *flags], check=True)
            predict = [*headway, "predict", out, str(asked), "--json"]
            done = subprocess.run(predict, check=True, capture_output=True, text=True)
            written = [one["label"] for one in json.loads(done.stdout)["predictions"]]
            for n, group in groups.items():
                right = share([written[i] == test[i].answer for i in group])
                rows[f"{kind}, {n}"] = right
    return rows


def main() -> int:
    """Print a row for each model and number of sentences that decide."""
    options = record.parser(__doc__)
    options.add_argument("--stories", type=int, default=6000)
    options.add_argument("--budget", default="2m")
    options.add_argument("--seeds", type=int, nargs="+", default=[1])
    record.add_record_option(options)
    told = options.parse_args()
    rows = {seed: answered(told.stories, told.budget, seed) for seed in told.seeds}
    print(f"| what, sentences that decide | {' | '.join(f'seed {seed}' for seed in rows)} |")
    print(f"|---|{'---|' * len(rows)}")
    for name in next(iter(rows.values())):
        print(f"| {name} | {' | '.join(of[name] for of in rows.values())} |")
    record.write(told.record, "stories", seeds=told.seeds, figures={"rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
