"""`headway inspect RUN --pronouns`: what picks the noun that *it* stands for, as a table."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.commands.arguments import print_json

if TYPE_CHECKING:
    from headway.inspection.coreference_probe import Picker, Probe, Proportion
    from headway.translator import Translator

SENTENCES, SEED = 600, 7
"""So many to choose by, and so many others to count."""


def show(run: Path, *, json: bool) -> None:
    """Print what was measured, as a table or as one JSON object."""
    from headway.translator import Translator

    found = measured(Translator.load(run))
    if json:
        print_json(found)
    else:
        print("\n".join(lines(found)))


def measured(translator: "Translator", n: int = SENTENCES, seed: int = SEED) -> dict[str, Any]:
    """How often each part picks the right noun, in sentences that the demo did not train on.

    Raises:
        ConfigError: the model has no encoder with attention to be looked at.
    """
    from headway.commands.demo import corpus
    from headway.inspection.coreference_probe import (
        coreference_results,
        named_right,
        unseen_sentences,
    )

    seen = {english for part in corpus() for english, _ in part}
    sentences = unseen_sentences(2 * n, seed, seen)
    choose_on, count_on = sentences[:n], sentences[n:]
    found = coreference_results(translator, choose_on, count_on)
    return {
        "sentences": n,
        "chance": 0.5,
        "translation": _share(named_right(translator, count_on)),
        "encoder": [_picker(one) for one in found.encoder],
        "probe": [_probe(one) for one in found.probe],
        "reason": [_probe(one) for one in found.reason],
        "deciding": [_picker(one) for one in found.deciding],
        "naming": [_picker(one) for one in found.naming],
    }


def _share(share: "Proportion") -> dict[str, Any]:
    low, high = share.interval
    return {"right": share.right, "of": share.of, "low": round(low, 4), "high": round(high, 4)}


def _picker(one: "Picker") -> dict[str, Any]:
    return {
        "layer": one.layer,
        "head": one.head,
        **_share(one.right),
        "most": _share(one.most),
        "weight": round(one.weight, 4),
    }


def _probe(one: "Probe") -> dict[str, Any]:
    return {"layer": one.layer, **_share(one.right)}


def lines(found: dict[str, Any]) -> list[str]:
    """The same for people."""
    n = found["sentences"]
    return [
        f'Which noun does "it" stand for? {n} sentences that the demo did not train on; heads are',
        f"chosen, and probes fitted, on {n} others. Chance is 50%; in brackets 95% (Wilson).",
        _line("the translation names it", found["translation"]),
        *_heads('encoder, what "it" looks at', found["encoder"]),
        *(_line(_place('probe of the vector of "it"', one), one) for one in found["probe"]),
        *(_line(_place("probe of the reason's vector", one), one) for one in found["reason"]),
        *_heads("decoder, deciding", found["deciding"]),
        *_heads("decoder, naming", found["naming"]),
        "deciding: what is looked at to write the first piece that tells the two nouns apart;",
        "naming: to write the noun itself, when a measure word may have told",
    ]


def _heads(name: str, pickers: Sequence[dict[str, Any]]) -> list[str]:
    return [
        f"{_line(_place(name, one), one)}  head {one['head']}; most of all words in "
        f"{one['most']['right'] / one['of']:.1%}, weight {one['weight']:.2f}"
        for one in pickers
    ]


def _place(name: str, one: dict[str, Any]) -> str:
    layer = "before layer 0" if one["layer"] < 0 else f"layer {one['layer']}"
    return f"{name}, {layer}"


def _line(name: str, share: dict[str, Any]) -> str:
    low, high = share["low"], share["high"]
    return f"  {name:<44} {share['right'] / share['of']:6.1%} ({low:.1%} to {high:.1%})"
