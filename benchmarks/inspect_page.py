"""What `headway inspect` costs: seconds and bytes of its page, and how soon a browser shows it.

Two runs are trained for one update each, on generated text: `tiny`, and the paper's base (6 + 6
layers, 8 heads, d_model 512), whose page has 100 tokens on both sides. The page is opened in
headless Chromium from a file, in a fresh profile, several times; medians are printed:

    command    `headway inspect RUN TEXT --out F` as a process, until it ends
    first view from the navigation until the first view's tokens and the picture behind it are there
    all heads  from then, scrolled to the maps of attention, until every one of them is painted
    enlarge    from the click on a small map until the large one is painted
    step       from the key on the slider until the step's distribution is painted

Run: python benchmarks/inspect_page.py
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE / "tests" / "support"))

import record  # noqa: E402
from browser import browser  # noqa: E402
from playwright.sync_api import Browser, Page  # noqa: E402

import headway  # noqa: E402
from headway.demo import generate  # noqa: E402

N_TOKENS = 100
TEXT = "The animal didn't cross the street because it was too tired."
FIRST_VIEW = """() => new Promise((done) => {
  const ready = () => document.querySelector("#sentence .tokens button")
    ? requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))
    : requestAnimationFrame(ready);
  ready();
})"""
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"

WATCHED = """(event) => {
  window.spent = new Promise((done) => addEventListener(event, ({ timeStamp }) =>
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - timeStamp))),
  { once: true, capture: true }));
}"""


def trained(folder: Path, preset: str) -> Path:
    """A run of one update: its weights are as good as random, which costs as much."""
    files = []
    for side, texts in zip(("en", "zh"), zip(*generate(300, 3), strict=True), strict=True):
        files.append(folder / f"train.{side}")
        files[-1].write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    settings = {"training": {"max_steps": 1, "valid_sentences": 2, "batch_tokens": 256}}
    decoding = {"max_extra_length": 2}
    return headway.train(
        source=[str(files[0])],
        target=[str(files[1])],
        out=folder / preset,
        preset=preset,
        settings={**settings, "decoding": decoding},
        say=lambda _: None,
    )


def made(run: Path, page: Path, given: list[str]) -> float:
    """Seconds of the whole command."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "headway", "inspect", str(run), *given, "--out", str(page)]
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - started


def long_text(run: Path) -> list[str]:
    """A source and a target of `N_TOKENS` each, as arguments."""
    subwords = headway.Translator.load(run).subwords
    sides = []
    for words in ("The dog runs in the park and the cat sleeps. ", "那只狗在公园里跑，猫在睡觉。"):
        text = words * N_TOKENS
        sides.append(subwords.decode(subwords.encode(text)[: N_TOKENS - 1]))
    return [sides[0], "--target", sides[1]]


def milliseconds(page: Page, event: str, act: Any) -> float:
    """From the event that an act is to the page until two frames behind it, by its own clock: what
    the driver needs to find the place and to press there is not the page's."""
    page.evaluate(WATCHED, event)
    act()
    spent: float = page.evaluate("() => window.spent")
    return spent


def seen(started: Browser, file: Path) -> dict[str, float]:
    """One visit."""
    context = started.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(file.resolve().as_uri())
    found = {"first view": page.evaluate(FIRST_VIEW)}
    maps = page.locator("#attention canvas")
    begun = time.perf_counter()
    page.locator("#attention").scroll_into_view_if_needed()
    maps.first.wait_for()
    page.evaluate(PAINTED)
    found["all heads"] = 1000 * (time.perf_counter() - begun)
    found["enlarge"] = milliseconds(page, "click", maps.nth(1).click)
    slider = page.locator("#steps input[type=range]")
    slider.scroll_into_view_if_needed()
    page.evaluate(PAINTED)
    slider.focus()
    found["step"] = milliseconds(page, "keydown", lambda: slider.press("ArrowRight"))
    context.close()
    return found


def main() -> None:
    """Measure, print, record."""
    options = record.parser(__doc__)
    options.add_argument("--rounds", type=int, default=5)
    record.add_record_option(options)
    asked = options.parse_args()
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name, browser() as started:
        for preset in ("tiny", "paper-base"):
            folder = Path(name) / preset
            folder.mkdir()
            run, page = trained(folder, preset), folder / "page.html"
            given = [TEXT] if preset == "tiny" else long_text(run)
            costs = [made(run, page, given) for _ in range(asked.rounds)]
            visits = [seen(started, page) for _ in range(asked.rounds)]
            figures[preset] = {
                "command s": median(costs),
                "page MB": page.stat().st_size / 1e6,
                **{f"{key} ms": median(visit[key] for visit in visits) for key in visits[0]},
            }
    rows = [
        (what, *(f"{figures[preset][what]:,.2f}" for preset in figures)) for what in figures["tiny"]
    ]
    print(record.table(["", *figures], rows))
    record.write(asked.record, "inspect_page", seeds=[1], figures=figures)


if __name__ == "__main__":
    main()
