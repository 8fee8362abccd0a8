"""`headway translate`: text in, translations out; a translation file is filled in."""

from pathlib import Path

from headway.commands.settings_flags import Unread, option_names
from headway.errors import ConfigError


def translate(
    run: Path,
    /,
    *file: Unread,
    out: Path | None = None,
    beam: int | None = None,
    n_best: int | None = None,
    method: str | None = None,
    tag: str | None = None,
    scores: bool = False,
    alignment: bool = False,
    json: bool = False,
    overwrite: bool = False,
    source_language: str | None = None,
    target_language: str | None = None,
) -> None:
    """Translate a file, or standard input, with a trained run.

    N lines in, N lines out, in order; a blank line stays blank; a line longer than the model was
    trained on is cut at its end, and that is counted on stderr.

    A translation file (.po, .tmx, .xlf, .xliff, .tsv, .jsonl, each also .gz) comes out as the same
    kind of file: what was empty is filled in and marked as made by a machine, every other byte is
    as it was, and nothing is cut.

    Parameters
    ----------
    run
        The run folder.
    file
        Text to translate, one sentence a line (.gz too), or a translation file; standard input if
        left out. Behind it, any setting as a flag, such as --decoding.length-penalty 1.
    out
        Where translations go; standard output if left out.
    beam
        Hypotheses kept by beam search; 1 is greedy.
    n_best
        Translations per line, best first, each on its own line.
    method
        beam, greedy or sampling.
    tag
        Which of the run's tags stands before each text (train --pairs F:tag=NAME); otherwise none,
        or the only one if the run has read no text without.
    scores
        Put each translation's score and a tab in front of it.
    alignment
        Put a tab and source-target pairs of sub-words ("0-0 1-2") behind it.
    json
        One object on stdout with tokens, scores, alignments and n-best lists.
    overwrite
        In a translation file, translate everything anew, also what is there already.
    source_language
        Which language of a translation file is translated; the run's if left out.
    target_language
        Which one is filled in; the run's if left out.
    """
    from headway.commands.translating import FILLED_IN, Options, kind_of, translate_lines

    named, flags = (file[:1], file[1:]) if file and not file[0].startswith("-") else ((), file)
    text = Path(named[0]) if named else None
    given = {"beam": beam, "n_best": n_best, "method": method}
    options = Options(
        decoding={key: value for key, value in given.items() if value is not None},
        tag=tag,
        scores=scores,
        alignment=alignment,
        json=json,
        flags=flags,
        known_flags=option_names(translate),
    )
    if text is not None and kind_of(text) in FILLED_IN:
        from headway.commands.filling import Direction, translate_file

        direction = Direction(source_language, target_language)
        translate_file(run, text, out, options, direction, overwrite=overwrite)
        return
    if overwrite or source_language or target_language:
        raise ConfigError(
            "--overwrite, --source-language and --target-language are for files that are filled "
            f"in (.po, .tmx, ..); got {text or 'standard input'}. Leave them out."
        )
    translate_lines(run, text, out, options)
