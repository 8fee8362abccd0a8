"""Labelled texts: files to rows.

`.jsonl` has an object a line, `.csv` (and `.tsv` where a column is named) a header; every other
file is label TAB text. `.gz` behind any of them. Several labels of a text stand between `|`.
"""

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

from headway.core.errors import ConfigError, DataError
from headway.core.lines import read_lines, shown
from headway.labelling.data import LabelledFiles
from headway.language_models import texts
from headway.runs.task_spec import Say

SEVERAL = "|"
RARE = 20
"""A label is rare where the most frequent one has over so many times its texts."""
_NAMES_OF_COLUMNS = frozenset(
    "label labels class category topic intent sentiment target text texts sentence question review "
    "query title content utterance".split()
) | {"标签", "类别", "文本", "内容", "标题", "问题"}
_NOT_TEXTS = 0.5
"""Where more than this share of many texts has a label of its own, labels and texts are swapped."""


@dataclass(frozen=True)
class ClassifiedFiles(LabelledFiles):
    """Section [data]: which files, and where in them the texts are."""

    text_column: str = ""
    """Of .csv, .tsv and .jsonl: what the column, or the key, of the texts is called; text if left
    out."""
    label_column: str = ""
    """The same of labels; label if left out."""


class LabelledText(NamedTuple):
    """A text of a file."""

    text: str
    labels: tuple[str, ...]
    """One or several; none only where JSON says so."""
    place: str
    """Line and file, for errors."""


def read_labelled(paths: Sequence[Path], how: ClassifiedFiles) -> list[LabelledText]:
    """The texts of some files, in their order; blank lines are passed over.

    Raises DataError: a file cannot be read, a line is not as it should be, or there is no text.
    """
    found = list[LabelledText]()
    for path in paths:
        before, empty = len(found), list[str]()
        for place, labels, text in _in_columns(path, how, labelled=True) or _of_lines(path):
            if not text.strip():
                empty.append(place)
                continue
            names = labels if isinstance(labels, list) else labels.split(SEVERAL)
            kept = tuple(dict.fromkeys(name.strip() for name in names))
            if "" in kept:
                raise DataError(f"a label has letters; {place} has an empty one. Name it.")
            found.append(LabelledText(text, kept, place))
        if empty:
            n_more = len(empty) - 1
            which = f"{empty[0]} and {n_more:,} more have" if n_more else f"{empty[0]} has"
            raise DataError(f"a text has words; {which} none. Leave that out.")
        if len(found) == before:
            raise DataError(f"a file of labelled texts has some; {shown(path)} has blank lines.")
    return found


def read_texts(path: Path, how: ClassifiedFiles) -> Iterator[str] | None:
    """The texts of a file that has columns or keys, whatever labels are in it; None for any other.

    Raises what `read_labelled` does but for labels, when the texts are taken.
    """
    rows = _in_columns(path, how, labelled=False)
    return None if rows is None else (text for _, _, text in rows)


def _in_columns(
    path: Path, how: ClassifiedFiles, *, labelled: bool
) -> Iterator[tuple[str, str | list[str], str]] | None:
    """Place, labels (none where they are not asked for) and text; None for a file of lines."""
    named = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    kind = named.suffix.lower()
    wanted = {"text": how.text_column or "text"}
    if labelled:
        wanted["label"] = how.label_column or "label"
    if kind in (".jsonl", ".ndjson"):
        return _of_json(path, wanted)
    if kind == ".csv" or (kind == ".tsv" and (how.text_column or how.label_column)):
        return _of_table(path, wanted, "," if kind == ".csv" else "\t")
    return None


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(read_lines(path), 1):
        place = f"line {number:,} of {shown(path)}"
        if line is None:
            raise DataError(f"a line has 1 MiB at most; {place} has more. Leave it out, or cut it.")
        yield place, line


def _of_lines(path: Path) -> Iterator[tuple[str, str, str]]:
    for place, line in _lines(path):
        label, tab, text = line.partition("\t")
        if not line.strip():
            continue
        if not tab:
            raise DataError(
                f"a line is label TAB text; {place} has no tab: {line[:60]!r}. Put one between "
                "them; .csv and .jsonl are read by their names."
            )
        names = {label.strip().lower(), text.strip().lower()}
        if place.startswith("line 1 ") and names <= _NAMES_OF_COLUMNS:
            raise DataError(
                f"a line is label TAB text; {place} is the names of columns: {line[:60]!r}. Name "
                f"them: --label-column {label.strip()} --text-column {text.strip()}, or "
                "the other way round."
            )
        yield place, label, text


def _of_json(path: Path, wanted: Mapping[str, str]) -> Iterator[tuple[str, str | list[str], str]]:
    for place, line in _lines(path):
        if not line.strip():
            continue
        try:
            one: Any = json.loads(line)
            found, labels = one[wanted["text"]], one[wanted["label"]] if "label" in wanted else ""
            listed = labels if isinstance(labels, list) else [labels]
            sound = isinstance(found, str) and all(isinstance(name, str | int) for name in listed)
        except (ValueError, KeyError, TypeError, RecursionError):
            sound = False
        if not sound:
            keys = f"{wanted['text']!r} (a string)"
            if "label" in wanted:
                keys += f" and {wanted['label']!r} (a string, a whole number, or a list of these)"
            raise DataError(
                f"a line is an object with {keys}; {place} is {line[:60]!r}. Mend it, or "
                f"{_other_names(wanted)}."
            )
        yield place, [str(name) for name in listed] if listed is labels else str(labels), found


