"""Sentences with people, places and firms in them, as files of tokens and tags."""

import random
from collections.abc import Sequence
from pathlib import Path

from headway.tagging.schemes import Span, tags_of

PEOPLE = ["Ada Lovelace", "Alan Turing", "Grace Hopper", "Emmy Noether"]
PLACES = ["Paris", "New York", "Cape Town", "Rome"]
PATTERNS = ["P lives in L .", "yesterday P saw L", "L is far , says P !", "the road to L is long"]
PEOPLE_ZH, PLACES_ZH = ["王小明", "李华", "张伟"], ["北京", "上海", "哈尔滨"]
PATTERNS_ZH = ["P住在L。", "昨天P去了L", "L很远，P说"]


def sentences(
    n: int, *, chinese: bool = False, seed: int = 1
) -> list[tuple[list[str], list[Span]]]:
    """Tokens, and which of them are a PER or a LOC."""
    drawn, found = random.Random(seed), []
    people, places = (PEOPLE_ZH, PLACES_ZH) if chinese else (PEOPLE, PLACES)
    for _ in range(n):
        pattern, tokens, spans = drawn.choice(PATTERNS_ZH if chinese else PATTERNS), [], []
        for one in pattern if chinese else pattern.split():
            kind = {"P": "PER", "L": "LOC"}.get(one)
            name = drawn.choice(people if kind == "PER" else places) if kind else one
            parts = [*name] if chinese else name.split()
            if kind:
                spans.append(Span(len(tokens), len(tokens) + len(parts), kind))
            tokens += parts
        found.append((tokens, spans))
    return found


def write_tagged(
    path: Path,
    some: Sequence[tuple[list[str], list[Span]]],
    scheme: str = "IOB2",
    between: str = "\t",
) -> Path:
    """Such sentences as a file."""
    blocks = (
        "".join(
            f"{token}{between}{tag}\n"
            for token, tag in zip(tokens, tags_of(spans, len(tokens), scheme), strict=True)
        )
        for tokens, spans in some
    )
    path.write_text("\n".join(blocks), encoding="utf-8")
    return path
