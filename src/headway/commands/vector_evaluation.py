"""What `headway evaluate --analogies F --similarities F` does: word vectors are scored."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.commands.arguments import print_json
from headway.commands.evaluate_options import OF_TRANSLATIONS, EvaluateOptions, given_options
from headway.commands.vectors import opened
from headway.core.errors import ConfigError

if TYPE_CHECKING:
    from headway.vectors.evaluation import AnalogyScores, SimilarityScores


def evaluate_vectors(runs: Sequence[Path], told: EvaluateOptions) -> None:
    """Score word vectors on analogies, and on similarities as people see them.

    Raises ConfigError for other options, without files of either, and for several places.
    """
    sets = [[*(told.analogies or ())], [*(told.similarities or ())]]
    places = [*runs, *(some.pop() for some in sets if some and some[-1].is_dir())]
    others = given_options(told, ("corpus", *OF_TRANSLATIONS))
    if others or not any(sets):
        raise ConfigError(
            "word vectors are scored on --analogies and --similarities; got "
            f"{next(iter(others), 'neither')}. Try: headway evaluate RUN --analogies F "
            "--similarities F2"
        )
    if len(places) != 1:
        raise ConfigError(
            f"the vectors of one run, or of one file, are scored at a time; got {len(places)}. "
            "Try: headway evaluate RUN --analogies F"
        )
    from headway.commands.stages import Stages
    from headway.vectors import evaluation

    analogies = {path: evaluation.read_analogies(path) for path in sets[0]}
    similarities = {path: evaluation.read_similarities(path) for path in sets[1]}
    vectors = opened(places[0])
    with Stages() as stages:
        answered = {
            path: evaluation.score_analogies(
                vectors, some, lambda done, total: stages("analogies", done, total)
            )
            for path, some in analogies.items()
        }
    ranked = {
        path: evaluation.score_similarities(vectors, some) for path, some in similarities.items()
    }
    if told.json:
        print_json(
            {
                "vectors": str(places[0]),
                "words": len(vectors),
                "size": vectors.size,
                "analogies": [_analogies_as_dict(path, one) for path, one in answered.items()],
                "similarities": [
                    {"file": str(path), **one._asdict()} for path, one in ranked.items()
                ],
            }
        )
        return
    print(f"{places[0]}: {len(vectors):,} words, {vectors.size} numbers each")
    for path, scores in answered.items():
        _print_analogies(path, scores, len(vectors))
    if ranked:
        _print_similarities(ranked)


def _analogies_as_dict(path: Path, scores: "AnalogyScores") -> dict[str, Any]:
    figures = [
        {**one._asdict(), "of_covered": one.of_covered, "of_all": one.of_all}
        for one in (scores.total, *scores.sections)
    ]
    del figures[0]["section"]
    return {"file": str(path), **figures[0], "n_lowered": scores.n_lowered, "sections": figures[1:]}


def _print_analogies(path: Path, scores: "AnalogyScores", n_words: int) -> None:
    print(f"\n{path.name}: analogies answered right, of those whose four words have vectors")
    rows = [*scores.sections, *[scores.total] * (len(scores.sections) > 1)]
    width = max(len(row.section) for row in rows)
    for row in rows:
        share = "     –" if row.of_covered is None else f"{row.of_covered:6.1%}"
        print(
            f"  {row.section:<{width}}  {share}  {row.n_right:>6,} of {row.n_covered:>6,}   "
            f"covered {row.n_covered / row.n_questions:6.1%} of {row.n_questions:>6,}   "
            f"right of all {row.of_all:6.1%}"
        )
    print(f"  chance: 1 of {max(1, n_words - 3):,}{_lowered(scores.n_lowered)}")


def _print_similarities(ranked: "dict[Path, SimilarityScores]") -> None:
    print("\nsimilarities: Spearman's rho with what people say (chance: 0), over covered pairs")
    width = max(len(path.name) for path in ranked)
    for path, one in ranked.items():
        rho = "undefined" if one.rho is None else f"{one.rho:.3f}"
        within = "[{:.3f}, {:.3f}]".format(*one.interval) if one.interval else ""
        print(
            f"  {path.name:<{width}}  {rho:>9}  {within:<16}  covered "
            f"{one.n_covered / one.n_pairs:6.1%} of {one.n_pairs:,}{_lowered(one.n_lowered)}"
        )
    print("  95 % intervals: Fisher's z, standard error of Bonett and Wright (2000)")


def _lowered(n: int) -> str:
    """What is said of words that are not there as they are written."""
    return f"; {n:,} words found in lower case only" if n else ""
