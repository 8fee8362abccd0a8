"""What the heads of a model do over many texts: in one sentence much is chance."""

from collections.abc import Iterable
from typing import Any

from headway.errors import ConfigError
from headway.inspection.heads import Weights, habits
from headway.inspection.maps import kinds_of, told_of, weights_of
from headway.inspection.packing import missing
from headway.inspection.sight import Sight
from headway.inspection.subject import Subject

MOST_WEIGHTS = 100_000_000
"""That are held at once: a thousand sentences of 20 tokens in 6 + 6 layers of 8 heads are 60 M."""


def survey(subject: Subject, texts: Iterable[str]) -> dict[str, Any]:
    """Each kind of attention with what its heads do, over all queries of the texts.

    A blank text is passed over; where there are too many, the last are left out and counted.
    Raises ConfigError where there is none.
    """
    seen: dict[str, list[Weights]] = {}
    n_texts = n_weights = left_out = 0
    for text in texts:
        if not text.strip():
            continue
        if n_weights > MOST_WEIGHTS:
            left_out += 1
            continue
        sight = Sight(subject, subject.passage_of(text))
        n_texts += 1
        for kind in kinds_of(sight.trace):
            seen.setdefault(kind, []).append(weights_of(sight, kind))
            n_weights += seen[kind][-1].maps.size
    if not n_texts:
        raise ConfigError("Heads are looked at over some texts; all of these are blank.")
    if not seen:
        return missing("This model has no attention to look at.", "这个模型没有可看的注意力。")
    return {
        "n_texts": n_texts,
        "left_out": left_out,
        "kinds": [{"kind": kind, "habits": told_of(habits(all_))} for kind, all_ in seen.items()],
    }
