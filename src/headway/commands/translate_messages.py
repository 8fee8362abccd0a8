"""What is said of terms that hold, and of lines that were cut or whose codes were put right."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headway.localization.terms.keeping import Terms
    from headway.translator import Translator


def tell_terms(terms: "Terms") -> None:
    """Say which terms of the run hold."""
    from headway.filling.steps import OFF

    words = terms.glossary.in_words()
    print(f"headway: glossary of the run{OFF}: {words}", file=sys.stderr, flush=True)


def tell_cut(n_cut: int, translator: "Translator") -> None:
    """Say how many lines were too long, if any was."""
    if n_cut:
        print(
            f"{n_cut} of the lines were longer than the {translator.longest} sub-words that the "
            "model was trained to read at most, and were cut at the end",
            file=sys.stderr,
        )


def tell_mended(n_mended: int) -> None:
    """Say in how many lines codes were lost or invented, if in any."""
    if n_mended:
        print(
            f"codes (tags, placeholders, ...) of {n_mended} of the lines were corrected: what the "
            "model left out stands at the end, what the text does not have is removed",
            file=sys.stderr,
        )
