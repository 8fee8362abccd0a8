"""Fourth to sixth stage: a fair sample of what is kept, sub-words of it, pairs as ids."""

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from headway.core.cleaning import Pair, Report
from headway.core.dedup_split import KEPT, Marks, shuffled
from headway.core.disk import write_text
from headway.core.rows import SIDES, as_written
from headway.core.subwords import Subwords
from headway.corpora.cache import read_sealed, sealed_folder
from headway.corpora.cleaned import CleanedCorpus, encoded_piece, pair_encoders
from headway.corpora.coded import ShownPairs, handling_of_codes
from headway.corpora.pieces import Piece, add_report, report_from, taken_out, write_piece
from headway.corpora.prepared import learned_subwords, shown_pairs
from headway.corpora.store import EncodedRows, write_store
from headway.large_corpora.clean_units import pieces_of
from headway.large_corpora.held_out import outcomes
from headway.large_corpora.plan import SEED, ShardPlan
from headway.localization.placeholders.own_codes import CodeHandling
from headway.operations.locks import Say

_SURPLUS = 1.05  # more are drawn than are wanted, which chance may not give


def sample_unit(plan: ShardPlan, number: int) -> None:
    """Leave in work/sample-NUMBER which pairs of a unit are kept, those that are held out, and its
    share of the pairs that sub-words are learned from.

    Each pair is drawn by its hash: equally likely wherever it stands. Of a corpus with no more
    lines than `text.sample_lines` it is all of them.
    """
    report = report_from(plan.known(number)["report"])
    n_different = read_sealed(plan.place("split", 0), only=())["n_different"]
    share = _SURPLUS * plan.text.sample_lines / (2 * max(1, n_different))
    sampled, held_out, n_characters = list[Pair](), list[Pair](), 0
    with sealed_folder(plan.place("sample", number)) as (folder, content):
        with (folder / "kept").open("wb") as file:
            for piece, both, outcome in outcomes(plan, number):
                held_out += taken_out(piece, outcome, report)
                kept = outcome == KEPT
                kept.tofile(file)
                sampled += piece.pairs(
                    kept & (shuffled(both.of_pairs(), SEED + 1) < share * 2.0**64)
                )
                rows = piece.rows()[kept]
                n_characters += int(rows["source"].sum()) + int(rows["target"].sum())
        written = [write_piece(folder, *of)[1:] for of in (("train", sampled), ("valid", held_out))]
        pieces = dict(zip(("train", "valid"), written, strict=True))
        content |= {"report": report.as_dict(), "n_characters": n_characters, "pieces": pieces}


def sampled(plan: ShardPlan) -> CleanedCorpus:
    """What was sampled of all units, with the reports and the characters of all pairs."""
    report, valid_report, n_characters, may_hold = Report(), Report(), 0, False
    train, valid = list[Piece](), list[Piece]()
    for unit in plan.units:
        folder = plan.place("sample", unit.number)
        known = read_sealed(folder)
        for pieces, name in ((train, "train"), (valid, "valid")):
            pieces.append(Piece(folder, *known["pieces"][name]))
        n_characters += known["n_characters"]
        add_report(report, report_from(known["report"]))
        may_hold |= plan.known(unit.number)["may_hold_codes"]
    split = plan.place("split", 0)
    given = read_sealed(split)
    if plan.data.validation():
        valid = [Piece(split, "given", given["files"], given["n_given"], given["n_given"])]
        valid_report = report_from(given["report"])
    else:
        for pair in chain.from_iterable(piece.pairs() for piece in valid):
            valid_report.read += 1
            valid_report.keep(pair)
    return CleanedCorpus(
        plan.work / "sampled",
        {"train": report, "valid": valid_report},
        n_characters,
        checksums={},
        files=plan.names,
        pieces={"train": train, "valid": valid},
        may_hold_codes=may_hold,
    )


class LearnedText(NamedTuple):
    """How texts become ids."""

    subwords: Subwords
    codes: CodeHandling
    shown: ShownPairs | None


def learn_subwords(plan: ShardPlan, say: Say) -> None:
    """Leave in tokenizer.json the sub-words, in valid/ the encoded validation pairs."""
    cleaned, text, own = sampled(plan), plan.text, plan.text.patterns()
    codes: CodeHandling = "keep"
    if text.codes == "mask" or (text.codes == "auto" and (own or cleaned.may_hold_codes)):
        codes = handling_of_codes(partial(cleaned.pairs, "train"), text.codes, None, say, own=own)
    write_text(plan.place("codes", 0), codes)
    shown = shown_pairs(codes, plan.corpus, own)
    n_sampled = sum(piece.n_kept for piece in cleaned.pieces["train"])
    if n_sampled < cleaned.reports["train"].kept:
        say(f"a fair sample of {n_sampled:,} of {cleaned.reports['train'].kept:,} pairs was drawn")
    subwords = learned_subwords(cleaned, replace(text, codes=codes), shown, SEED, say)
    subwords.save(plan.directory / "tokenizer.json")
    valid, texts = cleaned.pieces["valid"], [pair[:2] for pair in cleaned.pairs("valid")]
    write_encoded(plan, plan.directory / "valid", [(one, None) for one in valid], texts=texts)


def write_encoded(
    plan: ShardPlan, directory: Path, pieces: Iterable[tuple[Piece, Marks | None]], **known: Any
) -> None:
    """The chosen pairs of some pieces as ids in a `Store`, which knows what was dropped of them,
    and what is `known` besides."""
    subwords, _, shown = learned(plan)
    dropped, longest = Report(), dict.fromkeys(SIDES, 0)

    def rows() -> Iterator[EncodedRows]:
        for piece, chosen in pieces:
            encoded, report = encoded_piece(
                subwords, shown or as_written, plan.names, plan.data.max_length, piece, chosen
            )
            add_report(dropped, report)
            for some in encoded:
                for side, lengths in zip(SIDES, some.lengths, strict=True):
                    longest[side] = max(longest[side], int(lengths.max(initial=0)))
                yield some

    write_store(
        rows(), directory, pair_encoders(subwords), files=plan.names,
        known=lambda: {"dropped": dropped.as_dict(), "longest": longest, **known},
    )  # fmt: skip


def encode_unit(plan: ShardPlan, number: int) -> None:
    """Leave the kept pairs of a unit as ids in train-NUMBER, and remove its texts."""
    kept = np.fromfile(plan.place("sample", number) / "kept", np.bool_)
    pieces, begin, chosen = pieces_of(plan, number), 0, []
    for piece in pieces:
        read_sealed(piece.folder)  # is it as it was written?
        chosen.append((piece, kept[begin : begin + piece.n_rows]))
        begin += piece.n_rows
    write_encoded(plan, plan.shard(number), chosen)
    shutil.rmtree(plan.place("clean", number))


@lru_cache(maxsize=1)
def learned(plan: ShardPlan) -> LearnedText:
    """What `learn_subwords` left; one process reads it once, for all its units."""
    codes = cast(CodeHandling, plan.place("codes", 0).read_text("utf-8"))
    shown = shown_pairs(codes, plan.corpus, plan.text.patterns())
    return LearnedText(Subwords.load(plan.directory), codes, shown)
