"""What one process does: lines of bytes to lines of bytes, with a run's translator."""

import os
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from headway.bulk.attempts import BlockOutput, BlockPart
from headway.core.disk import checksum
from headway.core.errors import RunError
from headway.core.lines import MAX_LINE_BYTES
from headway.core.runtime import EngineName, ProductPrecision
from headway.operations.shipped import open_folder
from headway.translator import Translator


class BulkSettings(NamedTuple):
    """All that decides what a line becomes; it can be sent to other machines."""

    run: str
    weights: str
    """Checksum of the run's model."""
    how: tuple[tuple[str, Any], ...]
    """Tag and settings of [decoding]."""
    engine: EngineName = "auto"
    precision: ProductPrecision = "fp32"
    codes: tuple[str, ...] = ()
    shortlist: int | None = None

    def search(self) -> dict[str, Any]:
        """What is the same wherever the run's folder lies."""
        codes = [checksum(Path(file)) for file in self.codes]
        others = {"engine": self.engine, "precision": self.precision, "shortlist": self.shortlist}
        return {**dict(self.how), **others, "codes": codes}

    @cache  # noqa: B019  (a process has one)
    def open(self) -> Translator:
        """The run, ready to translate; once a process.

        Raises:
            RunError: another run lies there.
        """
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        if (found := weights_of(self.run)) != self.weights:
            raise RunError(
                f"every machine needs the same run; {self.run} has other weights here "
                f"({found[:12]} and not {self.weights[:12]}). Copy it, or put it on a shared disk."
            )
        translator = Translator.load(
            self.run, codes=self.codes, engine=self.engine, precision=self.precision
        )
        if self.shortlist is not None:
            translator.shorten(self.run, self.shortlist)
        return translator


def weights_of(run: str) -> str:
    """What tells a run from another."""
    return checksum(open_folder(run).model)


def translated_part(
    translator: Translator, how: tuple[tuple[str, Any], ...], part: BlockPart
) -> BlockOutput:
    """The best translation of each line, as `headway translate` writes it; a line that is no UTF-8,
    or too long to be held, is left blank."""
    texts, blank = list[str](), list[tuple[int, str]]()
    for number, raw in enumerate(part.lines):
        text = ""
        if raw is None:
            blank.append((number, f"it has more than {MAX_LINE_BYTES:,} bytes"))
        else:
            try:
                text = raw.removesuffix(b"\r").decode("utf-8")
            except UnicodeDecodeError as error:
                blank.append((number, f"it is not UTF-8 (byte {error.start + 1})"))
        texts.append(text)
    found = translator.translate_fully(texts, want_scores=False, **dict(how))
    lines = (one.target.replace("\n", " ") + "\n" for one in found)
    return BlockOutput(
        "".join(lines).encode("utf-8"),
        len(texts),
        sum(one.n_cut > 0 for one in found),
        tuple(blank),
    )
