"""Which sense a word has in a sentence, told from its vector there: the nearest of two centroids.

--corpus FILE.. are texts in which uses of ambiguous words are found, one sense or another told by
cues: words of the sentence, or a capital (May, Turkey). The cues are then masked, and the word is
written small with nothing attached, so that neither can be read off. In each of 20 splits half of
the uses of each sense are labelled, and the others are told by the nearer of the two centroids;
equally near ones count as half right. (To leave out one use alone would tell less than chance of
vectors that say nothing: its own centroid lacks it.) Both senses of a word have equally many uses,
at most --most: who always says the same is right in 50 %.
--run NAME=FOLDER.. are runs that `headway embed` takes; each of their layers is a row, so is the
mean of them, and a mix of them whose weights are learned from the other words. Of runs with one
vector for each word, the mean of the other words of the sentence is a row, too.
--show N prints N uses to be read, labels behind them.
Run: python benchmarks/senses.py --corpus wiki.txt.gz --run elmo=runs/elmo words=runs/words
"""

import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import record
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from headway.core.lines import read_lines
from headway.languages.sentences import cut, sentence_ends
from headway.nn.scalar_mix import ScalarMix
from headway.tasks import brought_by_run
from headway.vectors.contextual import Embedder
from headway.vectors.word_vectors import unit

MASK = "something"
SHORTEST, LONGEST = 6, 60
"""Words of a sentence."""
SPLITS = 20
"""Times that half of the uses of each sense are labelled, and the others unseen."""


class Sense(NamedTuple):
    """One of two, and what tells it."""

    name: str
    cues: str = ""
    """Words of the sentence, as a pattern, of which one or more must stand in it."""
    capital: bool | None = None
    """How the word itself must be written, if that tells."""


SENSES: dict[str, tuple[Sense, Sense]] = {
    "apple": (
        Sense("fruit", capital=False),
        Sense("company", "iphone|ipod|ipods|itunes|mac|macintosh|powerbook|computer|computers|inc|"
              "os|ii|iie|software|store|systems|version|released|introduced", capital=True),
    ),
    "may": (Sense("verb", capital=False), Sense("month", capital=True)),
    "march": (Sense("walk", capital=False), Sense("month", capital=True)),
    "turkey": (Sense("bird", capital=False), Sense("country", capital=True)),
    "bank": (
        Sense("river", "rivers?|creek|lake|shores?|stream|canal|north|south|east|left|right"),
        Sense("money", "money|financial|loans?|finance|investment|credit|deposits?|accounts?|"
              "central|currency|stock|banking|insurance|savings|robbery|investors?"),
    ),
    "plant": (
        Sense("factory", "power|nuclear|factory|manufacturing|production|electric|coal|workers|"
              "steel|treatment|assembly|mw|industrial|cars?"),
        Sense("vegetation", "species|flowers?|flowering|leaf|leaves|seeds?|genus|native|family|"
              "stems?|roots?|soil|growing|botanists?|botanical|animals?|herb|perennial|shrubs?"),
    ),
    "rock": (
        Sense("music", "bands?|album|music|songs?|singer|guitar|pop|punk|roll|concert|artist"),
        Sense("stone", "stone|river|mountains?|cliffs?|geological|volcanic|limestone|sandstone|"
              "carved|erosion|minerals?|granite|sea|layers|formation"),
    ),
    "station": (
        Sense("railway", "railway|trains?|platforms?|rail|passengers?|railroad|metro|tram|subway"),
        Sense("broadcast", "radio|fm|am|tv|television|broadcasts?|broadcasting|channel|khz|mhz|"
              "signal|news|programming"),
    ),
    "degree": (
        Sense("of studies", "university|college|bachelor|bachelor's|master's|doctorate|graduated|"
              "science|law|students?|honorary|faculty|studied"),
        Sense("extent", "temperature|angle|celsius|high|some|certain|extent|greater|lesser|higher"),
    ),
    "record": (
        Sense("music", "albums?|labels?|songs?|music|bands?|artists?|studio|producer|singles"),
        Sense("sport", "season|games?|world|championship|league|team|points|goals|coach|wins"),
    ),
    "field": (
        Sense("sport", "team|games?|football|baseball|stadium|players?|goals?|yards?|league"),
        Sense("of study", "science|research|studies|work|scientists?|engineering|medicine|"
              "psychology|physics|theory|academic|linguistics|university"),
    ),
    "capital": (
        Sense("city", "city|cities|province|districts?|town|located|region"),
        Sense("money", "investments?|funds?|bank|company|market|venture|investors?|stock|labou?r|"
              "shares?|financial|money|economic"),
    ),
    "court": (
        Sense("of law", "judge|law|supreme|appeal|legal|justice|ruled|trial|case|criminal|lawyer|"
              "jury|rights"),
        Sense("of a king", "king|queen|emperor|royal|palace|princes?|duke|imperial|dynasty"),
    ),
    "light": (
        Sense("seen", "wavelengths?|sun|eyes?|photons?|sources?|speed|lamp|red|blue|bright|waves?|"
              "reflected|colou?r|beam|candle|darkness|laser"),
        Sense("not heavy", "infantry|rail|tanks?|cavalry|cruisers?|machine|aircraft|weight|heavy|"
              "weapons?|guns?|vehicles?|artillery|regiment"),
    ),
}  # fmt: skip
"""Words and their two senses. Cues that tell a sense are of the sentence, not of its neighbours."""
WORDS = re.compile(rf"\b({'|'.join(SENSES)})\b", re.I)


