"""One command from a teacher to a student: distillation (Kim and Rush 2016, section 3).

The student's pairs are texts and the teacher's best translations of them by its own search, in
place of references. By the paper they are easier to learn, as a teacher says like things alike. The
teacher may be an ensemble (Freitag et al. 2017).
"""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from headway.core.cleaning import Pair, Report, clean, clean_pairs
from headway.core.config import Sections, merge
from headway.core.disk import checksum, whole_text, write_text
from headway.core.errors import ConfigError, DataError, RunError
from headway.core.lines import read_lines
from headway.core.run_folder import RunFolder
from headway.corpora.corpus import read_pairs
from headway.metrics.corpus_scores import score_translations
from headway.operations.shipped import place_of
from headway.runs.loading import open_run
from headway.runs.task_spec import Request, Say
from headway.runs.train import train
from headway.translation import pairs
from headway.translation.run_data import missing, settings_of
from headway.translation.spec import SPEC
from headway.translator import Translator

BLOCK = 1024
"""Texts that are translated and put down at a time: what a kill may cost."""
_BLOCKS_SAID = 4
_COMPARED = 300
"""Validation sentences that both translate at the end."""
_HEADING = "## Teacher"


@dataclass(frozen=True)
class DistilledCorpus:
    """The folder of a student's run that the teacher's translations are put into."""

    folder: Path
    teacher: Path
    others: tuple[Path, ...] = ()
    """Further runs, which teach with it as an ensemble."""
    monolingual: tuple[Path, ...] = ()
    """Further files of source texts."""
    tag: str | None = None
    beam: int = 0
    """0: the teacher's own."""

    @property
    def plan(self) -> Path:
        """What was asked for, written first."""
        return self.folder / "plan.json"

    @cached_property
    def translator(self) -> Translator:
        return Translator.load([self.teacher, *self.others] if self.others else self.teacher)

    @cached_property
    def data(self) -> pairs.TranslationData:
        """What the teacher learned from."""
        return settings_of(RunFolder(self.teacher)).data

    @cached_property
    def gone(self) -> str:
        """Why the teacher's own text cannot be read, in words; nothing if it can."""
        return _no_texts(self.teacher)

    def begin(self) -> None:
        """Write down what is asked for.

        Raises RunError: something else was asked for when this was begun, or there is no text.
        """
        if self.gone and not self.monolingual:
            raise RunError(
                f"a student learns from what its teacher translates; {self.gone}. Give texts in "
                "its source language: --source FILE"
            )
        own = () if self.gone else self.data.corpus().files
        others = {str(run.absolute()): checksum(RunFolder(run).model) for run in self.others}
        asked = {
            "teacher": str(self.teacher.absolute()),
            "sha256": checksum(RunFolder(self.teacher).model),
            **({"others": others} if others else {}),
            "files": {str(path.absolute()): checksum(path) for path in (*own, *self.monolingual)},
            "tag": self.tag,
            "decoding": asdict(self.translator.decoding(self._search)),
        }
        if self.plan.exists() and self.known() != asked:
            raise RunError(
                f"a distillation goes on as it was begun; {self.plan} names another teacher, other "
                "texts or another search. Give the same again, or another --out."
            )
        write_text(self.plan, json.dumps(asked, indent=1, ensure_ascii=False))

    def write(self, say: Say) -> None:
        """Translate whatever is not yet there; the files are in `sections`.

        Raises ConfigError, DataError: a file cannot be read.
        """
        if self.file("train", "target").exists():
            return
        sources, valid = self._texts(say)
        begins = range(0, len(sources), BLOCK)
        say(f"the teacher translates {len(sources):,} texts")
        estimated = False
        for n, begin in enumerate(begins, start=1):
            new, started = not self._block(begin).exists(), time.perf_counter()
            self._translated(sources, begin)
            if new and not estimated and (n_left := len(begins) - n):
                minutes = n_left * (time.perf_counter() - started) / 60
                say(
                    f"the teacher needs about {minutes:.1f} min more, which no --budget counts: "
                    "that is the student's"
                )
                estimated = True
            if n % _BLOCKS_SAID == 0:
                done = min(begin + BLOCK, len(sources))
                say(f"{done:,} of {len(sources):,} texts are translated")
        for side, name in enumerate(("source", "target") if valid else ()):
            _write_lines(self.file("valid", name), [pair[side] for pair in valid])
        _write_lines(self.file("train", "source"), sources)
        blocks = (self._translated(sources, begin) for begin in begins)
        _write_lines(self.file("train", "target"), chain.from_iterable(blocks))  # now all is there
        for path in self.folder.glob("block-*"):
            path.unlink()

    def sections(self) -> Sections:
        data = self.data
        found: dict[str, Any] = {
            "source": [str(self.file("train", "source"))],
            "target": [str(self.file("train", "target"))],
            "source_language": data.source_language,
            "target_language": data.target_language,
        }
        if self.file("valid", "target").exists():
            found["valid_source"] = [str(self.file("valid", "source"))]
            found["valid_target"] = [str(self.file("valid", "target"))]
        elif not self.gone:
            found["valid_source"] = [str(path) for path in data.valid_source]
            found["valid_target"] = [str(path) for path in data.valid_target]
            found["valid_pairs"] = list(data.valid_pairs)
        return {"data": {key: value for key, value in found.items() if value}}

    def known(self) -> dict[str, Any]:
        return dict(json.loads(self.plan.read_text(encoding="utf-8")))

    def file(self, split: str, side: str) -> Path:
        """Where the texts of a side lie."""
        code = None if self.data.one_language else getattr(self.data, f"{side}_language")
        return (self.folder / f"{split}.{code or side}").absolute()

    @property
    def _search(self) -> dict[str, Any]:
        return {"beam": self.beam} if self.beam else {}

    def _texts(self, say: Say) -> tuple[list[str], Sequence[tuple[str, str]]]:
        """Each text once, in the order of the files, but for those that are validated on; and those
        pairs, where the teacher held some out and has no files of them."""
        found: dict[str, None] = {}
        valid: Sequence[tuple[str, str]] = ()
        if self.gone:
            say(f"only the files given are translated: {self.gone}")
        else:
            valid = self._held_out(self.teacher)
            found.update((pair.source, None) for pair in _usable(self.data))
        for file in self.monolingual:
            lines = (clean(line) for line in read_lines(file) if line is not None)
            found.update((line, None) for line in lines if line)
        held = {source for source, _ in valid}
        for other in self.others:
            if why := _no_texts(other):
                say(f"what {other} held out is not kept apart: {why}")
            else:
                held.update(source for source, _ in self._held_out(other))
        sources = [text for text in found if text not in held]
        if not sources:
            raise DataError("a teacher needs texts to translate; none was left. Give --source FILE")
        return sources, () if self.data.validation() else valid

    def _held_out(self, teacher: Path) -> Sequence[tuple[str, str]]:
        """The pairs that a teacher was validated on."""
        settings = settings_of(RunFolder(teacher))
        return pairs.read(settings, self.translator.subwords, lambda _: None).prepared.valid_texts

    def learned_of(self, teacher: Path, valid: Sequence[tuple[str, str]]) -> int:
        """How many of some pairs a teacher learned from, as far as its text is still there."""
        if _no_texts(teacher):
            return 0
        usable, asked = _usable(settings_of(RunFolder(teacher)).data), {*valid}
        return len({pair[:2] for pair in usable if pair[:2] in asked} - {*self._held_out(teacher)})

    def _block(self, begin: int) -> Path:
        """Where the translations of a block are put down."""
        return self.folder / f"block-{begin}.txt"

    def _translated(self, sources: Sequence[str], begin: int) -> list[str]:
        """The translations of a block: read where they are there, else made and put down."""
        block, path = sources[begin : begin + BLOCK], self._block(begin)
        if not path.exists():
            written = self.translator.translate(block, tag=self.tag, **self._search)
            _write_lines(path, map(clean, written))  # a line each, whatever it wrote
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]
        if len(lines) != len(block):
            raise DataError(f"{path} has not a line for each text. Delete it, and go on.")
        return lines


