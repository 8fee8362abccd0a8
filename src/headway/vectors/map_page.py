"""A map of words as a page, and the notes' pictures with numbers of one's own: one-hot vectors
beside learned ones, a look-up as a product, the rows in play in CBOW and skip-gram."""

from collections.abc import Iterator, Sequence
from html import escape

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from headway.pages import STYLE, document
from headway.vectors.in_play import SHOWN, PlaceInText, RowInPlay, RowsInPlay, rows_in_play
from headway.vectors.map_picture import map_figure
from headway.vectors.word_map import WordMap

_STYLE = """
.language { border: 0; padding: 0; margin: 0; text-align: right; }
body:not(:has(#zh:checked)) [lang="zh-Hans"], body:has(#zh:checked) [lang="en"] { display: none; }
.map { overflow-x: auto; } .map svg { min-width: 44rem; } .map { margin: 0.8rem 0; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr));
  gap: 1rem; align-items: start; } .pair > * { min-width: 0; }
caption { text-align: left; color: var(--soft); padding: 0.3rem 0; } th { font-weight: normal; }
td, th[scope] { font-size: 0.85rem; padding: 0.15rem 0.3rem; }
td.warm { background: color-mix(in srgb, var(--one) calc(var(--much) * 50%), var(--paper)); }
td.cold { background: color-mix(in srgb, var(--two) calc(var(--much) * 50%), var(--paper)); }
td.chance { color: var(--soft); } tr.play > * { background: var(--card); }
tr.play > th:first-child { color: var(--ink); border-left: 4px solid var(--one); }
tr.noise > th:first-child { border-left-color: var(--two); } tr.other td { text-align: center; }
tr.mean > * { border-top: 2px solid var(--ink); }
.text { line-height: 2.2; } .text b { border: 2px solid var(--two); }
.text i, .text b { font-style: normal; font-weight: 400; padding: 0.1rem 0.3rem;
  border-radius: 4px; } .text i { border: 2px solid var(--one); }
"""


def page(
    found: WordMap, name: str, rows: Float[NDArray, "few size"], place: PlaceInText | str
) -> str:
    """The whole page; `rows` are vectors of `examples(found)`, `place` may be why there is none."""
    parts = (
        '<main><fieldset class="language"><input type="radio" name="l" id="en" checked>'
        '<label for="en">English</label> <input type="radio" name="l" id="zh">'
        '<label for="zh" lang="zh">中文</label></fieldset>',
        f"<h1>{_both('Map of words', '词的地图')}: {escape(name)}</h1>",
        *_map(found),
        *_one_hot(found, rows),
        *_look_up(found, rows),
        *_in_play(place),
        "</main>",
    )
    return document(f"Map of words: {name}", parts, STYLE + _STYLE)


def examples(found: WordMap, most: int = 8) -> list[int]:
    """Some words of each group, in the order of the map: the first ones of each."""
    turns = [np.flatnonzero(found.group_of == group) for group in range(len(found.groups))]
    dealt = [(turn, int(row)) for rows in turns for turn, row in enumerate(rows)]
    return sorted(row for _, row in sorted(dealt)[:most])


def _both(english: str, chinese: str) -> str:
    """A text in both languages, one of which is shown."""
    return f'<span lang="en">{escape(english)}</span><span lang="zh-Hans">{escape(chinese)}</span>'


def _paragraph(english: str, chinese: str, kind: str = "p") -> str:
    return f"<{kind}>{_both(english, chinese)}</{kind}>"


def _map(found: WordMap) -> Iterator[str]:
    yield "<ul>" + "".join(f"<li>{_both(*told)}</li>" for told in found.told()) + "</ul>"
    yield f'<div class="map" tabindex="0">{map_figure(found, "Principal components 主成分")}</div>'
    title = "Chance 随机: as many random vectors in groups of these sizes"
    yield f'<div style="max-width: 27rem">{map_figure(found, title, random=True)}</div>'


