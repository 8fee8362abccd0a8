"""`headway distill`: a large translator teaches a small one."""

from pathlib import Path
from typing import Any

from headway.api import sections_of
from headway.commands.arguments import (
    Overrides,
    Several,
    option_names,
    parse_overrides,
    process_settings,
    say,
    takes,
)
from headway.runs.flags import FLAGS

TAKEN = {
    "valid_source": FLAGS["valid_source"]._replace(
        help="Text file(s) to validate on; if left out the teacher's pairs, or pairs that it wrote "
        "where its text is gone."
    ),
    "budget": FLAGS["budget"]._replace(
        help="Time for the student's training, such as 30m or 2h; the teacher's translations come "
        "before, and take what they take: that is said."
    ),
    **{name: FLAGS[name] for name in ("valid_target", "seed")},
}


@takes(TAKEN)
def distill(
    run: Path,
    /,
    *overrides: Overrides,
    out: Path,
    source: Several = (),
    preset: str | None = None,
    beam: int = 0,
    tag: str | None = None,
    resume: bool = False,
    **flags: Any,
) -> None:
    """Train a small translator on what a large one, or several together, write, and say what is
    lost and won by it.

    The teacher translates the sources that it learned from, by its own search; the student learns
    from that as from any pairs, and is scored on the teacher's validation pairs; where these are
    gone, on what the teacher wrote.

    Parameters
    ----------
    run
        The teacher's run folder. Further folders of runs may follow: they teach as an ensemble, see
        translate.
    out
        The student's; what the teacher wrote lies in it, below taught/.
    source
        Further text file(s) in the source language, one sentence a line.
    preset
        The student's: tiny, small, ..; with --model.decoder-layers 1 and the like on top of it.
        Otherwise it is chosen by the size of the text.
    beam
        The teacher's beam; its own setting if left out.
    tag
        Of a teacher that knows tags: the one that it is to translate with.
    resume
        Go on with what was begun in --out.
    """
    from headway.commands.many_models import leading_runs
    from headway.core.config import merge
    from headway.filling.distilling import distill as teach
    from headway.filling.distilling import lessons_for
    from headway.operations.shipped import only_writer_of_run
    from headway.runs.task_spec import Request

    others, tokens = leading_runs(overrides)
    given = merge(parse_overrides(tokens, options=option_names(distill)), sections_of(flags))
    process_settings(given)
    lessons = lessons_for([run, *others], out, source, tag, beam)
    with only_writer_of_run(out, say) as folder:
        teach(lessons, Request(given, folder, preset, resume), say)
