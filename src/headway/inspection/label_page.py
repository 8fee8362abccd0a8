"""A page of a run that labels: what it says of a text, which words decided, what each head looks
at, and what breaks when a part is off. It has no script; texts are in it as text."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from headway.core.errors import ConfigError, command
from headway.inspection.ablation import parts_of, switched
from headway.inspection.word_merging import merge_pieces
from headway.labelling.deletion import K, deletion_test
from headway.labelling.evidence import GRADIENT, LabelReader, TextInWords, named
from headway.labelling.predictions import InspectionPage
from headway.pages import STYLE, document, table

N_TEXTS, N_TESTED, MOST_PARTS, MOST_WORDS, MOST_LABELS = 4, 200, 40, 60, 100
"""Texts on a page where none is given; texts of the deletion test; parts in the table of what
breaks; words of a text whose attention is drawn; labels that are told, the likeliest ones."""
SHORT = 160
"""Characters of a text that is shown unasked."""
OWN_STYLE = """
.words { line-height: 2.1; } .words span { padding: 0.15rem 0.25rem; border-radius: 4px; }
.maps { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: 0.6rem; }
.maps rect { fill: var(--one); } .maps svg { background: var(--card); }
"""
FOR, AGAINST, LOOKED_AT = "46,125,79", "194,96,12", "37,99,168"
"""Colours of words: that speak for the label, against it; that are looked at."""


@dataclass(frozen=True)
class InspectedLabeller:
    """A run that labels, opened to be looked into."""

    run: Path
    reader: LabelReader
    labels: Sequence[str]
    read: Callable[[str], list[TextInWords]]
    """A text; where words are labelled, once for each word that is looked at."""
    own_texts: Callable[[], tuple[str, list[str]]]
    """Where texts of the run's own are from, and these; none where they are gone."""


