"""What heads do over many texts: laws of the measure, and as a page shows it."""

import json
from pathlib import Path

import pytest
from browser import needs_chromium, opened, seen
from everyday_run import command
from playwright.sync_api import Browser, expect

from headway.core.errors import ConfigError
from headway.inspection.attention_maps import survey, told_of, weights_of
from headway.inspection.head_habits import habits
from headway.inspection.html_page import html
from headway.inspection.inspected_model import open_subject
from headway.inspection.passage_analysis import PassageAnalysis

TEXTS = ["The dog runs.", "I love learning.", "The cat didn't see the dog because it was tired."]


def test_it_is_measured_over_all_queries_of_all_texts(everyday_run: Path) -> None:
    subject = open_subject(everyday_run, device="cpu")
    found = survey(subject, [TEXTS[0], " ", *TEXTS[1:]])
    assert (found["n_texts"], found["left_out"]) == (3, 0)
    analyses = [PassageAnalysis(subject, subject.passage_of(text)) for text in TEXTS]
    for one in found["kinds"]:
        expected = habits([weights_of(analysis, one["kind"]) for analysis in analyses])
        assert one["habits"] == told_of(expected)
    with pytest.raises(ConfigError, match="all of these are blank"):
        survey(subject, ["", "  "])


@needs_chromium
def test_a_page_of_a_file_shows_it(chromium: Browser, everyday_run: Path, tmp_path: Path) -> None:
    file = tmp_path / "texts.en"
    file.write_text("\n".join([*TEXTS, "", *TEXTS]) + "\n", encoding="utf-8")
    done = command("inspect", str(everyday_run), "--texts", str(file), "--json")
    found = json.loads(done.out)
    assert [one["text"] for one in found["sentences"]] == [*TEXTS, TEXTS[0]]
    page_file = tmp_path / "page.html"
    page_file.write_text(html(found), encoding="utf-8")
    with opened(chromium, page_file) as page:
        view = seen(page, "heads")
        expect(view).to_contain_text("6 texts.")
        habit = found["heads"]["kinds"][-1]["habits"]
        rows = view.locator("table").last.locator("tbody tr")
        expect(rows).to_have_count(sum(map(len, habit["heads"])))
        share = habit["shares"][0][0][0]
        expect(rows.first.locator("td").nth(1)).to_have_text(f"{100 * share:.1f} %")


def test_a_file_of_texts_and_a_text_exclude_each_other(everyday_run: Path, tmp_path: Path) -> None:
    done = command("inspect", str(everyday_run), "A dog.", "--texts", str(tmp_path / "x"))
    assert done.status == 2
    assert "--texts names a file of texts" in done.err
