"""What is taken for usual of signs where a run does not say it."""

from headway.localization.checks.calibration import SignBaseline


def _up_to(strength: float) -> SignBaseline:
    """Two in a thousand are as strong: that is no flag yet, and what is stronger is one."""
    return SignBaseline(1000, (strength, strength))


USUAL: dict[str, SignBaseline] = {
    "too_short": _up_to(4.5),
    "too_long": _up_to(6.0),
    "sentences": _up_to(1.0),
    "loop": _up_to(3.0),
    "copy": _up_to(0.6),
    "number": SignBaseline(1000, (1.0,)),  # one that is lost is a flag, if not as sure as two
    "code": SignBaseline(1000, ()),
    "tag_in_word": SignBaseline(1000, ()),
    "script": _up_to(0.2),
    "language": SignBaseline(1000, ()),
}
"""A sign that is stronger is a flag."""
