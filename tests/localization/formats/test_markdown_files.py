"""Markdown: prose is filled in; code, addresses and the marks of structure stay."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from headway.localization.formats.markdown_files import open_document
from headway.localization.placeholders.segments import Segment

FILE = """\
---
title: Hello world
---
# I love *red* cats #

I love **big** cats and
[my dog](http://x.y "title") is `tired`.BREAK
She sings &amp; he\\*s here.

> The dog is tired.
> He sings.

1. One cat
2. Two ***big*** ~~old~~ cats
   - [ ] a task with <b>html</b>
   - Nested item
     goes on

| Name | What |
|------|:----:|
| a cat | **the** dog |
| code | `x` |

![a picture](x.png) and text[^1]

[![Build](b.svg)](http://ci)

```python
print("hello")
```

    indented code

<p align="center">
  <img src="x" alt="A logo"> I love <b>cats</b>.
</p>

Setext title
============

[^1]: A footnote here.

[ref]: http://example.com

See [the link][ref] and <http://auto.link> and `snake`.
"""
FILE = FILE.replace("BREAK", "  ")
READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def shouted(source):
    return Segment(tuple(p.upper() if isinstance(p, str) else p for p in source.parts))


def structure(text):
    """Blocks, and what is marked in each, as markdown-it sees them."""
    return [
        (block.type, block.level, block.content if block.type in ("fence", "code_block") else "",
         Counter((one.type, str(one.attrs)) for one in block.children or ()
                 if one.type not in ("text", "softbreak", "text_special", "image")))
        for block in READER.parse(text)
    ]  # fmt: skip


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_only_prose_changes_and_another_reader_sees_the_same_structure(tmp_path, newline):
    path = tmp_path / "a.de.md"
    path.write_bytes(FILE.replace("\n", newline).encode())
    document = open_document(path, None, None, False)
    assert document.source_language == "de"
    assert document.filled([None] * len(document.gaps)) == path.read_bytes()
    assert document.filled([gap.source for gap in document.gaps]) == path.read_bytes()
    after = document.filled([shouted(gap.source) for gap in document.gaps]).decode()
    assert structure(after) == structure(FILE.replace("\n", newline))
    lines = after.split(newline)
    for line in (
        "title: Hello world", "# I LOVE *RED* CATS #", "> THE DOG IS TIRED. HE SINGS.",
        'I LOVE **BIG** CATS AND [MY DOG](http://x.y "title") IS `tired`.  ',
        "2. TWO ***BIG*** ~~OLD~~ CATS", "   - [ ] A TASK WITH <b>HTML</b>",
        "| A CAT | **THE** DOG |", "![A PICTURE](x.png) AND TEXT[^1]", "[^1]: A FOOTNOTE HERE.",
        "[![BUILD](b.svg)](http://ci)", '  <img src="x" alt="A LOGO"> I LOVE <b>CATS</b>.',
        "SETEXT TITLE", 'print("hello")', "    indented code", "[ref]: http://example.com",
        "SEE [THE LINK][ref] AND <http://auto.link> AND `snake`.",
    ):  # fmt: skip
        assert line in lines, line


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80)
@given(
    text=st.text(
        st.characters(codec="utf-8", exclude_categories=["C", "Z"]) | st.just(" "), min_size=1
    )
    | st.text("*_`[]()<>#+-=1.! |~&;ab\\", min_size=1),
    place=st.sampled_from(["{}\n", "# {}\n", "> - {}\n", "| {} | b |\n|--|--|\n| c | d |\n"]),
)
def test_a_translation_is_read_as_the_text_that_it_is(tmp_path, text, place):
    path = tmp_path / "a.md"
    path.write_text(place.format("abc *def* ghi"))
    document = open_document(path, None, None, False)
    gap = document.gaps[0]
    new = Segment((f"x{text.strip()} ", *gap.source.codes[:1], "y", *gap.source.codes[1:]))
    after = document.filled([new] + [None] * (len(document.gaps) - 1)).decode()
    [block] = [one for one in READER.parse(after) if one.type == "inline"][:1]
    shown = "".join(one.content for one in block.children)
    assert " ".join(shown.split()) == " ".join(f"x{text.strip()} y".split())
    assert [one.type for one in block.children if one.type not in ("text", "softbreak")] == [
        "em_open", "em_close",
    ]  # fmt: skip


def test_a_cell_with_a_bar_is_filled_in_and_its_code_stays(tmp_path):
    path = tmp_path / "a.md"
    text = (
        "| a\\|b | `on\\|off` |\n|--|--|\n| see `x\\|y` \\| *z* | on \\| off |\n| \\| c | d \\| |\n"
    )
    path.write_text(text)
    document = open_document(path, None, None, False)
    sources = [gap.source for gap in document.gaps]
    assert [one.text for one in sources] == [
        "a|b", "see `x|y` | <em>z</em>", "on | off", "| c", "d |"
    ]  # fmt: skip
    assert document.filled(sources) == text.encode()
    after = document.filled([shouted(one) for one in sources]).decode()
    assert after == text.upper().replace("ON\\|OFF`", "on\\|off`").replace("X\\|Y", "x\\|y")


@pytest.mark.parametrize(
    "text", ["- a", "1. a", "# a", "> a", "+ a", "===", "---", "```", "1) a", "* a"]
)
def test_a_paragraph_stays_one_whatever_it_begins_with(tmp_path, text):
    path = tmp_path / "a.md"
    path.write_text("abc\n\ndef\n")
    after = open_document(path, None, None, False).filled([Segment((text,)), None]).decode()
    blocks = READER.parse(after)
    assert [one.type for one in blocks] == ["paragraph_open", "inline", "paragraph_close"] * 2
    assert blocks[1].children[0].content == text


def test_emphasis_that_would_not_close_becomes_tags_and_none_stands_around_nothing(tmp_path):
    path = tmp_path / "a.md"
    path.write_text("one **two** three\n")
    document = open_document(path, None, "zh", False)
    [gap] = document.gaps
    opening, closing = gap.source.codes
    after = document.filled([Segment((opening, "我爱猫。", closing, "她"))]).decode()
    assert after == "<strong>我爱猫。</strong>她\n"
    assert document.filled([Segment(("我爱", opening, closing, "猫"))]).decode() == "我爱猫\n"
    assert (
        document.filled([Segment((opening, "我", closing, "爱猫。"))]).decode() == "**我**爱猫。\n"
    )
