"""What a teacher writes for a student: sequence-level distillation (Kim and Rush 2016, section 3).

The student's pairs are texts and the teacher's best translations of them by its own search, in
place of references. By the paper they are easier to learn, as a teacher says like things alike.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from headway.core.cleaning import Report, clean, clean_pairs
from headway.core.config import Sections
from headway.core.disk import checksum, whole_text, write_text
from headway.core.errors import DataError, RunError
from headway.core.lines import read_lines
from headway.core.run_folder import RunFolder
from headway.corpora.corpus import read_pairs
from headway.runs.task_spec import Say
from headway.translation import pairs
from headway.translation.tuning_data import missing
from headway.translator import Translator

BLOCK = 1024
"""Texts that are translated and put down at a time: what a kill may cost."""
_BLOCKS_SAID = 4


class LessonTexts(NamedTuple):
    """What is to be translated, and real pairs to validate on."""

    sources: list[str]
    valid: Sequence[tuple[str, str]]
    """Held out by the teacher; none where its text is gone, or where it has files for them."""


@dataclass(frozen=True)
class Lessons:
    """The folder of a student's run that the teacher's translations are put into."""

    folder: Path
    teacher: Path
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
        return Translator.load(self.teacher)

    @cached_property
    def gone(self) -> str:
        """Why the teacher's own text cannot be read, in words; nothing if it can."""
        return missing(RunFolder(self.teacher))

    def begin(self) -> None:
        """Write down what is asked for.

        Raises:
            RunError: something else was asked for when this was begun, or there is no text.
        """
        if self.gone and not self.monolingual:
            raise RunError(
                f"a student learns from what its teacher translates; {self.gone}. Give texts in "
                "its source language: --source FILE"
            )
        own = () if self.gone else self.translator.settings.data.corpus().files
        asked = {
            "teacher": str(self.teacher.absolute()),
            "sha256": checksum(RunFolder(self.teacher).model),
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

        Raises:
            ConfigError, DataError: a file cannot be read.
        """
        if self.file("train", "target").exists():
            return
        texts = self._texts(say)
        say(f"the teacher translates {len(texts.sources):,} texts")
        for begin in range(0, len(texts.sources), BLOCK):
            self._translated(texts.sources, begin)
            self._say_progress(begin, texts.sources, say)
        if texts.valid:
            for side, name in enumerate(("source", "target")):
                _write_lines(self.file("valid", name), [pair[side] for pair in texts.valid])
        _write_lines(self.file("train", "source"), texts.sources)
        blocks = (
            self._translated(texts.sources, begin) for begin in range(0, len(texts.sources), BLOCK)
        )
        _write_lines(self.file("train", "target"), chain.from_iterable(blocks))  # now all is there
        for path in self.folder.glob("block-*"):
            path.unlink()

    def sections(self) -> Sections:
        data = self.translator.settings.data
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
        code = getattr(self.translator.settings.data, f"{side}_language") or side
        return (self.folder / f"{split}.{code}").absolute()

    @property
    def _search(self) -> dict[str, Any]:
        return {"beam": self.beam} if self.beam else {}

    def _texts(self, say: Say) -> LessonTexts:
        """Each text once, in the order of the files, but for those that are validated on."""
        settings, vocabulary = self.translator.settings, self.translator.subwords
        found: dict[str, None] = {}
        valid = list[tuple[str, str]]()
        if self.gone:
            say(f"only the files given are translated: {self.gone}")
        else:
            valid = pairs.read(settings, vocabulary, lambda _: None).prepared.valid_texts
            report = Report()
            read = read_pairs(settings.data.corpus(), report)
            cleaned = clean_pairs(read, settings.data, report, settings.data.judge)
            found.update((pair.source, None) for pair in cleaned)
        for file in self.monolingual:
            lines = (clean(line) for line in read_lines(file) if line is not None)
            found.update((line, None) for line in lines if line)
        held = {source for source, _ in valid}
        sources = [text for text in found if text not in held]
        if not sources:
            raise DataError("a teacher needs texts to translate; none was left. Give --source FILE")
        return LessonTexts(sources, () if settings.data.validation() else valid)

    def _translated(self, sources: Sequence[str], begin: int) -> list[str]:
        """The translations of a block: read where they are there, else made and put down."""
        block, path = sources[begin : begin + BLOCK], self.folder / f"block-{begin}.txt"
        if not path.exists():
            written = self.translator.translate(block, tag=self.tag, **self._search)
            _write_lines(path, map(clean, written))  # a line each, whatever it wrote
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]
        if len(lines) != len(block):
            raise DataError(f"{path} has not a line for each text. Delete it, and go on.")
        return lines

    def _say_progress(self, begin: int, sources: Sequence[str], say: Say) -> None:
        if begin // BLOCK % _BLOCKS_SAID == _BLOCKS_SAID - 1:
            done = min(begin + BLOCK, len(sources))
            say(f"{done:,} of {len(sources):,} texts are translated")


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with whole_text(path) as file:
        file.writelines(f"{line}\n" for line in lines)
