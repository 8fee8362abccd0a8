"""`headway translate`: text in, translations out; a translation file is filled in."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from headway.commands.arguments import Unread, apart, given, option_names, plain, ready, say
from headway.commands.lines import chunks_of
from headway.commands.translate_options import BEYOND_A_MODEL, TranslateOptions
from headway.core.disk import whole_text
from headway.core.lines import check_file
from headway.operations.locks import only_writer_of_file

if TYPE_CHECKING:
    from headway.translation.detailed import Translation
    from headway.translator import Translator

MOST_TOLD = 3  # doubtful lines of which it is said why, where nobody types them

NOTHING_TOLD = TranslateOptions()


def translate(
    run: Path | None = None,
    /,
    *file: Unread,
    told: Annotated[TranslateOptions, Parameter(name="*")] = NOTHING_TOLD,
) -> int | None:
    """Translate a file, or standard input, with a trained run, or with several as an ensemble.

    N lines in, N lines out, in order; a blank line stays blank; a line longer than the model was
    trained on is cut at its end, and that is counted on stderr.

    A translation file (.po, .json, ..: docs/files.md, also .gz) comes out as the same kind of file:
    what was empty is filled in, every other byte is as it was. Several files, a folder or a pattern
    in quotes ('po/**/*.po') go to the folder --out, as the same tree, or stay --in-place.

    Parameters
    ----------
    run
        The run folder; left out, files are filled in from --memory alone. Further folders of runs
        may follow: each token has the mean of their probabilities. Those of another vocabulary
        search by themselves, and all score what is found.
    file
        Text to translate, one sentence a line (.gz too), or translation files; standard input if
        left out. Beside it, settings of [decoding] and [runtime]: --decoding.length-penalty 1.
    """
    named, flags = apart(file)
    flags += ("--runtime.precision", told.precision) if told.precision else ()
    wanted = {"beam": told.beam, "n_best": told.n_best, "method": told.method}
    how = {key: value for key, value in wanted.items() if value is not None}
    names = option_names(translate, ("decoding", "runtime"))
    load: Any = partial(
        ready, run or Path(), told.tag, how, flags, names, told.codes, told.shortlist
    )
    if run and (told.mbr is not None or (named and not Path(named[0]).is_file())):
        from headway.commands.many_models import of_many  # a side room

        load, named = of_many(run, named, told, load)
    a_document = told.out is not None and not plain([str(told.out)])
    if a_document or (not named and (told.memory or told.glossary or told.codes)):
        from headway.commands.translate_documents import check_lines

        check_lines(run, named, told)
    if run is None or given(told, *BEYOND_A_MODEL) or not plain(named):
        from headway.commands.translate_documents import translate_beyond_lines

        return translate_beyond_lines(run, named, told, load)
    try:
        translate_lines(Path(named[0]) if named else None, told, load)
    except KeyboardInterrupt:
        from headway.commands.translate_documents import interrupted  # a side room

        raise interrupted(told) from None
    return None


def translate_lines(
    file: Path | None,
    told: TranslateOptions,
    load: "Callable[[], tuple[Translator, dict[str, Any]]]",
) -> None:
    """Translate every line of `file` (or standard input) to `told.out` (or standard output)."""
    if file is not None:
        check_file(file)
        if told.out is not None and told.out.exists() and told.out.samefile(file):
            from headway.filling.inputs import replaced

            raise replaced(file)
    collected: list[dict[str, Any]] = []
    n_cut = n_mended = n_lines = 0
    doubtful: dict[int, str] = {}
    with ExitStack() as opened:
        opened.enter_context(only_writer_of_file(told.out, say))
        translator, how = load()
        written: Callable[[Translation, int], str] = as_text
        if (told.scores or told.alignment) and not told.json:
            from headway.commands.translate_documents import as_cells

            written = as_cells(translator, told)
        if translator.processors.own_terms is not None and not told.begin_with:
            from headway.commands.translate_documents import tell_terms

            tell_terms(translator.processors.own_terms)
        output = sys.stdout if told.out is None else opened.enter_context(whole_text(told.out))
        for chunk in chunks_of(file):
            begun = (told.begin_with,) * len(chunk) if told.begin_with else ()
            translations = translator.translate_fully(
                chunk, want_alignment=told.alignment or told.json, prefixes=begun, **how
            )
            n_cut += sum(translation.n_cut > 0 for translation in translations)
            n_mended += sum(not translation.codes_complete for translation in translations)
            verdicts = [translator.judged(one, "none" if begun else None) for one in translations]
            odd = {n: one.flags[0].why for n, one in enumerate(verdicts, n_lines + 1) if one.flags}
            doubtful |= odd
            n_lines += len(chunk)
            if told.json:
                from headway.commands.translate_documents import as_json

                collected += map(as_json, translations, verdicts)
                continue
            for translation in translations:
                output.write(written(translation, how["n_best"]))
            output.flush()
            if told.out and n_lines > len(chunk):
                say(f"translated {n_lines:,} lines")
            if len(doubtful) <= MOST_TOLD or (file is None and sys.stdin.isatty()):
                for n, why in odd.items():
                    say(f"line {n} looks doubtful: {why}")
        if told.json:
            output.write(dumps({"translations": collected}, ensure_ascii=False) + "\n")
    if n_cut or n_mended or len(doubtful) > (0 if told.json else MOST_TOLD):
        from headway.commands.translate_documents import tell_lines

        tell_lines(translator, n_lines, doubtful, n_cut, n_mended)


def as_text(translation: "Translation", n_best: int) -> str:
    """One line for each translation; of a blank text as many blank lines as were asked for."""
    lines = [one.target.replace("\n", " ") for one in translation.n_best] or [""] * n_best
    return "".join(f"{line}\n" for line in lines)
