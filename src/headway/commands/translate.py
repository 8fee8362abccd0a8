"""`headway translate`: text in, translations out, line by line."""

from pathlib import Path

from headway.commands.settings_flags import Overrides, option_names


def translate(
    run: Path,
    /,
    *file: Overrides,
    out: Path | None = None,
    beam: int | None = None,
    n_best: int | None = None,
    method: str | None = None,
    tag: str | None = None,
    scores: bool = False,
    alignment: bool = False,
    json: bool = False,
) -> None:
    """Translate a file, or standard input, with a trained run.

    N lines in, N lines out, in order; a blank line stays blank; a line longer than the model was
    trained on is cut at its end, and that is counted on stderr.

    Parameters
    ----------
    run
        The run folder.
    file
        Text to translate, one sentence a line (.gz too); standard input if left out. Behind it, any
        setting as a flag, such as --decoding.length-penalty 1.
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
    """
    from headway.commands.translating import Options, translate_lines

    named, flags = (file[:1], file[1:]) if file and not file[0].startswith("-") else ((), file)
    given = {"beam": beam, "n_best": n_best, "method": method}
    options = Options(
        decoding={key: value for key, value in given.items() if value is not None},
        tag=tag,
        scores=scores,
        alignment=alignment,
        json=json,
    )
    text = Path(named[0]) if named else None
    translate_lines(run, text, out, options, flags, option_names(translate))
