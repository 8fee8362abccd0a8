"""A small file of each kind, showing its traits: what is filled in and damaged by other scripts.

Each unit bears a mark (`k100x`, ..) on both of its sides, so that a shift can be seen.
"""

from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

MARKS = [f"k{n}x" for n in range(100, 130)]


def tmx_file() -> str:
    """A memory with codes, notes, a third language, an empty target and one that is missing."""
    units = []
    for n, mark in enumerate(MARKS):
        german = f"<bpt i='1'>&lt;b></bpt>Satz<ept i='1'>&lt;/b></ept> {mark} ä"
        other = [
            f"<tuv xml:lang='de' changeid='me' changedate='20200101T000000Z'>"
            f"<seg>{german}</seg></tuv>",
            "<tuv xml:lang='de'><seg/></tuv>",
            "<tuv xml:lang='fr'><seg>rien</seg></tuv>",
        ][max(0, n - 27)]
        units.append(
            f"<tu tuid='{n}'><note>not OK</note><prop type='x-status'>draft</prop>\n"
            f"  <tuv xml:lang='en'><seg>Text {mark} <ph x='1'/> <hi>so</hi></seg></tuv>\n"
            f"  {other}\n</tu>\n"
        )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'
        f"<tmx version='1.4'><header srclang='en'/><body>\n{''.join(units)}</body></tmx>\n"
    )


def xliff_file() -> str:
    """Version 1.2 with groups, segments, an alternative, notes, widths and states."""
    units = []
    for n, mark in enumerate(MARKS):
        source = f"Text {mark} <g id='1'>so <x id='2'/></g>"
        target = f"<target state='translated'>Satz {mark} <g id='1'>so</g><x id='2'/></target>"
        cut = (
            f"<seg-source><mrk mtype='seg' mid='0'>Text {mark} </mrk> "
            "<mrk mtype='seg' mid='1'><g id='1'>so <x id='2'/></g></mrk></seg-source>"
        )
        units.append(
            f"<trans-unit id='{n}' approved='yes' maxwidth='40' size-unit='char'>\n"
            f"  <source>{source}</source>{cut if n % 3 == 0 else ''}{target if n < 20 else ''}\n"
            "<note>see</note><alt-trans><target>nein</target></alt-trans></trans-unit>\n"
        )
    return (
        "<xliff version='1.2' xmlns='urn:oasis:names:tc:xliff:document:1.2'>"
        "<file source-language='en' target-language='de' original='a' datatype='plaintext'><body>"
        f"<group>\n{''.join(units)}</group></body></file></xliff>\n"
    )


def xliff_2_file() -> str:
    """Version 2 with native codes."""
    units = "".join(
        f"<unit id='{n}'><notes><note>x</note></notes>"
        "<originalData><data id='d'>%s</data></originalData>\n<segment><source>"
        f"Text {mark} <ph id='1' dataRef='d'/><pc id='2'>so</pc></source>"
        f"<target>Satz {mark} <ph id='1' dataRef='d'/></target></segment></unit>\n"
        for n, mark in enumerate(MARKS)
    )
    return (
        "<xliff version='2.0' srcLang='en' trgLang='de' "
        f"xmlns='urn:oasis:names:tc:xliff:document:2.0'><file id='f'>\n{units}</file></xliff>\n"
    )


def po_file() -> str:
    """A catalogue with comments, contexts, plural, fuzzy and obsolete entries."""
    entries = [
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Language: de\\n"\n'
        '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n'
    ]
    for n, mark in enumerate(MARKS):
        if n % 4 == 1:
            entries.append(
                f'# not OK\nmsgctxt "c"\nmsgid "Text {mark} %d"\nmsgid_plural "Texts {mark} %d"\n'
                f'msgstr[0] "Satz {mark} %d"\nmsgstr[1] "{"Sätze " + mark if n % 8 == 1 else ""}"\n'
            )
        else:
            flag = "#, fuzzy\n" if n % 4 == 2 else ""
            target = f"Satz {mark} %s\\n" if n % 8 else ""
            entries.append(f'{flag}msgid ""\n"Text {mark} "\n"%s\\n"\nmsgstr "{target}"\n')
    return "\n".join([*entries, '#~ msgid "old"\n#~ msgstr "alt"\n'])


def qt_file() -> str:
    """Qt: finished, unfinished, vanished, with plural forms and comments."""
    messages = []
    for n, mark in enumerate(MARKS):
        kinds = "", ' type="unfinished"', ' type="vanished"', ' type="unfinished"'
        text = f"Satz {mark}" if n % 4 != 3 else ""
        numerus = n % 5 == 4
        if numerus:
            text = f"<numerusform>{text}</numerusform><numerusform>{text}</numerusform>"
        messages.append(
            f"<message{' numerus=' * numerus}{chr(34) + 'yes' + chr(34) if numerus else ''}>\n"
            f'  <location filename="a.cpp" line="{n}"/>\n'
            f"  <source>Text {mark} %n thing(s) &amp;x</source><comment>c</comment>\n"
            f"  <translatorcomment>not OK</translatorcomment>"
            f"<translation{kinds[n % 4]}>{text}</translation>\n</message>\n"
        )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n<TS version="2.1" language="de" '
        f'sourcelanguage="en">\n<context><name>M</name>\n{"".join(messages)}</context></TS>\n'
    )