def _one_hot(found: WordMap, rows: Float[NDArray, "few size"]) -> Iterator[str]:
    chosen = examples(found)
    words, (n, size), band = [found.words[i] for i in chosen], rows.shape, found.chance.band
    one_hot = np.eye(n, dtype=np.float32)
    yield _paragraph("One-hot vectors beside learned ones", "独热编码与词向量", "h2")
    yield _paragraph(
        f"With a vocabulary of these {n} words a one-hot vector has {n} numbers, one of them 1. "
        "Two words then have the cosine 0 unless they are the same: nothing is said of how alike "
        f"they are. A learned vector has {size} numbers. Grey is what 95 of 100 pairs of random "
        f"vectors have: within {band:.2f} of 0.",
        f"词表若只有这 {n} 个词，独热向量就有 {n} 个数，其中一个是 1。两个词只要不同，余弦就是 0："
        f"看不出谁与谁相近。学到的向量有 {size} 个数。"
        f"灰色：95% 的随机向量对也有这样的余弦，与 0 相差不到 {band:.2f}。",
    )
    yield f"<details><summary>{_both(f'The {n} vectors', f'这 {n} 个向量')}</summary><dl>"
    for word, row in zip(words, one_hot, strict=True):
        numbers = ", ".join(f"{x:.0f}" for x in row)
        yield f"<dt>{escape(word)}</dt><dd><code>[{numbers}]</code></dd>"
    yield '</dl></details><div class="pair">'
    yield _cosines(words, one_hot @ one_hot.T, 0.0, "one-hot 独热")
    learned = found.cosines[np.ix_(chosen, chosen)]
    yield _cosines(words, learned, band, "learned 学到的") + "</div>"


def _cosines(
    words: Sequence[str], cosines: Float[NDArray, "few few"], band: float, caption: str
) -> str:
    """A table of cosines, coloured; those that random vectors have are grey."""
    head = "".join(f'<th scope="col">{escape(word)}</th>' for word in words)
    body = []
    for word, row in zip(words, cosines, strict=True):
        cells = "".join(
            f'<td class="{"chance" if abs(x) <= band else "warm" if x > 0 else "cold"}" '
            f'style="--much: {abs(x):.2f}">{x:.2f}</td>'
            for x in row
        )
        body.append(f'<tr><th scope="row">{escape(word)}</th>{cells}</tr>')
    return _matrix(caption, body, f"<thead><tr><td></td>{head}</tr></thead>")


def _look_up(found: WordMap, rows: Float[NDArray, "few size"]) -> Iterator[str]:
    """W_i (1 x V) . Q (V x m) = C_i, both ways."""
    words = [found.words[i] for i in examples(found)]
    (n, size), which = rows.shape, 1
    products = np.eye(n, dtype=np.float32) @ rows
    apart, n_shown = float(np.abs(products - rows).max()), min(SHOWN, size)
    yield "<h2>W<sub>i</sub> (1×V) · Q (V×m) = C<sub>i</sub></h2>"
    yield _paragraph(
        f"Here V = {n} and m = {size}, of which {n_shown} are shown. The product was computed for "
        f"all {n} words, and so was the look-up of row i: they differ by at most {apart:g}. With "
        f"all {found.n_words:,} words the product is {found.n_words * size:,} multiplications, the "
        "look-up reads one row.",
        f"这里 V = {n}，m = {size}（只列出前 {n_shown} 个）。{n} 个词都算了乘积，也都查了第 i 行："
        f"最多相差 {apart:g}。用全部 {found.n_words:,} 个词，"
        f"乘积要做 {found.n_words * size:,} 次乘法，查表只读一行。",
    )
    one_hot = ", ".join("1" if i == which else "0" for i in range(n))
    yield f"<p>W = <code>[{one_hot}]</code> ({escape(words[which])})</p>"
    body = [_matrix_row(word, rows[i], "play" * (i == which)) for i, word in enumerate(words)]
    yield _matrix("Q", [*body, _matrix_row("C = W · Q", products[which], "play mean")])


