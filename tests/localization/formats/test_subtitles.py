"""Subtitles: numbers, times and all that is no text stay; sentences are whole, lines are short."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.core.errors import DataError
from headway.localization.formats.keyed import texts_of
from headway.localization.formats.subtitles import COLUMNS, open_document
from headway.localization.placeholders.segments import Segment

SRT = (
    "1\r\n00:00:01,000 --> 00:00:02,000\r\nThe old man went\r\nto the market\r\n\r\n"
    "2\r\n00:00:02,500 --> 00:00:03,000 X1:10\r\nand bought a fish.\r\n\r\n"
    "3\r\n00:00:04,000 --> 00:00:05,000\r\n- Hi!\r\n- Ho!\r\n\r\n"
    "4\r\n00:00:06,000 --> 00:00:07,000\r\n<i>Once</i>\r\n"
)
VTT = (
    "WEBVTT - a\nX: y\n\nNOTE not\n00:09.000 this\n\nSTYLE\n::cue {}\n\nid 1\n"
    "00:01.000 --> 00:00:02.000 align:left\n<v Bob>Hi &amp; ho\n\n00:03.000 --> 00:04.000\nEnd"
)


def test_a_sentence_over_two_cues_is_one_text_and_is_shared_among_them(tmp_path):
    path = tmp_path / "a.en.srt"
    path.write_text(SRT, newline="")
    document = open_document(path, None, "de", False)
    assert document.source_language == "en"
    assert [(gap.source.text, gap.line) for gap in document.gaps] == [
        ("The old man went to the market and bought a fish.", 3),
        ("- Hi!\n- Ho!", 12),
        ("<i>Once</i>", 17),
    ]
    assert document.filled([None] * 3) == SRT.encode()
    new = "Der alte Mann ging zum Markt und kaufte einen Fisch."
    after = document.filled([Segment((new,)), Segment(("- A\n- B",)), None]).decode()
    old = "The old man went\r\nto the market", "and bought a fish.", "- Hi!\r\n- Ho!"
    wanted = SRT.replace(old[0], "Der alte Mann ging zum Markt und")
    assert after == wanted.replace(old[1], "kaufte einen Fisch.").replace(old[2], "- A\r\n- B")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("time", ["00:00:04:000 --> 00:00:05:000", "00:00:04 --> 00:00:05"])
def test_a_cue_whose_time_cannot_be_read_is_not_passed_over(tmp_path, time, newline):
    path = tmp_path / "a.en.srt"
    text = SRT.replace("00:00:04,000 --> 00:00:05,000", time).replace("\r\n", newline)
    path.write_text(text, newline="")
    line = "" if newline == "\r" else ":11"
    with pytest.raises(DataError, match=f"a.en.srt{line}.* has '{time}'. Mend the time there"):
        open_document(path, None, "de", False)


def test_old_subtitles_keep_their_quotes_and_damaged_ones_are_refused(tmp_path):
    path = tmp_path / "a.en.srt"
    text = "It\u2019s \u201clate\u201d\u2026 in the caf\u00e9."
    new = SRT.replace("and bought a fish.", text).encode("cp1252")
    path.write_bytes(new)
    document = open_document(path, None, "de", False)
    assert document.gaps[1].source.text == text
    assert document.filled([None] * len(document.gaps)) == new
    path.write_bytes(SRT.replace("market", "caf\u00e9").encode().replace(b"Hi!", b"Hi\xff!"))
    with pytest.raises(DataError, match=r"a\.en\.srt:12 is not"):
        open_document(path, None, "de", False)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_number_of_a_cue_is_no_text_where_no_blank_line_is_before_it(tmp_path, newline):
    path = tmp_path / "a.en.srt"
    text = SRT.replace("\r\n\r\n", "\r\n").replace("Hi!\r\n- Ho!", "Hi!\r\n7")
    path.write_text(text.replace("\r\n", newline), newline="")
    found = [one.text for one in texts_of(path)]
    assert found == ["The old man went to the market", "and bought a fish.", "- Hi!\n7",
                     "<i>Once</i>"]  # fmt: skip


def test_only_the_text_of_cues_is_changed_in_web_subtitles(tmp_path):
    path = tmp_path / "a.vtt"
    path.write_text(VTT)
    document = open_document(path, None, "de", False)
    assert [gap.source.text for gap in document.gaps] == ["<v Bob>Hi &amp; ho", "End"]
    after = document.filled([Segment(("<v Bob>Hallo",)), Segment(("Ende",))]).decode()
    assert after == VTT.replace("Hi &amp; ho", "Hallo").replace("End", "Ende")
    assert [row[0] for row in texts_of(path)] == [
        "00:01.000 --> 00:00:02.000", "00:03.000 --> 00:04.000",
    ]  # fmt: skip


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_blank_line_in_a_text_ends_no_cue(tmp_path, newline):
    path = tmp_path / "a.en.srt"
    path.write_text(SRT.replace("\r\n", newline), newline="")
    document = open_document(path, None, "de", False)
    new = ["\nEins\n\nzwei und\r\n \t\r\ndrei", "- A\n\n\n- B", "<i>Ende</i>\n\n"]
    after = tmp_path / "b.de.srt"
    after.write_bytes(document.filled([Segment((text,)) for text in new]))
    found = open_document(after, None, None, False)
    assert " ".join(gap.source.text for gap in found.gaps) == (
        "Eins zwei und drei - A\n- B <i>Ende</i>"
    )
    assert f"{newline}- A{newline}- B{newline}{newline}4" in after.read_bytes().decode()


@pytest.mark.parametrize("word", ["word ", "好", "ungeheuerlich "])
def test_long_lines_are_wrapped_and_about_equally_wide(tmp_path, word):
    path = tmp_path / "a.srt"
    path.write_text("1\n00:00:01,000 --> 00:00:02,000\nShort\n")
    new = (word * 100)[:90].strip()
    after = open_document(path, None, None, False).filled([Segment((new,))]).decode()
    lines = after.split("\n")[2:-1]
    assert "".join(lines).replace(" ", "") == new.replace(" ", "")
    widths = [len(line.rstrip()) * (2 if word == "好" else 1) for line in lines]
    assert max(widths) <= COLUMNS
    assert len(lines) in (3, 5)
    assert min(widths) > max(widths) - 2 * len(word) - 4


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text("ab.A ", min_size=1, max_size=30), min_size=1, max_size=6))
def test_no_word_is_lost_and_no_cue_is_empty(tmp_path, texts):
    path = tmp_path / "a.srt"
    cues = [f"00:00:0{n},000 --> 00:00:0{n},900\n{text or 'x'}\n" for n, text in enumerate(texts)]
    path.write_text("\n".join(cues))
    document = open_document(path, None, None, False)
    after = document.filled([Segment((gap.source.text.upper(),)) for gap in document.gaps]).decode()
    words = [re.sub(r".*-->.*|\s", "", one) for one in (after, path.read_text().upper())]
    assert words[0] == words[1]
    assert re.findall(".*-->.*", after) == re.findall(".*-->.*", path.read_text())
