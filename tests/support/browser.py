"""Pages in a real headless browser: the system's own Chromium, driven by Playwright."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, expect, sync_playwright

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first is the same browser without what is around a page: a third sooner."""
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), "")
ARGUMENTS = [
    "--no-sandbox",  # of the browser against its own pages: tests may run as root
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PHONE, SCREEN = 360, 1280
expect.set_options(timeout=20_000)  # a machine may have other work
needs_chromium = pytest.mark.skipif(
    not CHROMIUM,
    reason="no Chromium on this machine; with Debian: apt-get install chromium-headless-shell",
)


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser without a window: one for all who ask in this process, since a second driver would
    find the event loop of the first running. The last who leaves closes it."""
    users = _STARTED
    if not users:
        driver = sync_playwright().start()
        started = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        users.append((started, driver.stop))
    else:
        users.append(users[0])
    started, stop = users[0]
    try:
        yield started
    finally:
        users.pop()
        if not users:
            started.close()
            stop()


_STARTED: list[tuple[Browser, Callable[[], None]]] = []
"""An entry for each who has the browser."""


@contextmanager
def opened(
    started: Browser,
    address: Path | str,
    *,
    width: int = SCREEN,
    language: str = "en-US",
    dark: bool = False,
) -> Iterator[Page]:
    """A page in a fresh profile; what it complains of, or asks the network for, is a failure."""
    url = address.resolve().as_uri() if isinstance(address, Path) else address
    context = started.new_context(
        viewport={"width": width, "height": 900},
        locale=language,
        color_scheme="dark" if dark else "light",
    )
    page, complaints = context.new_page(), list[str]()

    def hear(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    page.on("console", hear)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "dialog", lambda dialog: (complaints.append(f"dialog {dialog.message}"), dialog.dismiss())
    )
    page.on(
        "request",
        lambda asked: complaints.append(asked.url) if _elsewhere(asked.url, url) else None,
    )
    try:
        page.goto(url)
        yield page
    finally:
        context.close()
    assert complaints == []


def seen(page: Page, view: str) -> Locator:
    """A view of the page, scrolled to and drawn: it is drawn when it comes near the screen."""
    section = page.locator(f"#{view}")
    section.scroll_into_view_if_needed()
    expect(section).not_to_have_attribute("aria-busy", "true")
    return section


def all_seen(page: Page) -> None:
    """Scroll through, so that every view is drawn."""
    page.evaluate("""async () => {
      for (const view of document.querySelectorAll("main > section")) {
        view.scrollIntoView();
        for (const frame of [1, 2]) await new Promise(requestAnimationFrame);
      }
    }""")
    expect(page.locator("main > section[aria-busy=true]")).to_have_count(0)


def dropped(page: Page, name: str, data: str) -> None:
    """Let a file fall on a page."""
    script = """([name, data]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([data], name));
      const how = { dataTransfer, bubbles: true, cancelable: true };
      document.body.dispatchEvent(new DragEvent("drop", how));
    }"""
    page.evaluate(script, [name, data])


def _elsewhere(asked: str, url: str) -> bool:
    return not asked.startswith(url.rpartition("/")[0])
