"""Two runs on one text, side by side: what each has, what it writes, and what it makes of the
other's translation."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from headway.inspection import document
from headway.inspection.inspected_model import Subject, open_subject
from headway.inspection.packing import missing
from headway.inspection.passage_analysis import ROOM, PassageAnalysis
from headway.operations.shipped import open_folder


def open_beside(run: Path, tag: str | None) -> Subject:
    """The second run, with the first one's tag if it has tags as well.

    Raises ConfigError where this is none of its tags.
    """
    data = open_folder(run).settings().get("data", {})
    return open_subject(run, tag=tag if data.get("tags") else None)


def side_by_side(
    subject: Subject,
    other: Subject,
    text: str,
    target: str | None = None,
    *,
    room: int | None = ROOM,
    **change: Any,
) -> dict[str, Any]:
    """The document of a text in one run, with the other's document beside it.

    A target is followed by both, if both translate. The two share the `room`; what is changed, as
    in `document.sentence`, is changed in the first alone.
    """
    each = None if room is None else room // 2
    own = document.sentence(subject, text, target, room=each, **change)
    alike = subject.task == other.task
    theirs = document.sentence(other, text, target if alike else None, room=each)
    theirs["run"] = document.run(other)
    return own | {
        "beside": theirs,
        "compared": {
            "parts": parts_of_both(own, theirs),
            "translations": translations(subject, other, own, theirs)
            if alike
            else missing(
                "A translator and a model of text alone do not write the same thing.",
                "翻译模型与纯文本模型写的不是同一样东西。",
            ),
        },
    }


def parts_of_both(own: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Of every part, whether each of the two has it: None, or in two languages why not."""
    return [
        {"part": part, "missing": [one.get(part, {}).get("missing") for one in (own, theirs)]}
        for part in document.PARTS
        if part in own or part in theirs
    ]


def translations(
    subject: Subject, other: Subject, own: Mapping[str, Any], theirs: Mapping[str, Any]
) -> dict[str, Any]:
    """What each wrote, and how likely each finds what either wrote; under models of text alone, the
    text.

    Nats a character, so that models of other vocabularies compare; the end marker counts to the
    text. Rows are texts, columns models.
    """
    written = [own["translation"], theirs["translation"]]
    return {
        "written": written,
        "nats_per_character": [
            [_nats_per_character(model, own["text"], text) for model in (subject, other)]
            for text in written
        ],
    }


@torch.inference_mode()
def _nats_per_character(subject: Subject, text: str, target: str) -> float:
    analysis = PassageAnalysis(subject, subject.passage_of(text, target))
    wanted = torch.tensor([*analysis.passage.target_ids, subject.special.end])
    nats = -analysis.following.gather(1, wanted[:, None]).sum()
    return round(float(nats) / (len(target) + 1), 4)
