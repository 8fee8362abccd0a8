"""Texts as a file of each kind that can be filled in, and read back by other readers than ours."""

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import docx
import polib
import yaml
from lxml import etree, html
from markdown_it import MarkdownIt

_TIME = "00:{0:02}:{1:02}{2}000 --> 00:{0:02}:{1:02}{2}900"


class Kind(NamedTuple):
    """A kind of file: how texts are written, and how their translations are read."""

    name: str
    """Of a file, its suffix at the end."""
    write: Callable[[Sequence[str], str], Any]
    """From texts and the target language; a text, or bytes."""
    read: Callable[[Any], list[str]]
    """From a text, or bytes where those are written."""

    def save(self, path: Path, texts: Sequence[str], language: str) -> None:
        """A file with these texts."""
        written = self.write(texts, language)
        path.write_bytes(written if isinstance(written, bytes) else written.encode())

    def load(self, data: bytes) -> list[str]:
        """The texts of a file."""
        return self.read(data if self.name.endswith(".docx") else data.decode())


def _xml(pattern: str, whole: str) -> Callable[[Sequence[str], str], str]:
    """A writer: `pattern` is of a unit, with its number and its text; `whole` is around them."""

    def write(texts: Sequence[str], language: str) -> str:
        units = "\n".join(pattern.format(n, escape(text)) for n, text in enumerate(texts))
        return whole.replace("LANGUAGE", language).replace("UNITS", units)

    return write


def _elements(path: str) -> Callable[[str], list[str]]:
    """A reader of the text of all elements that an XPath finds, whatever their namespace."""

    def read(text: str) -> list[str]:
        tree = etree.fromstring(text.encode())
        return ["".join(found.itertext()) for found in tree.xpath(path)]

    return read


def _po(texts: Sequence[str], language: str) -> str:
    file = polib.POFile()
    file.metadata = {"Language": language, "Content-Type": "text/plain; charset=UTF-8"}
    for n, text in enumerate(texts):
        file.append(polib.POEntry(msgctxt=str(n), msgid=text, msgstr=""))
    return str(file)


def _table(delimiter: str) -> Callable[[Sequence[str], str], str]:
    def write(texts: Sequence[str], language: str) -> str:
        out = io.StringIO()
        if delimiter == "\t":
            return "".join(f"{text}\t\n" for text in texts)
        rows = csv.writer(out, delimiter=delimiter, lineterminator="\n")
        rows.writerow(["id", "en", language])
        rows.writerows([n, text, ""] for n, text in enumerate(texts))
        return out.getvalue()

    return write


def _by_key(write_one: Callable[[int, str], str]) -> Callable[[Sequence[str], str], str]:
    return lambda texts, _: "".join(write_one(n, text) for n, text in enumerate(texts))


def _in_properties(n: int, text: str) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
    text = re.sub(r"[^\x00-\x7f]", _java_escapes, text)
    return f"key{n} = {text}\n"


def _java_escapes(sign: re.Match[str]) -> str:
    wide = sign[0].encode("utf-16-be").hex()
    return "".join(f"\\u{wide[n : n + 4]}" for n in range(0, len(wide), 4))


def _unescaped(text: str) -> str:
    """Escapes of Java and Apple."""

    def plain(escaped: re.Match[str]) -> str:
        sign = escaped[1]
        return chr(int(sign[1:], 16)) if len(sign) > 1 else {"n": "\n", "t": "\t"}.get(sign, sign)

    text = re.sub(r"\\(u[0-9a-fA-F]{4}|.)", plain, text, flags=re.DOTALL)
    return text.encode("utf-16", "surrogatepass").decode("utf-16")


def _of_properties(text: str) -> list[str]:
    return [_unescaped(line.partition(" = ")[2]) for line in text.splitlines() if line.strip()]


def _of_strings(text: str) -> list[str]:
    found = re.findall(r'^"key\d+" = "(.*)";$', text, re.MULTILINE)
    return [_unescaped(one) for one in found]


