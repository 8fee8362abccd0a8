"""`headway import`: a model from another program's files, as a run."""

from pathlib import Path
from typing import Literal


def import_(
    kind: str,
    place: Path,
    /,
    *,
    out: Path,
    unit: Literal["words", "characters"] | None = None,
) -> None:
    """Make a run of another program's model. It is used as any other, and can be gone on from.

    Parameters
    ----------
    kind
        marian: a folder with a Marian model as Hugging Face's `transformers` keeps it, such as one
        of OPUS-MT's (needs the extra `sentencepiece`). arpa: a model of n-grams, as kenlm, SRILM
        and others write it; packed (.gz) or not.
    place
        The folder or file, on this machine. One that is cut, or is not as it says, is refused with
        what is wrong in it.
    out
        The run folder.
    unit
        Of an ARPA file: what its words are. Else they are characters if white space is one of them
        (written as ▁), and words if not.
    """
    from headway.commands.arguments import say
    from headway.core.setting_errors import unknown_name
    from headway.tasks import brought, objects_of

    if kind not in (known := objects_of("import")):
        raise unknown_name("headway import", kind, known)
    brought(known[kind], f"import {kind}", kind)(place, out, say, unit)
    say(f"written to {out}")
