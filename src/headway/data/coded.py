"""Does a corpus hold enough codes to learn how to carry them over?"""

from itertools import islice
from pathlib import Path
from typing import Literal

from headway.data.cleaned import CleanedCorpus, Say
from headway.data.files import key_of, read_whole_folder, reopened, whole_folder
from headway.errors import ConfigError
from headway.text.codes import PLACEHOLDERS, VERSION, mask_pair
from headway.text.subwords import CodeHandling, Subwords

LEAST_SHARE = 0.02
LEAST_PAIRS = 100
"""With fewer, placeholders would be symbols that the model has hardly seen; it copies codes better
as the text that they are, and what it gets wrong is put right behind it."""

_LOOKED_AT = 4_000  # pairs


def handling_of_codes(
    cleaned: CleanedCorpus,
    wanted: Literal["auto", "mask", "keep"],
    subwords: Subwords | None,
    root: Path,
    say: Say,
) -> CodeHandling:
    """Whether codes are masked: as asked, or as the corpus suggests, said with the reason.

    `auto` masks where at least `LEAST_SHARE` of the pairs, and `LEAST_PAIRS` in all, have codes
    that both sides share. Sub-words that were learned elsewhere decide by themselves: their model
    knows placeholders or it does not.

    Raises:
        ConfigError: masks are asked for with sub-words that have no placeholders.
    """
    can_mask = subwords is None or subwords.has(PLACEHOLDERS[0])
    if wanted == "mask" and not can_mask:
        raise ConfigError(
            "codes are masked only with sub-words that were learned with masks; the ones that are "
            "given have no placeholders. Leave --text.codes out, or learn new sub-words."
        )
    if wanted != "auto":
        return wanted
    if subwords is not None:
        return "mask" if can_mask else "keep"
    share = _share_with_codes(cleaned, root, say)
    if not share:
        return "keep"
    n_pairs = round(share * cleaned.reports["train"].kept)
    enough = share >= LEAST_SHARE and n_pairs >= LEAST_PAIRS
    say(
        f"codes (tags, placeholders, addresses, ...) are {'masked' if enough else 'kept as text'}: "
        f"about {share:.1%} of the pairs ({n_pairs:,}) have some that both sides share"
    )
    return "mask" if enough else "keep"


def _share_with_codes(cleaned: CleanedCorpus, root: Path, say: Say) -> float:
    """Of the training pairs, judged by some that are evenly spaced."""
    directory = root / f"codes-{key_of({'version': VERSION, 'cleaned': cleaned.directory.name})}"
    known = reopened(directory, lambda: read_whole_folder(directory), say)
    if known is None:
        step = max(1, cleaned.reports["train"].kept // _LOOKED_AT)
        chosen = islice(cleaned.pairs("train"), 0, None, step)
        found = [bool(mask_pair(source, target).codes) for source, target, *_ in chosen]
        known = {"pairs": len(found), "with_codes": sum(found)}
        with whole_folder(directory) as (_, content):
            content.update(known)
    return float(known["with_codes"] / known["pairs"]) if known["pairs"] else 0.0
