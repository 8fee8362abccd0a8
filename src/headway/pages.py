"""Pages as one HTML file: no script, nothing from elsewhere, light and dark."""

import os
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from headway.core.errors import ConfigError

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1c2430; --soft: #5c6773; --rule: #dde2e8;
  --card: #f6f8fa; --one: #2563a8; --two: #c2600c; --look: #b3261e; --fine: #2e7d4f;
  --three: #2e7d4f; --four: #8a3ea8; --five: #8c6d1f; --six: #5c6773; }
@media (max-width: 36rem) { .tiles { grid-template-columns: 1fr 1fr !important; } }
@media (prefers-color-scheme: dark) { :root { --paper: #14181d; --ink: #e4e8ed; --soft: #9aa5b1;
  --rule: #333b45; --card: #1c2229; --one: #6fa8e8; --two: #f0a35e; --look: #ff8a80;
  --fine: #7cc79a; --three: #7cc79a; --four: #cf9be0; --five: #d9bd6b; --six: #9aa5b1; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 64rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; margin: 0.5rem 0; } h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; }
p { margin: 0.3rem 0; } .soft, figcaption, th { color: var(--soft); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: 0.6rem;
  margin: 1rem 0; }
.tiles div, article { background: var(--card); border: 1px solid var(--rule); border-radius: 8px;
  padding: 0.6rem 0.8rem; }
.tiles b { display: block; font-size: 1.4rem; font-variant-numeric: tabular-nums; }
article { margin: 0.6rem 0; } article.look { border-left: 4px solid var(--look); }
article h3 { font-size: 1rem; margin: 0; } article h3 span { color: var(--soft);
  font-weight: normal; font-variant-numeric: tabular-nums; }
.do { font-weight: 600; } .do::before { content: "\\2192\\a0"; }
details { margin-top: 0.3rem; } summary { cursor: pointer; color: var(--one); }
dl { margin: 0.4rem 0; } dt { color: var(--soft); font-size: 0.85rem; margin-top: 0.5rem; }
dd { margin: 0 0 0 0.8rem; white-space: pre-wrap; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr));
  gap: 0.8rem; align-items: start; }
figure { margin: 0; padding: 0.6rem; border: 1px solid var(--rule); border-radius: 8px; }
figcaption { font-size: 0.9rem; margin-bottom: 0.3rem; }
svg { width: 100%; height: auto; display: block; }
.key { margin-left: 0.8rem; white-space: nowrap; } .key i { display: inline-block; width: 0.8em;
  height: 0.8em; margin-right: 0.3em; border-radius: 2px; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
td, th { padding: 0.2rem 0.6rem; text-align: right; white-space: nowrap; overflow-wrap: normal;
  border-bottom: 1px solid var(--rule); }
td:first-child, th:first-child { text-align: left; } code { background: var(--card); }
"""
"""What pages of figures look like."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def document(
    title: str, parts: Iterable[str], style: str = STYLE, *, pictures: bool = False
) -> str:
    """A whole page; `title` is text, the `parts` of its body are HTML already. `pictures` may be in
    it, as data: URLs."""
    policy = f"{_POLICY}; img-src data:" if pictures else _POLICY
    body = "\n".join(parts)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def table(rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """A table that scrolls by itself; the first row is its head, the first cell of each a name."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in rows[0])
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for name, *cells in rows[1:]
    )
    told = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f'<div class="wide" tabindex="0"><table>{told}<thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def refuse_no_place(
    page: Path | None, flag: str = "--page", read: Iterable[str | Path] = ()
) -> None:
    """Raise ConfigError where a page could not be written, or would replace what is `read` or no
    page, before anything is measured for it."""
    if page is None:
        return
    if page.is_dir():
        raise ConfigError(f"{flag} names a file; {page} is a folder. Try {page / 'page.html'}.")
    if not os.access(page.parent, os.W_OK):
        raise ConfigError(
            f"{flag} is written into a folder that is there and may be written to; {page.parent} "
            "is not. Make it, or name another."
        )
    if page.exists() and any(os.path.exists(one) and page.samefile(one) for one in read):
        raise ConfigError(f"{flag} does not replace what is read; got {page}. Name another file.")
    other_kind = page.suffix.lower() not in (".html", ".htm", ".png", ".svg")
    if flag in ("--page", "--out") and page.is_file() and other_kind:
        raise ConfigError(
            f"{flag} must not overwrite a file that is no page; {page} is there. Try "
            f"{page.with_suffix('.html')}."
        )
