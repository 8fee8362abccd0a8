"""The questions, in the order of the page: one file for each group."""

from whys.questions import (
    depth,
    feed_forward,
    heads,
    masks,
    normalize,
    positions,
    recipe,
    scores,
)
from whys.questions.source import FAMILY, FIXED

QUESTIONS = (
    FIXED,
    *scores.QUESTIONS,
    *heads.QUESTIONS,
    *masks.QUESTIONS,
    *positions.QUESTIONS,
    *depth.QUESTIONS,
    *normalize.QUESTIONS,
    *feed_forward.QUESTIONS,
    *recipe.QUESTIONS,
    FAMILY,
)
