"""What is taken for usual of signs where a run does not say it."""

from headway.text.checks.trust import Norm

USUAL: dict[str, Norm] = {
    "too_short": Norm(1000, (4.5,)),
    "too_long": Norm(1000, (6.0,)),
    "sentences": Norm(1000, (1.0,)),
    "loop": Norm(1000, (3.0,)),
    "copy": Norm(1000, (0.6,)),
    "number": Norm(1000, (1.0,)),
    "code": Norm(1000, ()),
    "tag_in_word": Norm(1000, ()),
    "script": Norm(1000, (0.2,)),
    "language": Norm(1000, ()),
}
"""A sign that is stronger is a flag."""
