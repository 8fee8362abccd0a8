"""What a reviewer changed is found, whatever else happened to the file."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.errors import DataError
from headway.demo import generate
from headway.languages.codes import LanguagePair
from headway.translation.corrections import Version, matched, review

PAIRS = list(dict(generate(60, seed=3)).items())
HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Language: zh\\n"\n\n'


class Any:
    source_language = None
    target_language = None


def po(path: Path, units: list[tuple[str, str]], fuzzy: frozenset[int] = frozenset()) -> Path:
    entries = [
        ("#, fuzzy\n" if i in fuzzy else "")
        + f'msgctxt "c{source}"\nmsgid "{source}"\nmsgstr "{target}"\n'
        for i, (source, target) in enumerate(units)
    ]
    path.write_text(HEADER + "\n".join(entries), encoding="utf-8")
    return path


def tsv(path: Path, units: list[tuple[str, str]]) -> Path:
    path.write_text("".join(f"{s}\t{t}\n" for s, t in units), encoding="utf-8")
    return path


def xliff(path: Path, units: list[tuple[str, str]], target_language: str = "zh") -> Path:
    body = "".join(
        f'<trans-unit id="{i}"><source>{s}</source><target>{t}</target></trans-unit>'
        for i, (s, t) in enumerate(units)
    )
    path.write_text(
        f'<xliff version="1.2"><file source-language="en" target-language="{target_language}" '
        f'datatype="plaintext" original="a"><body>{body}</body></file></xliff>',
        encoding="utf-8",
    )
    return path


def tmx(path: Path, units: list[tuple[str, str]]) -> Path:
    body = "".join(
        f'<tu><tuv xml:lang="en"><seg>{s}</seg></tuv><tuv xml:lang="zh"><seg>{t}</seg></tuv></tu>'
        for s, t in units
    )
    path.write_text(
        f'<tmx version="1.4"><header srclang="en"/><body>{body}</body></tmx>', encoding="utf-8"
    )
    return path


def qt(path: Path, units: list[tuple[str, str]], drafts: frozenset[int] = frozenset()) -> Path:
    kinds = [' type="unfinished"' if i in drafts else "" for i in range(len(units))]
    messages = "".join(
        f"<message><source>{s}</source><translation{kind}>{t}</translation></message>"
        for (s, t), kind in zip(units, kinds, strict=True)
    )
    path.write_text(
        f'<TS language="zh" sourcelanguage="en"><context><name>C</name>{messages}</context></TS>',
        encoding="utf-8",
    )
    return path


KINDS = {".po": po, ".tsv": tsv, ".xlf": xliff, ".tmx": tmx, ".ts": qt}
DRAFTED = {".po": po, ".ts": qt}


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_what_was_changed_moved_added_and_removed_is_told_apart(tmp_path, first, second):
    old = PAIRS[:40]
    changed = {source: target.replace("。", "！") + "改" for source, target in old[5:12]}
    new = [(source, changed.get(source, target)) for source, target in old[3:]] + PAIRS[40:45]
    random.Random(1).shuffle(new)
    files = KINDS[first](tmp_path / f"old{first}", old), KINDS[second](tmp_path / f"n{second}", new)
    found = review(*files, Any())
    assert {(c.source, c.target) for c in found.corrections} == set(changed.items())
    assert all(dict(old)[c.source] == c.before for c in found.corrections)
    assert found.counts == {"corrected": 7, "unchanged": 30, "new": 5, "removed": 3}


@pytest.mark.parametrize("kind", DRAFTED)
def test_what_a_machine_wrote_is_corrected_and_what_is_still_fuzzy_waits(tmp_path, kind):
    units = PAIRS[:4]
    old = DRAFTED[kind](tmp_path / f"old{kind}", units, frozenset({0, 1, 2}))
    new = DRAFTED[kind](
        tmp_path / f"new{kind}",
        [(units[0][0], "新"), units[1], (units[2][0], "新"), (units[3][0], "")],
        frozenset({2}),
    )
    found = review(old, new, Any())
    assert [tuple(c) for c in found.corrections] == [(units[0][0], "新", units[0][1])]
    assert found.counts == {"corrected": 1, "unchanged": 1, "waiting": 2, "removed": 0}


def test_one_source_in_two_contexts_is_two_units(tmp_path):
    units = [("Open", "打开"), ("Open", "开")]

    def written(name: str, texts: list[tuple[str, str]]) -> Path:
        path = tmp_path / name
        entries = [
            f'msgctxt "{context}"\nmsgid "{s}"\nmsgstr "{t}"\n'
            for context, (s, t) in zip("ab", texts, strict=True)
        ]
        path.write_text(HEADER + "\n".join(entries), encoding="utf-8")
        return path

    new = written("new.po", [("Open", "开"), ("Open", "开着")])
    found = review(written("old.po", units), new, Any())
    assert [tuple(c) for c in found.corrections] == [("Open", "开", "打开"), ("Open", "开着", "开")]


def test_a_unit_with_an_empty_segment_waits(tmp_path):
    half = '<mrk mtype="seg" mid="1">好。</mrk><mrk mtype="seg" mid="2"/>'
    old = xliff(tmp_path / "a.xlf", [("A. B.", "甲。乙。")])
    found = review(old, xliff(tmp_path / "b.xlf", [("A. B.", half)]), Any())
    assert found.counts == {"waiting": 1, "removed": 0}


def test_each_plural_form_of_qt_is_corrected_by_itself(tmp_path):
    def written(name: str, *forms: str) -> Path:
        inside = "".join(f"<numerusform>{form}</numerusform>" for form in forms)
        message = f"<source>%n file(s)</source><translation>{inside}</translation>"
        path = tmp_path / name
        path.write_text(f'<TS><context><message numerus="yes">{message}</message></context></TS>')
        return path

    found = review(written("a.ts", "%n Datei", "%n File"), written("b.ts", "%n Datei", "x"), Any())
    assert [tuple(c) for c in found.corrections] == [("%n files", "x", "%n File")]
    assert found.counts == {"corrected": 1, "unchanged": 1, "removed": 0}


def test_units_of_a_memory_are_known_by_their_tuid(tmp_path):
    def written(name: str, **targets: str) -> Path:
        path = tmp_path / name
        path.write_text(
            '<tmx version="1.4"><header srclang="en"/><body>'
            + "".join(
                f'<tu tuid="{key}"><tuv xml:lang="en"><seg>Open</seg></tuv>'
                f'<tuv xml:lang="zh"><seg>{target}</seg></tuv></tu>'
                for key, target in targets.items()
            )
            + "</body></tmx>",
            encoding="utf-8",
        )
        return path

    new = written("new.tmx", b="开着", a="开")
    found = review(written("old.tmx", a="打开", b="开"), new, Any())
    assert [tuple(c) for c in found.corrections] == [("Open", "开着", "开"), ("Open", "开", "打开")]


def test_files_of_other_languages_or_nothing_in_common_are_refused(tmp_path):
    old = xliff(tmp_path / "old.xlf", PAIRS[:3])
    with pytest.raises(DataError, match="same languages; .*en -> zh.*en -> de"):
        review(old, xliff(tmp_path / "de.xlf", PAIRS[:3], "de"), Any())
    with pytest.raises(DataError, match="sources in common"):
        review(old, tsv(tmp_path / "other.tsv", PAIRS[10:13]), Any())


units = st.lists(
    st.builds(
        Version, st.sampled_from(["", "k", "l"]), st.sampled_from("abc"), st.sampled_from("xyz")
    ),
    max_size=8,
)


@given(units, units)
def test_each_unit_is_matched_once_with_its_own_source_and_no_match_is_missed(before, after):
    both = list(matched(before, after))
    assert len({one for one, _ in both}) == len({other for _, other in both}) == len(both)
    assert all(after[one].source == before[other].source for one, other in both)
    for source in "abc":
        counts = [sum(unit.source == source for unit in of) for of in (before, after)]
        assert sum(after[one].source == source for one, _ in both) == min(counts)


@given(units, st.randoms())
def test_a_file_that_was_only_put_in_another_order_is_unchanged(before, shuffled):
    after = list(before)
    shuffled.shuffle(after)
    assert all(after[one].target == before[other].target for one, other in matched(before, after))


def test_files_of_one_language_are_refused_in_words_that_help(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("old.json", "new.json")]
    for file in files:
        file.write_text('{"a": "Hallo."}', encoding="utf-8")
    with pytest.raises(DataError, match="has texts of one language. Put both into a table"):
        review(*files, LanguagePair())
