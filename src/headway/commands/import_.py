"""`headway import`: a model from another program's files, as a run."""

from pathlib import Path
from typing import Literal

from headway.core.errors import ConfigError


def import_(
    kind: Literal["marian", "arpa"],
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

    if kind == "marian":
        if unit:
            raise ConfigError(f"--unit is for ARPA files; got {unit!r} for marian. Leave it out.")
        from headway.translation.marian_runs import import_marian

        import_marian(place, out, say)
    else:
        from headway.language_models.arpa_runs import import_arpa

        import_arpa(place, out, say, unit)
    say(f"written to {out}")
