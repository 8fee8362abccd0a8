"""What is wrong with the codes of a translation: how many of them, and in words."""

import re
from collections import Counter
from collections.abc import Sequence

from headway.localization.placeholders.codes import parsed_text
from headway.localization.placeholders.own_codes import OwnPattern
from headway.localization.placeholders.patterns import partners
from headway.localization.placeholders.segments import Code, Segment

_SIGN = re.compile(r"[{}<>\\^~]")


def odd_codes(source: str, target: str, own: Sequence[OwnPattern]) -> tuple[float, str]:
    """Codes of either side that the other lacks, braces and the like that are in no code, and pairs
    that hold nothing in the target alone; `own` are patterns of more codes."""
    both = [parsed_text(text, own) for text in (source, target)]
    ours, theirs = (
        Counter([code.text for code in one.codes]) + Counter(_SIGN.findall(one.outside_codes))
        for one in both
    )
    odd = (ours - theirs) + (theirs - ours)
    emptied = _emptied(both[1]) - _emptied(both[0])
    told = {"on one side only": odd, "with nothing between them in the translation alone": emptied}
    why = "; ".join(f"{how}: {', '.join(list(some)[:5])}" for how, some in told.items() if some)
    return float((odd + emptied).total()), why


def _emptied(segment: Segment) -> Counter[str]:
    """Pairs of codes with nothing in them: `<b></b>`."""
    places = [n for n, part in enumerate(segment.parts) if isinstance(part, Code)]
    codes = [code.text for code in segment.codes]
    return Counter(
        codes[a] + codes[b]
        for a, b in partners(codes).items()
        if not any(str(part).strip() for part in segment.parts[places[a] + 1 : places[b]])
    )