def table_file() -> str:
    """Rows of two languages, the last without a translation."""
    rows = [f"Text {mark}\tSatz {mark}" for mark in MARKS]
    return "\n".join(["en\tde", *rows[:-1], rows[-1].partition("\t")[0] + "\t"]) + "\n"


def csv_file() -> str:
    """Cells with quotes, signs and line ends in them, and columns of other things."""
    rows = ["id;en;de;comment;maxlength"]
    for n, mark in enumerate(MARKS):
        target = f'"Satz {mark}; ""so"""' if n % 3 else ""
        rows.append(f'{n};"Text {mark}; ""so""\nhere";{target};not OK;{40 + n}')
    return "\r\n".join(rows) + "\r\n"


def lines_file() -> str:
    """An object a line."""
    return "".join(f'{{"en": "Text {mark}", "de": "Satz {mark}"}}\n' for mark in MARKS)


def json_file() -> str:
    """Nested, with plural forms, a list, escapes, and what is no text."""
    rows = [f'    "k{n}": "Text {mark} {{{{a}}}} \\"q\\"\\n"' for n, mark in enumerate(MARKS[:20])]
    return (
        '{\n  "$schema": "x",\n  "a": {\n' + ",\n".join(rows) + "\n  },\n"
        '  "n_one": "{{count}} file", "n_other": "{{count}} files",\n'
        '  "icu": "{n, plural, one {# file} other {# files}} left",\n'
        '  "list": ["one", 2.5e1, null, true, {"x": "two \\u00e4"}],\n  "bars": "one|two"\n}\n'
    )


def arb_file() -> str:
    """Messages, what describes them, and the language: `ru`, which it is filled in for."""
    rows = [
        f'  "k{n}": "Text {mark} {{a}}",\n  "@k{n}": {{"description": "a"}},\n'
        for n, mark in enumerate(MARKS[:20])
    ]
    message = "{n, plural, one {# file} other {# files}} left"
    return '{\n  "@@locale": "ru",\n' + "".join(rows) + f'  "icu": "{message}"\n}}\n'


def properties_file() -> str:
    """Comments, escapes, lines that go on, all signs between key and value."""
    rows = [
        f"# note {n}\nkey.{n}{sign}Text {mark} \\u00e4 \\\n   goes on {{0}}\\n"
        for n, (mark, sign) in enumerate(zip(MARKS, [" = ", ":", "=", " "] * 8, strict=False))
    ]
    return "\n".join(rows) + "\n! end\nlast=\\  x"


def strings_file() -> str:
    """Comments of both kinds, escapes, keys without quotes."""
    rows = [
        f'/* note {n} */\n"key \\"{n}\\"" = "Text {mark} %@ \\n";\n// more\nk{n} = "v \\U00e4";\n'
        for n, mark in enumerate(MARKS)
    ]
    return "".join(rows)


def resx_file() -> str:
    """Texts, comments, and resources that are no texts."""
    rows = "".join(
        f'  <data name="k{n}" xml:space="preserve">\n    <value>Text {mark} &amp; {{0}}</value>\n'
        f'    <comment>not OK</comment>\n  </data>\n  <data name="i{n}" type="System.Int32">'
        "<value>1</value></data>\n"
        for n, mark in enumerate(MARKS)
    )
    return f'<?xml version="1.0" encoding="utf-8"?>\n<root>\n{rows}</root>\n'


def srt_file() -> str:
    """Cues with sentences that go on, speakers and tags."""
    cues = []
    for n, mark in enumerate(MARKS):
        text = [
            f"Text {mark} begins here",
            f"and goes on {mark}\nuntil its end.",
            f"- Hi {mark}!\n- Ho!",
            f"<i>So {mark}</i>",
        ][n % 4]
        cues.append(f"{n}\n00:{n:02}:01,000 --> 00:{n:02}:02,500 X1:5\n{text}\n")
    return "\n".join(cues)


def vtt_file() -> str:
    """The same with a header, notes, styles and names of cues."""
    return "WEBVTT\n\nNOTE a\nb\n\nSTYLE\n::cue {}\n\n" + srt_file().replace(",", ".")


def android_file() -> str:
    """Texts, plurals, arrays, tags, escapes, and texts that stay."""
    rows = "".join(
        [
            f'  <string name="k{n}">Text {mark} <b>%1$s</b> \\u2019 &lt;so&gt;</string>\n',
            f'  <plurals name="k{n}"><item quantity="one">%d {mark}</item>'
            f'<item quantity="other">%d of {mark}</item></plurals>\n',
            f'  <string-array name="k{n}"><item>"A {mark} "</item><item>B</item></string-array>\n',
            f'  <string name="k{n}" translatable="false">{mark}</string><!-- note -->\n',
        ][n % 4]
        for n, mark in enumerate(MARKS)
    )
    return f'<?xml version="1.0" encoding="utf-8"?>\n<resources>\n{rows}</resources>\n'


