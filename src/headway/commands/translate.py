"""`headway translate`: text in, translations out; a translation file is filled in."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from headway.commands.arguments import Several, Unread, apart, option_names, plain, ready, say
from headway.commands.standard_input import typed_lines
from headway.commands.translate_messages import tell_cut, tell_mended, tell_terms
from headway.commands.translations_json import as_json
from headway.disk import whole_text
from headway.locks import only_writer_of_file
from headway.text.lines import check_file, in_chunks, read_lines

if TYPE_CHECKING:
    from headway.tasks.translation.texts import Translation
    from headway.translator import Translator

MOST_TOLD = 3
"""Doubtful lines of which it is said why, where nobody types them."""


def translate(
    run: Path | None = None,
    /,
    *file: Unread,
    out: Path | None = None,
    beam: int | None = None,
    n_best: int | None = None,
    method: str | None = None,
    shortlist: int | None = None,
    begin_with: str = "",
    tag: str | None = None,
    scores: bool = False,
    alignment: bool = False,
    json: bool = False,
    overwrite: bool = False,
    in_place: bool = False,
    keep_going: bool = False,
    as_: Literal["text"] | None = None,
    onto: Path | None = None,
    memory: Several = (),
    fuzzy_from: int | None = None,
    no_own_memory: bool = False,
    glossary: Several = (),
    codes: Several = (),
    report: Path | None = None,
    leave_below: float | None = None,
    precision: str | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
) -> int | None:
    """Translate a file, or standard input, with a trained run.

    N lines in, N lines out, in order; a blank line stays blank; a line longer than the model was
    trained on is cut at its end, and that is counted on stderr.

    A translation file (.po, .json, ..: docs/files.md, also .gz) comes out as the same kind of file:
    what was empty is filled in, every other byte is as it was. Several files, a folder or a pattern
    in quotes ('po/**/*.po') go to the folder --out, as the same tree, or stay --in-place.

    Parameters
    ----------
    run
        The run folder; left out, files are filled in from --memory alone.
    file
        Text to translate, one sentence a line (.gz too), or translation files; standard input if
        left out. Beside it, settings of [decoding] and [runtime]: --decoding.length-penalty 1.
    out
        Where translations go, a file (.gz too) or a folder; standard output if left out.
    beam
        Hypotheses kept by beam search; 1 is greedy.
    n_best
        Translations per line, best first, each on its own line.
    method
        beam, greedy or sampling.
    shortlist
        Write only from so many likely translations of each source sub-word (100): faster; refused
        where that costs more than 0.3 BLEU on the run's validation pairs.
    begin_with
        What each line's translation begins with: words that are typed already.
    tag
        Which of the run's tags stands before each text; else none, or the one that all texts had.
    scores
        Put each translation's score and a tab in front of it; of translation files, a table.
    alignment
        Put a tab and source-target pairs of sub-words ("0-0 1-2") behind it.
    json
        One object on stdout with tokens, scores, alignments and n-best lists.
    overwrite
        In a translation file, translate everything anew, also what is there already.
    in_place
        Results take the place of their files.
    keep_going
        Leave out files that cannot be translated, list them, and end with status 3.
    as_
        text: read the file line by line, whatever its name says.
    onto
        The target file that a file of one language (.json, ..) has: what it lacks is translated.
    memory
        Files with earlier translations: what is in them is not translated again.
    fuzzy_from
        Take a near match of so many percent (85) instead of the model's translation.
    no_own_memory
        Look up neither what the files hold already nor what the run was trained on.
    glossary
        Terms that are to hold: .tsv, .csv or .tbx; instead of those of the run, if it has some
        (train --glossary). none for no terms.
    codes
        Your own patterns of codes, a regular expression a line, besides those of the run.
    report
        What a person should look at: F.html, F.tsv or F.json.
    leave_below
        Leave empty what is less sure than this (0.4).
    precision
        Of the compiled engine's products: auto, fp32, bf16 or int8 (docs/speed.md).
    source_language
        Which language of a translation file is translated; the run's if left out.
    target_language
        Which one is filled in; the run's if left out.
    """
    named, flags = apart(file)
    flags += ("--runtime.precision", precision) if precision else ()
    given = {"beam": beam, "n_best": n_best, "method": method}
    how = {key: value for key, value in given.items() if value is not None}
    load = partial(
        ready,
        run or Path(),
        tag,
        how,
        flags,
        option_names(translate, ("decoding", "runtime")),
        codes,
        shortlist,
    )
    if not named and (out or memory or glossary or codes):
        from headway.commands.translate_options import read_standard_input

        read_standard_input(run, out, memory, glossary, codes)
    beyond = (overwrite, in_place, memory, fuzzy_from, glossary, report, leave_below, no_own_memory,
              onto, as_, keep_going, (source_language, target_language))  # fmt: skip
    if run is None or any(beyond[:-1]) or any(beyond[-1]) or not plain(named):
        from headway.commands.filling import Told
        from headway.commands.translate_options import TranslateOptions, translate_with_options

        told = Told(json, scores, n_best is not None, alignment)
        return translate_with_options(
            run, named, out, TranslateOptions(*beyond, codes, begin_with), told, load
        )
    text = Path(named[0]) if named else None
    translate_lines(text, out, load, begin_with, scores=scores, alignment=alignment, json=json)
    return None


def translate_lines(
    file: Path | None,
    out: Path | None,
    load: "Callable[[], tuple[Translator, dict[str, Any]]]",
    begin_with: str,
    *,
    scores: bool,
    alignment: bool,
    json: bool,
) -> None:
    """Translate every line of `file` (or standard input) to `out` (or standard output)."""
    if file is not None:
        check_file(file)
        if out is not None and out.exists() and out.samefile(file):
            from headway.workflow.inputs import replaced

            raise replaced(file)
    collected: list[dict[str, Any]] = []
    n_cut = n_mended = n_lines = 0
    doubtful: list[int] = []
    with ExitStack() as opened:
        opened.enter_context(only_writer_of_file(out, say))
        translator, how = load()
        if alignment and not json:
            from headway.tasks.translation.attention import refuse_unaligned

            refuse_unaligned(translator.plain)
        if translator.own_terms is not None and not begin_with:
            tell_terms(translator.own_terms)
        output = sys.stdout if out is None else opened.enter_context(whole_text(out))
        for chunk in in_chunks(read_lines(file)) if file else typed_lines():
            begun = (begin_with,) * len(chunk) if begin_with else ()
            translations = translator.translate_fully(
                chunk, want_alignment=alignment or json, prefixes=begun, **how
            )
            n_cut += sum(translation.n_cut > 0 for translation in translations)
            n_mended += sum(not translation.codes_complete for translation in translations)
            verdicts = list(map(translator.judged, translations))
            odd = {n: one.flags[0].why for n, one in enumerate(verdicts, n_lines + 1) if one.flags}
            doubtful += odd
            n_lines += len(chunk)
            if json:
                collected += map(as_json, translations, verdicts)
                continue
            for translation in translations:
                output.write(as_text(translation, scores=scores, alignment=alignment))
            output.flush()
            if len(doubtful) <= MOST_TOLD or (file is None and sys.stdin.isatty()):
                for n, why in odd.items():
                    say(f"line {n} looks doubtful: {why}")
        if json:
            output.write(dumps({"translations": collected}, ensure_ascii=False) + "\n")
    if len(doubtful) > MOST_TOLD or (doubtful and json):
        some = ", ".join(map(str, doubtful[:5])) + ", .." * (len(doubtful) > 5)
        say(f"{len(doubtful)} of {n_lines} lines look doubtful ({some}): --json says why")
    if n_cut or n_mended:
        tell_cut(n_cut, translator)
        tell_mended(n_mended)


def as_text(translation: "Translation", *, scores: bool, alignment: bool) -> str:
    """One line for each translation; a blank line for a blank one."""
    if not translation.n_best:
        return "\n"
    lines = []
    for alternative in translation.n_best:
        cells = [alternative.target.replace("\n", " ")]
        if scores:
            cells.insert(0, f"{alternative.score:.4f}")
        if alignment:
            cells.append(" ".join(f"{source}-{target}" for source, target in alternative.alignment))
        lines.append("\t".join(cells) + "\n")
    return "".join(lines)