def page_of(inspected: InspectedLabeller, given: str | None, off: Sequence[str]) -> InspectionPage:
    """Of a text, or of the first short ones of the run's own; the shortest where none is short.

    Raises ConfigError where there is no text, or a part is none that the model has.
    """
    place, own = inspected.own_texts()
    short = [text for text in own if len(text) <= SHORT] or sorted(own, key=len)
    texts = [given] if given is not None else short[:N_TEXTS]
    looked_at = [one for text in texts for one in inspected.read(text) if one.words]
    if not looked_at:
        why = "no word of the run's own texts has a tag" if own else place
        if given is not None:
            why = "no word of the text has a tag" if given.strip() else "the text is empty"
        raise ConfigError(
            f"There is nothing to look at: {why}. Say what to look at: "
            f"{command('inspect', inspected.run, 'a text of your own')}"
        )
    step = max(1, len(own) // N_TESTED)
    tested = [one for text in own[::step][:N_TESTED] for one in inspected.read(text)][:N_TESTED]
    test = deletion_test(inspected.reader, tested)
    believed = f"which to believe is not known: {place}"
    if test is not None:
        believed = f"{test.told()}. Measured on {place}."
    found: list[dict[str, Any]] = []
    for one in looked_at:
        same = bool(found) and found[-1]["words"] == list(one.words)
        found.append(_told(inspected, one, off) | ({"attention": []} if same else {}))
    of_test = {} if test is None else test.as_dict()
    told = {"run": str(inspected.run), "texts": found, "deletion": {"told": believed, **of_test}}
    name = f"headway: {inspected.run.resolve().name}"
    return InspectionPage(document(name, _body(name, told), STYLE + OWN_STYLE), told)


def _told(inspected: InspectedLabeller, text: TextInWords, off: Sequence[str]) -> dict[str, Any]:
    """All that the page draws of one text."""
    reader, labels = inspected.reader, inspected.labels
    probs = reader.probs([text])[0]
    best = int(probs.argmax())

    def labelled(probs: Float[NDArray, " labels"]) -> list[dict[str, Any]]:
        order = np.argsort(-probs, kind="stable").tolist()
        told = order[:MOST_LABELS] + [best] * (best not in order[:MOST_LABELS])
        return [{"label": labels[i], "prob": float(probs[i])} for i in told]

    def without(parts: Iterable[str]) -> Float[NDArray, " labels"]:
        with switched(reader.model, parts):
            return reader.probs([text])[0]

    evidence = {way: one[0] for way, one in reader.evidence([text], [best]).items()}
    removed = {}
    if len(text.words) - (text.asked is not None) > K:
        for way, scores in evidence.items():
            gone = named(scores, K, text.asked)
            after = float(reader.probs([text.without(gone)])[0, best])
            removed[way] = {"words": [text.words[i] for i in gone], "prob": after}
    whole = [part for part in parts_of(reader.model) if not part.endswith("residual")]
    broken = sorted(((one, without([one])) for one in whole), key=lambda it: float(it[1][best]))
    return {
        "words": list(text.words),
        "asked": text.asked,
        "labels": labelled(probs),
        "evidence": {way: one.tolist() for way, one in evidence.items()},
        "removed": removed,
        "attention": _attention(reader, text),
        "parts": [{"part": part, "labels": labelled(after)} for part, after in broken],
        "off": list(off),
        "without": labelled(without(off)) if off else None,
    }


def _attention(reader: LabelReader, text: TextInWords) -> list[list[list[list[float]]]]:
    """Between words, by layer and head; what words give to markers is not there."""
    if not reader.attentions or len(text.words) > MOST_WORDS:
        return []
    maps = reader.seen([text])[0][:, 0].detach().cpu().numpy()
    merged = merge_pieces(maps, text.places, text.places)
    found: list[list[list[list[float]]]] = merged.round(4).tolist()
    return found


# -- the page ----------------------------------------------------------------------------------


def _body(name: str, told: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h1>{escape(name)}</h1>"
    yield f"<p>Which words decided: {escape(told['deletion']['told'])}</p>"
    yield '<p class="soft">Green words speak for the label, orange ones against it.</p>'
    for text in told["texts"]:
        yield from _text(text)


def _text(text: Mapping[str, Any]) -> Iterator[str]:
    best, asked = text["labels"][0], text["asked"]
    of = "" if asked is None else f"{text['words'][asked]}: "
    yield f"<h2>{escape(of)}{escape(best['label'])} {best['prob']:.2%}</h2>"
    shown = [[one["label"], f"{one['prob']:.2%}"] for one in text["labels"][:12]]
    yield table([["label", "probability"], *shown])
    for way, scores in text["evidence"].items():
        shades = (FOR, AGAINST) if way == GRADIENT else (LOOKED_AT, LOOKED_AT)
        yield f"<h3>{escape(way)}</h3>{_shaded(text['words'], scores, shades)}"
        if way in text["removed"]:
            removed = text["removed"][way]
            gone = ", ".join(removed["words"])
            yield (
                f"<p>Without {escape(gone)}: {escape(best['label'])} {removed['prob']:.2%}, "
                f"before {best['prob']:.2%}.</p>"
            )
    if text["off"]:
        now = text["without"][0]
        off = ", ".join(text["off"])
        yield f"<p>Without {escape(off)}: {escape(now['label'])} {now['prob']:.2%}.</p>"
    if text["parts"]:
        rows = [_broken(one, best["label"]) for one in text["parts"][:MOST_PARTS]]
        yield "<h3>What breaks when a part is off</h3>"
        yield table([["part", f"{best['label']} without it", "label then"], *rows])
    if text["attention"]:
        yield "<h3>Attention: who looks (down) at whom (across)</h3>"
        yield f'<div class="maps">{"".join(_maps(text["words"], text["attention"]))}</div>'


def _broken(part: Mapping[str, Any], label: str) -> list[str]:
    probs = {one["label"]: one["prob"] for one in part["labels"]}
    now = part["labels"][0]["label"]
    return [part["part"], f"{probs[label]:.2%}", "" if now == label else now]


def _shaded(words: Sequence[str], scores: Sequence[float], shades: tuple[str, str]) -> str:
    most = max(map(abs, scores)) or 1.0
    spans = (
        f'<span title="{score:+.3f}" style="background: rgba({shades[score < 0]},'
        f'{abs(score) / most * 0.75:.2f})">{escape(word)}</span>'
        for word, score in zip(words, scores, strict=True)
    )
    return f'<p class="words">{" ".join(spans)}</p>'


def _maps(words: Sequence[str], attention: Sequence[Any]) -> Iterator[str]:
    """Each head's map, and the words that it looks at most, the mean over all that look."""
    n = len(words)
    for layer, heads in enumerate(attention):
        for head, weights in enumerate(np.array(heads)):
            means = weights.mean(0)
            most = np.argsort(-means, kind="stable")[:3]
            told = ", ".join(f"{words[i]} {means[i]:.0%}" for i in most)
            cells = "".join(
                f'<rect x="{j}" y="{i}" width="1" height="1" fill-opacity="{weight**0.5:.2f}">'
                f"<title>{escape(words[i])} → {escape(words[j])}: {weight:.0%}</title></rect>"
                for (i, j), weight in np.ndenumerate(weights)
                if weight >= 0.02
            )
            yield (
                f"<figure><figcaption>encoder.{layer}.head.{head}: {escape(told)}</figcaption>"
                f'<svg viewBox="0 0 {n} {n}" role="img" aria-label="{escape(told)}">{cells}</svg>'
                "</figure>"
            )
