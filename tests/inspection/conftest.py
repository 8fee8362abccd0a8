"""One browser for all tests of pages, and one page of a run that was trained for all."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    from browser import browser

    with browser() as started:
        yield started


@pytest.fixture(scope="session")
def document(everyday_run: Path) -> dict[str, Any]:
    """What a page of two sentences draws."""
    from headway.inspection import document
    from headway.inspection.inspected_model import open_inspected

    inspected = open_inspected(everyday_run)
    sentences = [
        document.sentence(inspected, text) for text in ("The dog runs.", "I love learning.")
    ]
    return {"run": document.run(inspected), "sentences": sentences}


@pytest.fixture(scope="session")
def page_file(document: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    from headway.inspection.html_page import html

    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(html(document), encoding="utf-8")
    return file
