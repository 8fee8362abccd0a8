"""What `headway translate` does with text: lines in, translations out."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.commands.standard_input import LINES_AT_ONCE, typed_lines
from headway.commands.translations_json import as_json
from headway.config import build, parse_overrides
from headway.decoding.settings import DecodingSettings
from headway.disk import whole_text
from headway.text.lines import check_file, read_lines

if TYPE_CHECKING:
    from headway.tasks.translation.texts import Translation
    from headway.translator import Translator

FILLED_IN = (".po", ".pot", ".tmx", ".xlf", ".xliff", ".tsv", ".jsonl")
"""Kinds of files that hold both sides, and are not translated line by line."""


@dataclass(frozen=True)
class Options:
    """How to search, and what to write."""

    decoding: dict[str, Any] = field(default_factory=dict)
    tag: str | None = None
    scores: bool = False
    alignment: bool = False
    json: bool = False
    flags: Sequence[str] = ()
    """Any setting, as `--section.key VALUE`."""
    known_flags: Sequence[str] = ()
    """The command's other options, for a suggestion when one is misspelt."""


def kind_of(path: Path) -> str:
    """The suffix that says the kind of a file, in lower case and without `.gz`."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def ready(run: Path, options: Options) -> "tuple[Translator, dict[str, Any]]":
    """The run's translator, and how it is to translate: tag and settings of decoding."""
    from headway.runtime import RuntimeSettings, allow_tf32, chosen_device, set_threads
    from headway.translator import Translator

    flags = parse_overrides(options.flags, options=options.known_flags)
    runtime = build(RuntimeSettings, flags.get("runtime", {}), section="runtime")
    set_threads(runtime.threads)
    allow_tf32(chosen_device(runtime).type == "cuda")
    translator = Translator.load(run, device=runtime.device)
    tag = options.tag
    if tag is not None or translator.settings.data.tags:
        from headway.commands.tags import announced_tag

        tag = announced_tag(translator, tag)
    stored = asdict(translator.settings.decoding)
    wanted = {**stored, **options.decoding, **flags.get("decoding", {})}
    decoding = build(DecodingSettings, wanted, section="decoding")
    return translator, {"tag": tag, **asdict(decoding)}


def translate_lines(run: Path, file: Path | None, out: Path | None, options: Options) -> None:
    """Translate every line of `file` (or standard input) to `out` (or standard output)."""
    if file is not None:
        check_file(file)
    translator, how = ready(run, options)
    chunks = in_chunks(file) if file else typed_lines()
    collected: list[dict[str, Any]] = []
    n_cut = n_mended = 0
    with nullcontext(sys.stdout) if out is None else whole_text(out) as output:
        for chunk in chunks:
            translations = translator.translate_fully(
                chunk, want_alignment=options.alignment or options.json, **how
            )
            n_cut += sum(translation.n_cut > 0 for translation in translations)
            n_mended += sum(not translation.codes_complete for translation in translations)
            if options.json:
                collected += [as_json(translation) for translation in translations]
                continue
            for translation in translations:
                output.write(as_text(translation, options))
            output.flush()
        if options.json:
            json.dump({"translations": collected}, output, ensure_ascii=False)
            output.write("\n")
    tell_cut(n_cut, translator)
    if n_mended:
        print(
            f"codes of {n_mended} of the lines (tags, placeholders, ...) were put right: what the "
            "model had lost stands at the end, what it had invented is gone",
            file=sys.stderr,
        )


def tell_cut(n_cut: int, translator: "Translator") -> None:
    """Say how many lines were too long, if any was."""
    if n_cut:
        print(
            f"{n_cut} of the lines were longer than the {translator.longest} sub-words that the "
            "model was trained to read at most, and were cut at the end",
            file=sys.stderr,
        )


def in_chunks(file: Path) -> Iterator[list[str]]:
    """The file's lines, many at a time; an absurdly long one counts as blank."""
    lines = read_lines(file)
    while chunk := [line or "" for line in islice(lines, LINES_AT_ONCE)]:
        yield chunk


def as_text(translation: "Translation", options: Options) -> str:
    """One line for each translation; a blank line for a blank one."""
    if not translation.n_best:
        return "\n"
    lines = []
    for alternative in translation.n_best:
        cells = [alternative.target.replace("\n", " ")]
        if options.scores:
            cells.insert(0, f"{alternative.score:.4f}")
        if options.alignment:
            cells.append(" ".join(f"{source}-{target}" for source, target in alternative.alignment))
        lines.append("\t".join(cells) + "\n")
    return "".join(lines)