def _in_play(place: PlaceInText | str) -> Iterator[str]:
    yield _paragraph("CBOW and skip-gram: the rows in play", "CBOW 与 skip-gram：哪些行参与", "h2")
    if isinstance(place, str):
        yield f'<p class="soft">{escape(place)}</p>'
        return
    marks = {place.centre: "b", **dict.fromkeys(place.around, "i")}
    text = " ".join(
        f"<{marks[i]}>{escape(word)}</{marks[i]}>" if i in marks else escape(word)
        for i, word in enumerate(place.words)
    )
    yield f'<p class="text">{text}</p>'
    yield _paragraph(
        "Orange: the word in the middle; blue: its context.", "橙色：中间的词；蓝色：它的上下文。"
    )
    n_rows = len(place.vectors)
    for direction in ("cbow", "skip-gram"):
        play = rows_in_play(place, direction)
        yield f"<h3>{direction}</h3>"
        yield _paragraph(*_explained(play, direction, place)) + '<div class="pair">'
        given = [*map(_row_in_play, play.given), _others(n_rows - len(play.given))]
        if len(play.given) > 1:
            given.append(_matrix_row("mean 平均", np.array(play.mean), "play mean"))
        asked = [*map(_row_in_play, play.asked), _others(n_rows - len(play.asked))]
        yield _matrix(f"Q ({n_rows:,} × m)", given) + _matrix("outputs 输出矩阵", asked) + "</div>"


def _explained(play: RowsInPlay, direction: str, place: PlaceInText) -> tuple[str, str]:
    true, n, n_noise = play.asked[0].word, len(play.given), len(play.asked) - 1
    rows = "1 row of Q is read" if n == 1 else f"{n} rows of Q are read"
    english = (
        f"{rows}; what is asked is whether {true} stands there (wanted: 1) or {n_noise} words of "
        "noise (wanted: 0). Behind → is what the run answers. Only these rows are changed."
    )
    chinese = (
        f"读 Q 的 {n} 行；问的是此处是不是 {true}（应为 1），是不是 {n_noise} 个噪声词（应为 0）。"
        "→ 后面是模型的回答。只有这些行会改变。"
    )
    if direction != place.direction:
        english += " This run learned the other way: its answers are not made for this."
        chinese += "此模型是按另一种方式学的，它的回答不是为此而学。"
    return english, chinese


def _row_in_play(row: RowInPlay) -> str:
    kind = "play noise" if row.wanted == 0 else "play"
    told = "" if row.probability is None else f" → {row.probability:.2f} ({row.wanted})"
    return _matrix_row(f"{row.number:,} {row.word}{told}", np.array(row.numbers), kind, more=True)


def _others(n: int) -> str:
    told = _both(f"{n:,} other rows: untouched", f"其余 {n:,} 行不动")
    return f'<tr class="other"><th>⋮</th><td colspan="{SHOWN + 1}">{told}</td></tr>'


def _matrix(caption: str, rows: Sequence[str], head: str = "") -> str:
    return (
        f'<div class="wide" tabindex="0"><table><caption>{escape(caption)}</caption>{head}<tbody>'
        f"{''.join(rows)}</tbody></table></div>"
    )


def _matrix_row(
    name: str, numbers: Float[NDArray, " size"], kind: str, *, more: bool = False
) -> str:
    """The first numbers of a row, coloured by sign and size; `more` stand behind those given."""
    largest = max(float(np.abs(numbers[:SHOWN]).max()), 1e-30)
    cells = "".join(
        f'<td class="{"warm" if x > 0 else "cold"}" style="--much: {abs(x) / largest:.2f}">'
        f"{x:.3f}</td>"
        for x in numbers[:SHOWN].tolist()
    )
    dots = "<td>…</td>" if more or len(numbers) > SHOWN else ""
    return f'<tr class="{kind}"><th scope="row">{escape(name)}</th>{cells}{dots}</tr>'
