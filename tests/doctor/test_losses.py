from headway.core.cleaning import Pair, Report
from headway.corpora.reasons import MENDED, NOTICED, REASONS
from headway.doctor.findings import Severity, dropped, mended


def test_every_reason_has_words_and_a_remedy() -> None:
    report = Report(read=len(REASONS))
    for line, reason in enumerate(REASONS, start=1):
        report.drop_pair(reason, Pair("one", "eins", "f", line))
    found = list(dropped(report))
    assert [finding.name for finding in found] == list(REASONS)
    for line, finding in enumerate(found, start=1):
        assert finding.severity is Severity.DROPPED
        assert REASONS[finding.name] in finding.title
        assert finding.remedy
        (case,) = finding.examples
        assert (case.line, case.source, case.target) == (line, "one", "eins")
        assert (finding.n, finding.of) == (1, len(REASONS))


def test_many_losses_are_stressed_where_they_are_not_expected() -> None:
    report = Report(read=100)
    for reason, n in (("length_ratio", 2), ("too_long", 1), ("duplicate", 50)):
        report.dropped[reason] = n
    meanings = {finding.name: finding.meaning for finding in dropped(report)}
    assert "many" in meanings.pop("length_ratio")
    assert set(meanings.values()) == {""}


def test_what_was_mended_or_noticed_is_for_information() -> None:
    report = Report(read=1_000)
    report.mended.update(list(MENDED))
    report.noticed.update(list(NOTICED))
    found = list(mended(report))
    urgent = {finding.name for finding in found if finding.severity is not Severity.INFORMATION}
    assert urgent == {"doubtful_note"}
    assert {finding.name for finding in found} == {*MENDED, *NOTICED} - {"copy"}