class Use(NamedTuple):
    """A word in a sentence that was made blind: cues masked, the word small and by itself."""

    words: tuple[str, ...]
    place: int
    sense: int
    """0 or 1."""


def sentences(files: Sequence[Path]) -> Iterator[str]:
    """Each different sentence that has one of the words, once."""
    seen = set[int]()
    for file in files:
        for line in read_lines(file):
            if not line or not WORDS.search(line):
                continue
            for sentence in cut(line, sentence_ends(line, "en"))[::2]:
                if WORDS.search(sentence) and (key := hash(sentence)) not in seen:
                    seen.add(key)
                    yield sentence


def use_of(word: str, sentence: str) -> Use | None:
    """A use whose sense is told by cues of one sense and none of the other; blind to them."""
    words = sentence.split()
    bare = [one.strip("\"'“”‘’.,;:!?()[]") for one in words]
    places = [n for n, one in enumerate(bare) if one.lower() == word]
    if len(places) != 1 or not SHORTEST <= len(words) <= LONGEST:
        return None
    [place] = places
    told, cues = [], set[int]()
    for number, sense in enumerate(SENSES[word]):
        found = {n for n, one in enumerate(bare) if n != place and one and _is_cue(sense, one)}
        told += [number] * (_written_so(sense, bare, place) and bool(found or not sense.cues))
        cues |= found
    if len(told) != 1:
        return None
    masked = [MASK if n in cues else one for n, one in enumerate(words)]
    masked[place] = word
    return Use(tuple(masked), place, told[0])


def _is_cue(sense: Sense, word: str) -> bool:
    return bool(sense.cues and re.fullmatch(sense.cues, word, re.I))


def _written_so(sense: Sense, bare: Sequence[str], place: int) -> bool:
    """As the sense asks; at the beginning, and behind another capital (Brian May), none tells."""
    if sense.capital is None:
        return True
    capital = bare[place][:1].isupper()
    behind_name = place > 0 and bare[place - 1][:1].isupper()
    return capital is sense.capital and place > 0 and not (capital and behind_name)


def uses_of_all(files: Sequence[Path], most: int, seed: int) -> dict[str, list[Use]]:
    """Equally many uses of both senses of each word, drawn at random."""
    found: dict[str, list[list[Use]]] = {word: [[], []] for word in SENSES}
    for sentence in sentences(files):
        for word in {one.lower() for one in WORDS.findall(sentence)}:
            if use := use_of(word, sentence):
                found[word][use.sense].append(use)
    rng = random.Random(seed)
    for word, senses in found.items():
        n = min(most, *map(len, senses))
        found[word] = [rng.sample(one, n) for one in senses]
    return {word: [*first, *second] for word, (first, second) in found.items()}


# -- vectors, and what they tell --------------------------------------------------------------


class Row(NamedTuple):
    """One way to make a vector of each use."""

    run: str
    layer: str
    right: Mapping[str, Float[NDArray, " uses"]]
    """Of each word's uses: the share of splits in which its sense was told."""