def yaml_file() -> str:
    """Texts of all styles: plain, quoted both ways, literal, folded, in lists and below anchors."""
    rows = [
        [
            f"  k{n}: Text {mark} %{{name}}\n",
            f'  k{n}: "Text {mark} \\u00e4 \\n: {{{{x}}}}"  # note\n',
            f"  k{n}: 'It''s {mark}'\n",
            f"  k{n}: |-\n    Text {mark}\n      goes on\n",
            f"  k{n}: >\n    Text {mark}\n    goes on\n\n    and on\n",
            f"  k{n}:\n    one: '%{{count}} {mark}'\n    other: some {mark}\n",
        ][n % 6]
        for n, mark in enumerate(MARKS)
    ]
    return "en:\n" + "".join(rows) + "  last: &a [one, two]\n  again: *a\n"


def html_file() -> str:
    """Paragraphs with tags, entities, attributes that are texts, scripts and comments."""
    rows = "".join(
        f'<p class=a>Text {mark} <b>bold <i>&amp; more</b></i> &nbsp;<img alt="A {mark}" src=x>'
        f"<br>then<!-- note --></p>\n<script>if (a < {n}) b();</script><pre> {mark}\n  x</pre>"
        f"<ul><li>One {mark}<li>Two</ul>\n"
        for n, mark in enumerate(MARKS[:12])
    )
    return f"<!DOCTYPE html><html lang=en><title>T</title><body>\n{rows}</body></html>\n"


def markdown_file() -> str:
    """Headings, lists, tables, links, code of both kinds, and a front matter."""
    rows = "".join(
        f'# Text {mark}\n\nIt is *so* and **{mark}**, see [there](http://x/{n} "t") or `code`.\n'
        f"Goes on  \nhere.\n\n- one {mark}\n  - two\n1. three\n\n> said {mark}\n\n"
        f"| a | b |\n|---|---|\n| {mark} | \\| |\n\n```py\nx = {n}\n```\n\n<div>x</div>\n\n"
        for n, mark in enumerate(MARKS[:8])
    )
    return f"---\ntitle: A\n---\n{rows}[ref]: http://x\n"


def word_file() -> bytes:
    """Runs that look different, a table, a link, a header, and a picture."""
    rows = "".join(
        f'<w:p><w:r><w:t xml:space="preserve">Text {mark} </w:t></w:r><w:r><w:rPr><w:b/></w:rPr>'
        f"<w:t>bold</w:t></w:r><w:r><w:tab/><w:t>end &amp; on</w:t></w:r></w:p>"
        f'<w:tbl><w:tr><w:tc><w:p><w:hyperlink r:id="r{n}"><w:r><w:t>{mark}</w:t></w:r>'
        "</w:hyperlink></w:p></w:tc></w:tr></w:tbl>"
        for n, mark in enumerate(MARKS[:10])
    )
    space = 'xmlns:w="w" xmlns:r="r"'
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        body = f"<w:document {space}><w:body>{rows}</w:body></w:document>"
        archive.writestr("word/document.xml", body)
        header = f"<w:hdr {space}><w:p><w:r><w:t>A header</w:t></w:r></w:p></w:hdr>"
        archive.writestr("word/header1.xml", header)
        archive.writestr("word/media/a.png", bytes(range(256)))
    return packed.getvalue()


SAMPLES: dict[str, list[bytes]] = {
    ".tmx": [tmx_file().encode(), tmx_file().replace("UTF-8", "UTF-16").encode("utf-16")],
    ".xlf": [xliff_file().encode(), xliff_2_file().encode()],
    ".po": [po_file().encode(), po_file().replace("UTF-8", "latin-1").encode("latin-1")],
    ".ts": [qt_file().encode(), qt_file().replace("\n", "\r\n").encode()],
    ".tsv": [table_file().encode()],
    ".csv": [csv_file().encode(), csv_file().replace(";", ",").encode("utf-16")],
    ".jsonl": [lines_file().encode()],
    ".json": [json_file().encode(), json_file().replace("\n", "\r\n").encode("utf-8-sig")],
    ".arb": [arb_file().encode()],
    ".properties": [properties_file().encode(), ("# ä\r\n" + properties_file()).encode("latin-1")],
    ".strings": [strings_file().encode(), strings_file().encode("utf-16")],
    ".resx": [resx_file().encode(), resx_file().replace("\n", "\r\n").encode("utf-8-sig")],
    ".srt": [srt_file().encode(), srt_file().replace("\n", "\r\n").encode("utf-8-sig")],
    ".vtt": [vtt_file().encode()],
    ".xml": [android_file().encode(), android_file().replace("\n", "\r\n").encode("utf-8-sig")],
    ".yml": [yaml_file().encode(), yaml_file().replace("\n", "\r\n").encode()],
    ".html": [html_file().encode()],
    ".md": [markdown_file().encode(), markdown_file().replace("\n", "\r\n").encode()],
    ".docx": [word_file()],
}
"""By suffix: the same texts in several encodings or layouts."""
