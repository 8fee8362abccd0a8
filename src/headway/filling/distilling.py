"""One command from a teacher to a student: it writes, the student learns, and both are compared."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from headway.core.config import Sections, merge
from headway.core.errors import ConfigError, RunError
from headway.core.run_folder import RunFolder
from headway.filling.lessons import Lessons
from headway.metrics.corpus_scores import score_translations
from headway.runs.loading import open_run
from headway.runs.task_spec import Request, Say
from headway.runs.train import train
from headway.translation import pairs
from headway.translation.spec import SPEC
from headway.translator import Translator

_COMPARED = 300
"""Validation sentences that both translate at the end."""
_ROUNDS = 3
"""In turn; the quickest of each counts, as a machine may be busy."""
_HEADING = "## Teacher"


class ModelCost(NamedTuple):
    """How one of the two does on the validation sentences."""

    bleu: float
    seconds: float


def distill(lessons: Lessons, request: Request, say: Say) -> RunFolder:
    """A finished student in `request.folder`, whose sections are all but its texts.

    What was begun there goes on with `request.resume`: the translations that are there stay.

    Raises UserError for what the user can put right, StoppedError after Ctrl-C or SIGTERM.
    """
    refuse_texts(request.sections)
    open_run(SPEC, lessons.teacher, device="cpu")  # before hours of work
    folder = request.folder
    if not folder.config.exists():
        folder.refuse_taken()
        if lessons.folder.exists() and not request.resume:
            raise RunError(
                f"{folder.path} already holds a distillation. Go on with it by --resume, or "
                "give another folder to --out."
            )
        lessons.begin()
        lessons.write(say)
    elif lessons.plan.exists():
        lessons.begin()
    else:
        raise RunError(
            f"{folder.path} holds a run that was not taught. Give another folder to --out."
        )
    run = train(SPEC, replace(request, sections=merge(lessons.sections(), request.sections)), say)
    text = run.card.read_text(encoding="utf-8") if run.card.exists() else ""
    if _HEADING not in text:
        run.write_card(f"{text}\n{teacher_words(lessons, run, say)}")
    return run


def refuse_texts(sections: Sections) -> None:
    """Raise ConfigError where the student's pairs are named: the teacher writes them."""
    for key in ("source", "target", "pairs"):
        if sections.get("data", {}).get(key):
            raise ConfigError(
                f"a student's pairs are what its teacher writes; got data.{key}. Leave it out; "
                "further texts for the teacher are --source FILE."
            )
    if sections.get("training", {}).get("init_from"):
        raise ConfigError("a student begins anew, with sizes of its own. Leave --init-from out.")


def teacher_words(lessons: Lessons, run: RunFolder, say: Say) -> str:
    """For the card: who taught it, on what, and what was lost by it."""
    plan = lessons.known()
    with lessons.file("train", "source").open("rb") as file:
        n_texts = sum(1 for _ in file)
    files = "\n".join(f"- `{name}` (sha256 {sum_})" for name, sum_ in plan["files"].items())
    student = Translator.load(run.path)
    valid = pairs.read(student.settings, student.subwords, lambda _: None).prepared.valid_texts
    some = valid[:_COMPARED]
    before, after = list[ModelCost](), list[ModelCost]()
    for _ in range(_ROUNDS):
        before.append(measured(lessons.translator, some, lessons.tag))
        after.append(measured(student, some, None))
    what = "the teacher's own translations, so that scores are of likeness to it"
    if student.settings.data.validation():
        what = "real translations"
    speed = min(side.seconds for side in before) / min(side.seconds for side in after)
    said = (
        f"on {len(some):,} validation sentences BLEU {after[0].bleu:.2f}, the teacher's "
        f"{before[0].bleu:.2f}; {speed:.1f} times as fast here, each by its own search"
    )
    say(f"{said}; the references are {what}")
    return f"""{_HEADING}

It learned from what `{plan["teacher"]}` (sha256 {plan["sha256"]}) wrote for
{n_texts:,} texts with {plan["decoding"]["method"]} search (beam
{plan["decoding"]["beam"]}), not from references (Kim and Rush 2016).
The validation references are {what}:
{said}.

{files}
"""


def measured(
    translator: Translator, valid: Sequence[tuple[str, str]], tag: str | None
) -> ModelCost:
    """BLEU and time of a run's own search on some pairs."""
    sources, references = [source for source, _ in valid], [target for _, target in valid]
    started = time.perf_counter()
    written = translator.translate(sources, tag=tag)
    seconds = time.perf_counter() - started
    language = translator.target_language
    return ModelCost(
        score_translations(written, references, target_language=language).bleu.score, seconds
    )


def lessons_for(
    teacher: Path, out: Path, monolingual: Sequence[Path], tag: str | None, beam: int
) -> Lessons:
    """The lessons of a student in `out`."""
    return Lessons(out / "taught", teacher, tuple(monolingual), tag, beam)