def vectors_of(embedder: Embedder, uses: Sequence[Use]) -> Float[NDArray, "uses layers size"]:
    """The word in each use."""
    found = []
    read = embedder.embed(" ".join(use.words) for use in uses)
    for use, one in zip(uses, read, strict=True):
        spans = [word.span() for word in re.finditer(r"\S+", one.text)]
        found.append(one.of([spans[use.place]])[:, 0])
    return np.stack(found)


def around(embedder: Embedder, uses: Sequence[Use]) -> Float[NDArray, "uses layers size"]:
    """The mean of the other words of each use, that the embedder knows and that are no mask."""
    found = []
    for use, one in zip(uses, embedder.embed(" ".join(use.words) for use in uses), strict=True):
        spans = [word.span() for word in re.finditer(r"\S+", one.text)]
        others = [
            span
            for n, span in enumerate(spans)
            if n != use.place and one.knows(span) and use.words[n] != MASK
        ]
        found.append(one.of(others).mean(1) if others else one.of(spans[:1])[:, 0] * 0)
    return np.stack(found)


def told(vectors: Float[NDArray, "uses size"], uses: Sequence[Use]) -> Float[NDArray, " uses"]:
    """How often each use's sense is told while it is among the unseen ones; see `Row.right`."""
    units = unit(vectors).astype(np.float64)
    senses = np.array([use.sense for use in uses])
    of_sense = [np.flatnonzero(senses == sense) for sense in (0, 1)]
    right, n_unseen = np.zeros(len(uses)), np.zeros(len(uses))
    for split in range(SPLITS):
        rng = np.random.default_rng(split)
        labelled = [rng.permutation(places)[: len(places) // 2] for places in of_sense]
        centroids = unit(np.stack([units[places].mean(0) for places in labelled]))
        unseen = np.setdiff1d(np.arange(len(uses)), np.concatenate(labelled))
        cosines = units[unseen] @ centroids.T
        margin = cosines[:, 1] - cosines[:, 0]
        right[unseen] += np.where(np.abs(margin) < 1e-6, 0.5, (margin > 0) == senses[unseen])
        n_unseen[unseen] += 1
    return right / n_unseen


def interval(right: Float[NDArray, " uses"]) -> tuple[float, float]:
    """95 % of a share, after Wilson 1927."""
    n, share, z = len(right), float(right.mean()), 1.96
    middle, variance = share + z * z / (2 * n), share * (1 - share) / n + z * z / (4 * n * n)
    low, high = (middle + way * z * np.sqrt(variance) for way in (-1, 1))
    return low / (1 + z * z / n), high / (1 + z * z / n)


# -- a mix of layers, learned from the other words --------------------------------------------

STEPS, SHARPNESS = 100, 10.0
"""Updates of the mix, and what a difference of cosines is multiplied by in its loss."""


def learned_mix(
    vectors: Mapping[str, Float[NDArray, "uses layers size"]], uses: Mapping[str, Sequence[Use]]
) -> tuple[dict[str, Float[NDArray, "uses size"]], Float[NDArray, " layers"]]:
    """Of each word's uses the mix by which the senses of all other words are told best (ELMo's
    equation 1, each layer brought to variance 1); and the weights, on average over the words."""
    tensors = {word: torch.from_numpy(one).movedim(1, 0) for word, one in vectors.items()}
    senses = {word: torch.tensor([use.sense for use in uses[word]]) for word in vectors}
    mixed, weights = {}, []
    for word in vectors:
        mix = ScalarMix(len(tensors[word]), norm=True)
        adam = torch.optim.Adam([mix.weights], lr=0.1)
        others = [other for other in vectors if other != word]
        for _ in range(STEPS):
            adam.zero_grad()
            margins = [margin(mix(tensors[other]), senses[other]) for other in others]
            F.softplus(-SHARPNESS * torch.cat(margins)).mean().backward()
            adam.step()
        mixed[word] = mix(tensors[word]).detach().numpy()
        weights.append(mix.weights.detach().softmax(0).numpy())
    return mixed, np.mean(weights, axis=0)


def margin(
    vectors: Float[Tensor, "uses size"], senses: Int[Tensor, " uses"]
) -> Float[Tensor, " uses"]:
    """By how much each use is nearer to the centroid of the others of its sense than to that of
    the other sense."""
    units = F.normalize(vectors, dim=1)
    sums = torch.stack([units[senses == sense].sum(0) for sense in (0, 1)])
    own, other = sums[senses] - units, sums[1 - senses]
    return F.cosine_similarity(units, own) - F.cosine_similarity(units, other)


# -- rows -------------------------------------------------------------------------------------


def rows_of(
    name: str, embedder: Embedder, uses: Mapping[str, Sequence[Use]], *, halves: bool
) -> Iterator[Row]:
    """Every layer of a run, their mean, a learned mix; of a static one, the word's neighbours."""

    def row(layer: str, vectors: Mapping[str, Float[NDArray, "uses size"]]) -> Row:
        return Row(name, layer, {word: told(vectors[word], uses[word]) for word in uses})

    found = {word: vectors_of(embedder, uses[word]) for word in uses}
    for n, layer in enumerate(embedder.layers):
        yield row(layer, {word: one[:, n] for word, one in found.items()})
    if embedder.sees == "the word alone":
        neighbours = {word: around(embedder, uses[word])[:, 0] for word in uses}
        yield row("mean of the words around it", neighbours)
        return
    yield row("mean", {word: one.mean(1) for word, one in found.items()})
    mixed, weights = learned_mix(found, uses)
    shown = " ".join(f"{weight:.2f}" for weight in weights)
    yield row(f"learned mix ({shown})", mixed)
    if halves:
        size = next(iter(found.values())).shape[2] // 2
        for half, part in (("forward", slice(size)), ("backward", slice(size, None))):
            last = {word: one[:, -1, part] for word, one in found.items()}
            yield row(f"{embedder.layers[-1]}, {half} half", last)


def show(uses: Mapping[str, Sequence[Use]], n: int, seed: int) -> None:
    """Uses to be read, drawn over all words, each with the label that cues gave it."""
    every = [(word, use) for word, of in uses.items() for use in of]
    for word, use in random.Random(seed).sample(every, n):
        words = [*use.words]
        words[use.place] = f"[{word}]"
        print(f"{SENSES[word][use.sense].name:12}\t{' '.join(words)}")


def main() -> int:
    """Find uses, embed them, tell senses, print tables."""
    options = record.parser(__doc__)
    options.add_argument("--corpus", type=Path, nargs="+", required=True, metavar="FILE")
    options.add_argument("--run", nargs="*", default=[], metavar="NAME=FOLDER")
    options.add_argument("--halves", nargs="*", default=[], metavar="NAME",
                         help="runs whose vectors are a forward and a backward half")  # fmt: skip
    options.add_argument("--most", type=int, default=100, help="uses of each sense")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--show", type=int, default=0, metavar="N")
    record.add_record_option(options)
    given = options.parse_args()
    uses = uses_of_all(given.corpus, given.most, given.seed)
    print(f"{sum(map(len, uses.values())):,} uses of {len(uses)} words")
    show(uses, given.show, given.seed)
    rows: list[Row] = []
    for name, _, folder in (one.partition("=") for one in given.run):
        embedder = brought_by_run(folder, "embed")(Path(folder), "cpu")
        for row in rows_of(name, embedder, uses, halves=name in given.halves):
            rows.append(row)
            print(row.run, row.layer, *shown_share(row), sep="\t", flush=True)
    header = ["run", "layer", "told", "95 %", *SENSES]
    counts = [str(len(uses[word]) // 2) for word in SENSES]
    cells = [
        [
            row.run,
            row.layer,
            *shown_share(row),
            *(f"{row.right[word].mean():.0%}" for word in SENSES),
        ]
        for row in rows
    ]
    print("\n" + record.table(header, [["", "uses a sense", "", "", *counts], *cells]))
    figures = {
        "uses": {word: len(of) // 2 for word, of in uses.items()},
        "rows": [
            {"run": row.run, "layer": row.layer,
             "right": {word: float(of.mean()) for word, of in row.right.items()},
             "all": float(np.concatenate([*row.right.values()]).mean())}
            for row in rows
        ],
    }  # fmt: skip
    record.write(given.record, "senses", seeds=[given.seed], figures=figures)
    return 0


def shown_share(row: Row) -> tuple[str, str]:
    """Over all uses, and the interval."""
    right = np.concatenate([*row.right.values()])
    low, high = interval(right)
    return f"{right.mean():.1%}", f"{low:.1%} to {high:.1%}"


if __name__ == "__main__":
    sys.exit(record.exit_status(main))
