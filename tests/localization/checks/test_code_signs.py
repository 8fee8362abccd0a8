"""What is wrong with the codes of a translation."""

import pytest

from headway.localization.checks.code_signs import odd_codes


@pytest.mark.parametrize(
    ("source", "target", "n"),
    [
        ("A <b>dog</b> runs", "Ein <b>Hund</b> rennt", 0),
        ("A <b>dog</b> runs", "Ein Hund <b></b> rennt", 1),
        ("A <b></b>dog", "Ein <b></b>Hund", 0),
        ("{n, plural, one {# file} other {# files}}", "{n, plural, eine # Datei}", 7),
        ("Hello $name", "Hallo Name", 1),
    ],
)
def test_lost_codes_lone_braces_and_pairs_that_hold_nothing_are_counted(source, target, n):
    assert odd_codes(source, target, ())[0] == n
