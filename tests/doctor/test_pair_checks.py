import random

from doctoring import as_pairs, everyday

from headway.doctor.batches import batches
from headway.doctor.findings import Finding, FindingsLog, Severity
from headway.doctor.pair_checks import TranslationCheck

N_PAIRS = 3_000
Texts = list[tuple[str, str]]


def found(texts: Texts) -> tuple[dict[str, Finding], dict[str, set[int]]]:
    """Findings by name, and all lines by name."""
    lines: dict[str, set[int]] = {}
    notes = FindingsLog(
        lambda symptom, pair, _: lines.setdefault(symptom.name, set()).add(pair.line)
    )
    pairs = as_pairs(texts)
    order = random.Random(1).sample(pairs, len(pairs))
    check = TranslationCheck(notes, order)
    for batch in batches(pairs):
        check.add(batch)
    notes.conclude(check.symptoms, len(pairs))
    return {finding.name: finding for finding in notes.findings()}, lines


def share_found(lines: dict[str, set[int]], name: str, rows: list[int]) -> float:
    return len(lines.get(name, set()) & {row + 1 for row in rows}) / len(rows)


def test_clean_text_is_quiet() -> None:
    findings, lines = found(everyday(N_PAIRS))
    assert sum(map(len, lines.values())) <= 3
    assert not any(finding.serious for finding in findings.values())


def test_damage_of_each_kind_is_named_and_little_else() -> None:
    texts = everyday(N_PAIRS)
    draw = random.Random(2)
    rows = draw.sample([n for n, (source, _) in enumerate(texts) if source.count(" ") >= 5], 250)
    shuffled, cut = rows[:150], rows[150:]
    damaged = list(texts)
    for row, other in zip(shuffled, shuffled[1:] + shuffled[:1], strict=True):
        damaged[row] = texts[row][0], texts[other][1]
    for row in cut:
        source, target = texts[row]
        damaged[row] = source, target[: len(target) // 2]
    findings, lines = found(damaged)
    assert share_found(lines, "unrelated_pair", shuffled) > 0.9
    assert share_found(lines, "truncated", cut) > 0.75
    bad = {row + 1 for row in rows}
    assert len(set().union(*lines.values()) - bad) <= 6
    assert findings["unrelated_pair"].serious
    assert findings["truncated"].severity is Severity.LOOK
    # the surest first: what is shown is damaged
    shown = {case.line for finding in findings.values() for case in finding.examples}
    assert shown <= bad


def test_few_pairs_teach_nothing_and_nothing_is_said() -> None:
    texts = everyday(200)
    assert found([(source, texts[n - 1][1]) for n, (source, _) in enumerate(texts)])[0] == {}