def _other_names(wanted: Mapping[str, str]) -> str:
    if "label" in wanted:
        return "name others with --text-column and --label-column"
    return f"call its texts {wanted['text']!r}, as in what the run learned from"


def _of_table(
    path: Path, wanted: Mapping[str, str], delimiter: str
) -> Iterator[tuple[str, str, str]]:
    lines = (f"{line}\n" for _, line in _lines(path))
    quoted: Any = csv.QUOTE_MINIMAL if delimiter == "," else csv.QUOTE_NONE
    table = csv.reader(lines, delimiter=delimiter, quoting=quoted, strict=True)
    try:
        header = [name.strip() for name in next(table, [])]
        for name in wanted.values():
            if header.count(name) != 1:
                raise ConfigError(
                    f"a column has one name of the header; {name!r} is there "
                    f"{header.count(name)} times: {shown(path)} begins with "
                    f"{', '.join(header)[:200]}. Mend it, or {_other_names(wanted)}."
                )
        places = {key: header.index(name) for key, name in wanted.items()}
        for row in table:
            place = f"line {table.line_num:,} of {shown(path)}"
            if not row:
                continue
            if len(row) != len(header):
                raise DataError(
                    f"a row has a cell for each of {len(header)} columns; {place} has {len(row)}. "
                    "Put texts that have a comma between double quotes."
                )
            label = row[places["label"]] if "label" in places else ""
            yield place, label, row[places["text"]].strip("\n")
    except csv.Error as error:
        raise DataError(
            f"a table is CSV with double quotes; line {table.line_num:,} of {shown(path)} is not "
            f"({error}). Mend that line."
        ) from None


# -- labels -----------------------------------------------------------------------------------


def labels_of(rows: Sequence[LabelledText], say: Say) -> tuple[str, ...]:
    """The labels that are learned, in the order of their names; how many texts have each is said.

    Raises DataError where there are not two, or where they are texts.
    """
    counts = Counter(label for row in rows for label in row.labels)
    several = any(len(row.labels) != 1 for row in rows)
    if len(counts) < (1 if several else 2):
        raise DataError(
            f"there are two labels or more; all {len(rows):,} texts are {next(iter(counts), '')!r}."
            " Add texts of another."
        )
    alone = sum(n == 1 for n in counts.values())
    if len(rows) >= RARE and alone > _NOT_TEXTS * len(rows):
        raise DataError(
            f"labels come again and again; {alone:,} of {len(rows):,} texts have one of their own, "
            f"such as {next(name for name, n in counts.items() if n == 1)[:60]!r}. A line is label "
            "TAB text: swap the two, or give each label more texts."
        )
    most = counts.most_common()
    say(
        f"{len(counts):,} labels: {', '.join(f'{name} {n:,}' for name, n in most[:12])}"
        f"{', ..' if len(most) > 12 else ''}"
    )
    (often, n_often), (seldom, n_seldom) = most[0], most[-1]
    if n_often > RARE * n_seldom or n_often > 0.8 * len(rows):
        say(
            f"WARNING: {often} has {n_often / len(rows):.0%} of the texts, {seldom} "
            f"{n_seldom / len(rows):.1%}: who always says {often} is right that often. Look at F1 "
            "and at each label (headway evaluate), not at accuracy; more texts of rare labels help."
        )
    return tuple(sorted(counts))


def say_contradictions(rows: Sequence[LabelledText], say: Say) -> None:
    """How many texts are there with other labels as well: no model can tell them apart."""
    labels: dict[str, set[tuple[str, ...]]] = {}
    for row in rows:
        labels.setdefault(row.text, set()).add(tuple(sorted(row.labels)))
    if several := [text for text, found in labels.items() if len(found) > 1]:
        some = " and ".join(sorted(", ".join(one) for one in labels[several[0]])[:3])
        say(
            f"WARNING: {len(several):,} texts stand there with different labels, the first is "
            f"{several[0][:60]!r}: {some}. No model tells these apart: keep the right ones"
        )


def refuse_unknown(rows: Sequence[LabelledText], labels: Sequence[str], what: str) -> None:
    """Raise DataError for a text whose label is none of those that were learned."""
    known, learned = shorten(", ".join(labels), 200, placeholder=" .."), {*labels}
    for row in rows:
        for label in row.labels:
            if label not in learned:
                raise DataError(
                    f"{what} have labels that were learned from; {row.place} has {label!r}, which "
                    f"is none of {known}. Put some such texts among those to learn from, or leave "
                    "that line out."
                )


def refuse_several(rows: Sequence[LabelledText]) -> None:
    """Raise DataError for a text without a label, or with several, of which a run that says one
    label could be scored on the first alone."""
    for row in rows:
        if len(row.labels) != 1:
            raise DataError(
                "a run that learned one label of each text is scored on such texts; "
                f"{row.place} has {shorten(', '.join(row.labels), 80) or 'none'}. Leave that line "
                "out, or train on texts of several labels."
            )


refuse_unreadable = partial(
    texts.refuse_unreadable,
    kind=ClassifiedFiles,
    none="labels are learned from texts; none is named. Give --corpus F.",
)
"""See `headway.language_models.texts.refuse_unreadable`."""