def _no_texts(teacher: Path) -> str:
    """Why what a run learned from cannot be translated, in words; nothing if it can."""
    folder = RunFolder(teacher)
    if not (why := missing(folder)) and (shards := settings_of(folder).data.prepared):
        return f"{teacher} learned from {shards}, which holds sub-words and no texts"
    return why


def _usable(data: pairs.TranslationData) -> Iterator[Pair]:
    """The pairs of a corpus that cleaning leaves, those that are held out of it among them."""
    report = Report()
    return clean_pairs(read_pairs(data.corpus(), report), data, report, data.judge)


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with whole_text(path) as file:
        file.writelines(f"{line}\n" for line in lines)


def distill(lessons: DistilledCorpus, request: Request, say: Say) -> RunFolder:
    """A finished student in `request.folder`, whose sections are all but its texts.

    What was begun there goes on with `request.resume`: the translations that are there stay.

    Raises UserError for what the user can put right, StoppedError after Ctrl-C or SIGTERM.
    """
    refuse_texts(request.sections)
    for one in (lessons.teacher, *lessons.others):  # before hours of work
        open_run(SPEC, one, device="cpu")
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


def teacher_words(lessons: DistilledCorpus, run: RunFolder, say: Say) -> str:
    """For the card: who taught it, on what, and what was lost by it."""
    plan = lessons.known()
    with lessons.file("train", "source").open("rb") as file:
        n_texts = sum(1 for _ in file)
    files = "\n".join(f"- `{name}` (sha256 {sum_})" for name, sum_ in plan["files"].items())
    student = Translator.load(run.path)
    valid = pairs.read(student.settings, student.subwords, lambda _: None).prepared.valid_texts
    some = valid[:_COMPARED]
    sources, references = [source for source, _ in some], [target for _, target in some]
    bleu, seconds = list[float](), list[float]()
    for one, tag in ((lessons.translator, lessons.tag), (student, None)):
        started = time.perf_counter()
        written = one.translate(sources, tag=tag)
        seconds.append(time.perf_counter() - started)
        scores = score_translations(written, references, target_language=one.target_language)
        bleu.append(scores.bleu.score)
    what = "the teacher's own translations, so that scores are of likeness to it"
    if student.settings.data.validation():
        what = "real translations"
    said = (
        f"on {len(some):,} validation sentences BLEU {bleu[1]:.2f}, the teacher's {bleu[0]:.2f}; "
        f"{seconds[0] / seconds[1]:.1f} times as fast here, each by its own search"
    )
    for teacher in (lessons.teacher, *lessons.others):
        if n := lessons.learned_of(teacher, some):
            said += (
                f"; {n:,} of them are among what {teacher} learned from: the teacher's is too high"
            )
    say(f"{said}; the references are {what}")
    others = "".join(
        f"\nand `{name}` (sha256 {sum_})" for name, sum_ in plan.get("others", {}).items()
    )
    return f"""{_HEADING}

It learned from what `{plan["teacher"]}` (sha256 {plan["sha256"]}){others} wrote for
{n_texts:,} texts with {plan["decoding"]["method"]} search (beam
{plan["decoding"]["beam"]}), not from references (Kim and Rush 2016).
The validation references are {what}:
{said}.

{files}
"""


def lessons_for(
    teachers: Sequence[Path], out: Path, monolingual: Sequence[Path], tag: str | None, beam: int
) -> DistilledCorpus:
    """The lessons of a student in `out`."""
    teacher, *others = map(place_of, teachers)
    return DistilledCorpus(out / "taught", teacher, tuple(others), tuple(monolingual), tag, beam)