def _in_strings(n: int, text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"key{n}" = "{text}";\n'


def _subtitles(comma: str, head: str = "") -> Callable[[Sequence[str], str], str]:
    def write(texts: Sequence[str], _: str) -> str:
        cues = (
            f"{n + 1}\n{_TIME.format(n // 60, n % 60, comma)}\n{text}\n\n"
            for n, text in enumerate(texts)
        )
        return head + "".join(cues)

    return write


def _of_subtitles(text: str) -> list[str]:
    blocks = re.split(r"\n\s*\n", text.strip())
    cues = [block.split("\n", 2) for block in blocks if re.match(r"\d+\n", block)]
    return [cue[2].replace("\n", " ") if len(cue) > 2 else "" for cue in cues]


def _json(texts: Sequence[str], _: str) -> str:
    return json.dumps({f"key{n}": text for n, text in enumerate(texts)}, ensure_ascii=False)


def _of_json(text: str) -> list[str]:
    return [one for key, one in json.loads(text).items() if key.startswith("key")]


def _arb(texts: Sequence[str], _: str) -> str:
    return json.dumps({"@@locale": "en", **{f"key{n}": one for n, one in enumerate(texts)}})


def _of_po(text: str) -> list[str]:
    return [entry.msgstr for entry in polib.pofile(text)]


def _in_android(n: int, text: str) -> str:
    text = re.sub(r"""(\\|'|"|^[@?])""", r"\\\1", text).replace("\n", "\\n").replace("\t", "\\t")
    return f'<string name="key{n}">{escape(text)}</string>\n'


def _android(texts: Sequence[str], _: str) -> str:
    units = "".join(_in_android(n, text) for n, text in enumerate(texts))
    return f'<?xml version="1.0" encoding="utf-8"?>\n<resources>\n{units}</resources>\n'


def _of_android(text: str) -> list[str]:
    return [_unescaped(one) for one in _elements("//string")(text)]


def _yaml(texts: Sequence[str], _: str) -> str:
    values = {f"key{n}": text for n, text in enumerate(texts)}
    dumped: str = yaml.safe_dump({"en": values}, allow_unicode=True, sort_keys=False, width=999)
    return dumped


def _of_yaml(text: str) -> list[str]:
    [values] = yaml.safe_load(text).values()
    return list(values.values())


def _markdown(texts: Sequence[str], _: str) -> str:
    return "".join(re.sub(r"([\\`*_\[\]<>&~|#!:+.)-])", r"\\\1", text) + "\n\n" for text in texts)


def _of_markdown(text: str) -> list[str]:
    whole = [token for token in MarkdownIt().parse(text) if token.type == "inline"]
    return ["".join(one.content or "\n" * ("break" in one.type) for one in token.children or ())
            for token in whole]  # fmt: skip


def _html(texts: Sequence[str], _: str) -> str:
    units = "\n".join(f"<p>{escape(text)}</p>" for text in texts)
    return f'<!DOCTYPE html>\n<html lang="en"><body>\n{units}\n</body></html>\n'


def _of_html(text: str) -> list[str]:
    return [str(one.text_content()) for one in html.fromstring(text).iter("p")]


def _docx(texts: Sequence[str], _: str) -> bytes:
    document, out = docx.Document(), io.BytesIO()
    for text in texts:
        document.add_paragraph(text)
    document.save(out)
    return out.getvalue()


def _of_docx(data: bytes) -> list[str]:
    return [one.text for one in docx.Document(io.BytesIO(data)).paragraphs]


_XLIFF = (
    '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">'
    '<file source-language="en" target-language="LANGUAGE" original="a" datatype="plaintext">'
    "<body>UNITS</body></file></xliff>"
)
_UNIT = '<trans-unit id="{0}"><source xml:space="preserve">{1}</source><target/></trans-unit>'
_TARGETS = _elements("//*[local-name()='target']")

KINDS = [
    Kind("a.po", _po, _of_po),
    Kind("a.xlf", _xml(_UNIT, _XLIFF), _TARGETS),
    Kind(
        "a.xliff",
        _xml(
            '<unit id="{0}"><segment><source xml:space="preserve">{1}</source></segment></unit>',
            '<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en" '
            'trgLang="LANGUAGE"><file id="f">UNITS</file></xliff>',
        ),
        _TARGETS,
    ),
    Kind(
        "a.tmx",
        _xml(
            '<tu tuid="{0}"><tuv xml:lang="en"><seg>{1}</seg></tuv></tu>',
            '<tmx version="1.4"><header srclang="en"/><body>UNITS</body></tmx>',
        ),
        _elements("//tuv[2]/seg"),
    ),
    Kind(
        "a.ts",
        _xml(
            "<message><source>{1}</source><comment>{0}</comment>"
            '<translation type="unfinished"></translation></message>',
            '<TS version="2.1" language="LANGUAGE" sourcelanguage="en"><context><name>c</name>'
            "UNITS</context></TS>",
        ),
        _elements("//translation"),
    ),
    Kind(
        "a.resx",
        _xml('<data name="k{0}"><value>{1}</value></data>', "<root>UNITS</root>"),
        _elements("//value"),
    ),
    Kind("a.csv", _table(","), lambda text: [row[2] for row in csv.reader(text.splitlines())][1:]),
    Kind("a.tsv", _table("\t"), lambda text: [row.split("\t")[1] for row in text.splitlines()]),
    Kind("en.json", _json, _of_json),
    Kind("app_en.arb", _arb, _of_json),
    Kind("app_en.properties", _by_key(_in_properties), _of_properties),
    Kind("en.strings", _by_key(_in_strings), _of_strings),
    Kind("a.en.srt", _subtitles(","), _of_subtitles),
    Kind("a.en.vtt", _subtitles(".", "WEBVTT\n\n"), _of_subtitles),
    Kind("strings.xml", _android, _of_android),
    Kind("en.yml", _yaml, _of_yaml),
    Kind("a.md", _markdown, _of_markdown),
    Kind("a.html", _html, _of_html),
    Kind("a.docx", _docx, _of_docx),
    Kind("a.txt", lambda texts, _: "".join(f"{one}\n" for one in texts), str.splitlines),
]
