"""PO files: what a reader learns from them, and what stands in them once they are filled in."""

import gzip
from collections.abc import Callable
from pathlib import Path

import polib
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.core.cleaning import Report
from headway.core.errors import DataError
from headway.corpora.corpus import Corpus
from headway.localization.formats.documents import Document
from headway.localization.formats.po import escape, open_document, po_languages, read_po, wrapped
from headway.localization.formats.po_entries import unescape
from headway.localization.placeholders.segments import Segment

HEADER = (
    'msgid ""\nmsgstr ""\n"Language: de\\n"\n'
    '"Content-Type: text/plain; charset={charset}\\n"\n'
    '"Plural-Forms: nplurals={n_plurals}; plural=(n != 1);\\n"\n\n'
)
EVERYTHING = """\
# translators' comment
#. extracted comment
#: file.c:12
#, c-format
#| msgid "older"
msgctxt "menu"
msgid "Open %s"
msgstr "Öffne %s"

msgid ""
"Two lines\\n"
"with \\"quotes\\", a tab\\t and a \\\\.\\n"
msgstr ""
"Zwei Zeilen\\n"
"mit \\"Anführung\\", \\t und \\\\.\\n"

#, fuzzy
msgid "unsure"
msgstr "unsicher"

msgid "new"
msgstr ""

msgid "one file"
msgid_plural "%d files"
msgstr[0] "eine Datei"
msgstr[1] "%d Dateien"

msgid "half"
msgid_plural "halves"
msgstr[0] "halb"
msgstr[1] ""

#, fuzzy
#~| msgid "earlier"
#~ msgctxt "gone"
#~ msgid "gone"
#~ msgstr "weg"

# the end
"""


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    def write(
        body: str,
        *,
        charset: str = "UTF-8",
        n_plurals: int = 2,
        header: bool = True,
        name: str = "a.po",
        newline: str = "\n",
        mark: bytes = b"",
    ) -> Path:
        text = (HEADER.format(charset=charset, n_plurals=n_plurals) if header else "") + body
        data = mark + text.replace("\n", newline).encode(charset)
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


def read(path: Path) -> tuple[list[tuple[str, str, int]], Report]:
    report = Report()
    pairs = list(read_po(path, Corpus(), report))
    assert report.read == len(pairs) + sum(report.dropped.values())
    return [(pair.source, pair.target, pair.line) for pair in pairs], report


def opened(path: Path, *, overwrite: bool = False) -> Document:
    document = open_document(path, None, None, overwrite)
    assert isinstance(document, Document)
    return document


def filled(path: Path, translate: Callable[[str], str | None], *, overwrite: bool = False) -> bytes:
    document = opened(path, overwrite=overwrite)
    texts = [translate(gap.source.text) for gap in document.gaps]
    return document.filled([None if text is None else Segment((text,)) for text in texts])


def test_every_finished_translation_is_read_and_the_others_are_counted(written):
    pairs, report = read(written(EVERYTHING))
    assert pairs == [
        ("Open %s", "Öffne %s", 12),
        (
            'Two lines\nwith "quotes", a tab\t and a \\.\n',
            'Zwei Zeilen\nmit "Anführung", \t und \\.\n',
            16,
        ),
        ("one file", "eine Datei", 30),
    ]
    assert report.read == 6
    assert report.dropped == {"fuzzy": 1, "untranslated": 2}
    assert [example.line for example in report.examples["untranslated"]] == [27, 35]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r\r\n"])
@pytest.mark.parametrize("charset", ["UTF-8", "ISO-8859-15", "CP1252", "utf8"])
@pytest.mark.parametrize("name", ["a.po", "a.po.gz"])
def test_any_line_end_encoding_and_packing_is_read_alike(written, newline, charset, name):
    plain = read(written(EVERYTHING, name="plain.po"))[0]
    assert read(written(EVERYTHING, charset=charset, newline=newline, name=name))[0] == plain


def test_bytes_that_look_like_quotes_are_none(written):
    body = 'msgid "表示"\nmsgstr "ソ\\n表"\n'  # in Shift JIS both end in the byte of a backslash
    assert read(written(body, charset="Shift_JIS"))[0] == [("表示", "ソ\n表", 7)]


def test_a_byte_order_mark_says_utf_8_and_stays(written):
    path = written('msgid "a"\nmsgstr ""\n', header=False, mark=b"\xef\xbb\xbf")
    assert read(path)[1].dropped == {"untranslated": 1}
    assert filled(path, str.upper) == b'\xef\xbb\xbf#, fuzzy\nmsgid "a"\nmsgstr "A"\n'
    path = written("", header=False, mark=b"\xef\xbb\xbf")
    assert opened(path).counts.units == 0
    assert filled(path, str.upper) == b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    "body",
    [
        'msgid "a"\n# between\nmsgstr "b"\n',
        'msgid "a" msgstr "b"\n',
        'msgid\n"a"\nmsgstr\n\n"b"\n',
        '\tmsgid\t\t"" "a"\n  msgstr"" # comment\n  "b"',
        'msgid "a"\nmsgstr "b"\n#no space\n#',
        'domain "other"\nmsgid "a"\nmsgstr "b"\n',
        'msgid "a"\nmsgid_plural "as"\nmsgstr [ 0 ] "b"\n',
        '#, fuzzy\n#~ msgid "o"\n#~ msgstr ""\nmsgid "a"\nmsgstr "b"\n',
        '#, not-fuzzy\nmsgid "a"\nmsgstr "b"\n#, fuzzy\n',
        'msgid "\\141"\nmsgstr "\\x62"\n',
    ],
)
def test_every_layout_that_gettext_takes_is_read(written, body):
    [(source, target, _)], report = read(written(body))
    assert (source, target, report.read) == ("a", "b", 1)


def test_bytes_by_number_are_characters_of_the_encoding(written):
    assert read(written('msgid "a"\nmsgstr "\\303\\251\\x21"\n'))[0][0][1] == "é!"
    assert read(written('msgid "a"\nmsgstr "\\351"\n', charset="latin-1"))[0][0][1] == "é"


def test_the_header_is_no_unit_wherever_it_stands(written):
    body = 'msgid "a"\nmsgstr "b"\n\n' + HEADER.format(charset="CP1251", n_plurals=2)
    path = written(body + 'msgid "c"\nmsgstr "д"\n', header=False, charset="CP1251")
    assert [pair[:2] for pair in read(path)[0]] == [("a", "b"), ("c", "д")]
    assert po_languages(path, Corpus()) == (None, "de")


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("de.po", "de"), ("app.pt_BR.po.gz", "pt_BR"), ("app.po", None), ("my-tool.po", None),
        ("fr/LC_MESSAGES/app.po", "fr"), ("messages.po", None),
    ],
)  # fmt: skip
def test_without_a_header_the_name_says_the_language(tmp_path, name, language):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = b'msgid "a"\nmsgstr ""\n'
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    assert po_languages(path, Corpus()) == (None, language)
    assert opened(path).target_language == language


def test_the_header_may_name_both_languages(written):
    body = 'msgid ""\nmsgstr "X-Source-Language: en_GB\\nLanguage: sr@latin\\n"\n'
    assert po_languages(written(body, header=False), Corpus()) == ("en_GB", "sr")
    body = 'msgid ""\nmsgstr "Language: Deutsch\\n"\n'
    assert po_languages(written(body, header=False), Corpus()) == (None, None)


@pytest.mark.parametrize(
    ("data", "line", "what"),
    [
        (b'msgid "a"\nmsgid "b"\nmsgstr ""\n', 1, "has no msgstr"),
        (b'msgid "a"\nmsgstr ""\nmsgstr ""\n', 3, "has msgstr behind msgstr"),
        (b'\nmsgstr "a"\n', 2, "which begins no entry"),
        (b'msgid "a"\nmsgid_plural "b"\nmsgstr "c"\n', 3, "has msgstr behind msgid_plural"),
        (b'msgid "a"\nmsgstr[0] "c"\n', 2, "has msgstr[0] behind msgid"),
        (b'msgid "a"\nmsgid_plural "b"\nmsgstr[0] ""\nmsgstr[0] ""\n', 4, "has msgstr[0]"),
        (b'msgid "a\nmsgstr ""\n', 1, "has '\"a'"),
        (b'msgid "a"\nmsgstr "b" c\n', 2, "has 'c'"),
        (b'msgid "a"\nmsgstr\n', 1, "msgstr has no text in quotes"),
        (b'"a"\n', 1, "without a keyword"),
        (b"<?xml version='1.0'?>\n", 1, "has \"<?xml version='1.0'?>\""),
        (b'msgid "a"\nmsgstr "\xff"\n', 2, "is not utf-8"),
        (b'# a\nmsgid "' + b"a" * (1 << 20) + b'"\n', 2, "1,048,576 bytes"),
        (b'\xa0msgid "a"\n', 1, "has"),
    ],
)
def test_what_is_no_po_is_refused_with_its_line(tmp_path, data, line, what):
    path = tmp_path / "a.po"
    path.write_bytes(data)
    for use in (lambda: read(path), lambda: opened(path)):
        with pytest.raises(DataError) as error:
            use()
        assert what in str(error.value)
        assert f"a.po:{line} " in str(error.value)


@pytest.mark.parametrize(
    "charset", ["EBCDIC", "utf-16", "utf-7", "cp037", "rot13", "x\0y", "x" * 300]
)
def test_an_encoding_that_cannot_be_is_refused(written, charset):
    path = written(HEADER.format(charset=charset, n_plurals=2), header=False)
    with pytest.raises(DataError, match="names its encoding"):
        read(path)


def test_a_utf_16_file_is_refused_with_a_remedy(tmp_path):
    path = tmp_path / "a.po"
    path.write_bytes('msgid "a"\n'.encode("utf-16"))
    with pytest.raises(DataError, match="iconv -f UTF-16"):
        read(path)


def test_only_the_empty_is_filled_and_marked(written):
    path = written(EVERYTHING)
    before = path.read_text(encoding="utf-8")
    expected = before.replace(
        'msgid "new"\nmsgstr ""', '#, fuzzy\nmsgid "new"\nmsgstr "NEW"'
    ).replace(
        'msgid "half"\nmsgid_plural "halves"\nmsgstr[0] "halb"\nmsgstr[1] ""',
        '#, fuzzy\nmsgid "half"\nmsgid_plural "halves"\nmsgstr[0] "halb"\nmsgstr[1] "HALVES"',
    )
    assert filled(path, str.upper).decode() == expected
    document = opened(path)
    assert document.counts.units == 6
    assert document.counts.left == {"translated": 3, "fuzzy": 1}
    assert [(gap.source.text, gap.line) for gap in document.gaps] == [("new", 27), ("halves", 35)]
    assert path.read_text(encoding="utf-8") == before


def test_all_is_filled_on_request(written):
    entries = polib.pofile(filled(written(EVERYTHING), str.upper, overwrite=True).decode())
    assert len(entries) == 7
    for entry in entries:
        if entry.obsolete:
            continue
        assert entry.fuzzy
        if entry.msgid_plural:
            both = {0: entry.msgid.upper(), 1: entry.msgid_plural.upper()}
            assert entry.msgstr_plural == both
        else:
            assert entry.msgstr == entry.msgid.upper()
    assert entries[0].flags == ["fuzzy", "c-format"]
    assert opened(written(EVERYTHING), overwrite=True).counts.left == {}


def test_what_is_not_translated_stays_as_it_is(written):
    path = written(EVERYTHING)
    assert filled(path, lambda _: None) == path.read_bytes()
    assert filled(path, lambda _: None, overwrite=True) == path.read_bytes()
    some = filled(path, lambda text: None if text == "one file" else text, overwrite=True)
    assert b'msgstr[0] "eine Datei"\nmsgstr[1] "%d Dateien"' in some


def test_the_flags_stand_where_gettext_has_them(written):
    body = '#: a.c:1\n#| msgid "old"\nmsgctxt "c"\nmsgid "a"\nmsgstr ""\n'
    assert b'#: a.c:1\n#, fuzzy\nmsgctxt "c"\n' in filled(written(body), str.upper)
    body = '#| msgid "old"\nmsgid "a"\nmsgid_plural "b"\nmsgstr[0] "x"\nmsgstr[1] ""\n'
    assert b'#, fuzzy\n#| msgid "old"\nmsgid' in filled(written(body), str.upper)
    body = '  #,no-wrap, c-format\r\n#, range: 0..3\r\nmsgid "a"\r\nmsgstr ""\r\n'
    assert b"\n  #, fuzzy, no-wrap, c-format\r\n#, range: 0..3\r\n" in filled(
        written(body, newline="\n"), str.upper
    )
    assert b"#, fuzzy\nmsgid" in filled(written('#, \nmsgid "a"\nmsgstr ""\n'), str.upper)
    body = '#, c-format, fuzzy\nmsgid "a"\nmsgstr ""\n'
    assert filled(written(body), str.upper).count(b"fuzzy") == 1


@pytest.mark.parametrize("n_plurals", [1, 2, 4])
def test_every_plural_form_is_written(written, n_plurals):
    body = 'msgid "one"\nmsgid_plural "many"\nmsgstr[0] ""\nmsgstr[1] ""'
    result = filled(written(body, n_plurals=n_plurals), str.upper).decode()
    entry = polib.pofile(result)[0]
    forms = max(2, n_plurals)
    assert entry.msgstr_plural == {form: "MANY" if form else "ONE" for form in range(forms)}
    assert not result.endswith("\n")


def test_one_plural_form_stands_for_many(written):
    body = 'msgid "one"\nmsgid_plural "many"\nmsgstr[0] "viele"\n'
    assert read(written(body, n_plurals=1))[0] == [("many", "viele", 7)]
    body = 'msgid "one"\nmsgid_plural "many"\nmsgstr[0] ""\n'
    assert b'msgstr[0] "MANY"' in filled(written(body, n_plurals=1), str.upper)


@pytest.mark.parametrize(
    ("msgid", "translation", "expected"),
    [
        ("\\nA", "b", "\nb"), ("A\\n", "b", "b\n"), ("A", "\nb\n", "b"), ("A\\n", "b\n\n", "b\n"),
        ("A\\n\\n", "b\n", "b\n\n"), ("\\n\\nA", "b", "\n\nb"),
    ],
)  # fmt: skip
def test_line_feeds_at_both_ends_agree(written, msgid, translation, expected):
    path = written(f'msgid "{msgid}"\nmsgstr ""\n')
    assert polib.pofile(filled(path, lambda _: translation).decode())[0].msgstr == expected


def test_a_comment_between_the_lines_of_a_translation_stays(written):
    path = written('msgid "a"\nmsgstr ""\n"b"\n# stays\n"c"\n')
    result = filled(path, str.upper, overwrite=True).decode()
    assert result.endswith('#, fuzzy\nmsgid "a"\nmsgstr "A"\n# stays\n')


def test_the_layout_of_the_entry_is_kept(written):
    path = written('  msgid\t\t"a b"\r\n  msgstr\t\t ""\r\n\t"c"\r\n', newline="\n")
    long = "word " * 20 + "end"
    result = filled(path, lambda _: long, overwrite=True).decode()
    lines = result.partition("#, fuzzy\r\n")[2].split("\r\n")
    assert lines[1] == '  msgstr\t\t ""'
    assert all(line.startswith('\t"') for line in lines[2:-1])
    assert lines[-1] == ""


def test_entries_that_cannot_be_filled_are_counted(written):
    path = written('msgid "a" msgstr ""\n\nmsgid "--- %"\nmsgstr ""\n')
    document = opened(path)
    assert list(document.gaps) == []
    assert document.counts.left == {"crowded_line": 1, "blank_side": 1}


def test_the_document_tells_what_its_encoding_cannot_hold(written):
    document = opened(written(EVERYTHING, charset="ISO-8859-15"))
    assert document.can_hold(Segment(("für 5 €",)))
    assert not document.can_hold(Segment(("机器",)))
    assert not opened(written(EVERYTHING)).can_hold(Segment(("\0",)))


LETTERS = st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"), include_characters="\n\t\f")
TEXTS = st.one_of(
    st.text(alphabet=LETTERS, max_size=60),
    st.text(alphabet='ab \\"\n\t%文。', max_size=200),
    st.lists(st.sampled_from(["word", "a longer one", "句子。", "\\n", '"'])).map(" ".join),
)


@given(text=TEXTS, indent=st.sampled_from(["", "\t", "    "]))
def test_wrapping_and_escaping_can_be_undone(text, indent):
    first, *others = wrapped("msgstr ", text, indent)
    assert all(line.startswith(indent + '"') for line in others)
    pieces = [first.removeprefix("msgstr ").strip('"')] if not others else []
    pieces += [line.removeprefix(indent)[1:-1] for line in others]
    if not others:
        pieces = [first[len('msgstr "') : -1]]
    assert unescape("".join(pieces)) == text
    assert all("\n" not in piece for piece in pieces)


@given(st.text(alphabet=st.characters(exclude_categories=("Cs",))))
def test_escaping_can_be_undone(text):
    assert unescape(escape(text)) == text
    assert "\n" not in escape(text)


def test_lines_are_as_long_as_gettext_makes_them():
    assert wrapped("msgstr ", "x" * 70) == [f'msgstr "{"x" * 70}"']
    assert wrapped("msgstr ", "x" * 71) == ['msgstr ""', f'"{"x" * 71}"']
    assert wrapped("msgstr ", "a\n") == ['msgstr "a\\n"']
    assert wrapped("msgstr ", "a\nb") == ['msgstr ""', '"a\\n"', '"b"']
    chinese = wrapped("msgstr ", "好" * 38 + "。" + "好" * 3)
    assert chinese == ['msgstr ""', f'"{"好" * 37}"', '"好。好好好"']


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    messages=st.lists(
        st.tuples(TEXTS.filter(bool), st.booleans(), st.sampled_from(["", "done"])),
        max_size=5,
        unique_by=lambda message: message[0],
    ),
    translation=TEXTS.filter(bool),
    crlf=st.booleans(),
)
def test_another_library_reads_what_was_filled_in_and_finds_the_rest_unchanged(
    tmp_path, messages, translation, crlf
):
    made = polib.POFile()
    made.metadata = {"Content-Type": "text/plain; charset=UTF-8"}
    for text, plural, done in messages:
        entry = polib.POEntry(msgid=text, comment="a comment", flags=["c-format"])
        if plural:
            entry.msgid_plural, entry.msgstr_plural = text + "s", {0: done, 1: ""}
        else:
            entry.msgstr = done
        made.append(entry)
    path = tmp_path / "a.po"
    data = str(made).encode().replace(b"\n", b"\r\n" if crlf else b"\n")
    path.write_bytes(data)
    result = filled(path, lambda _: translation)
    after = polib.pofile(result.decode().replace("\r\n", "\n"))
    assert len(after) == len(messages)
    for entry, (text, plural, done) in zip(after, messages, strict=True):
        assert (entry.msgid, entry.comment) == (text, "a comment")
        forms = entry.msgstr_plural if plural else {0: entry.msgstr}
        gaps = [text] * (not done) + [text + "s"] * plural
        untouched = not gaps or any(Segment((gap,)).blank for gap in gaps)
        assert entry.fuzzy is not untouched
        for form, new in forms.items():
            was = done if form == 0 else ""
            if untouched or was:
                assert new == was
            else:
                assert new.strip("\n") == translation.strip("\n")
    changed = set(result.splitlines()) - set(data.splitlines())
    assert all(line.startswith((b"msgstr", b"#, fuzzy", b'"')) for line in changed)
    assert (b"\r\n" in result) is (crlf and b"\n" in data)


RUSSIAN = (
    "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20)"
    " ? 1 : 2);"
)


def test_each_plural_form_has_a_gap_with_a_number_that_takes_it(tmp_path):
    for singular, wanted in (("%d file", "%d file"), ("one file", "%d files")):
        path = tmp_path / "ru.po"
        path.write_text(
            f'msgid ""\nmsgstr ""\n"Language: ru\\n"\n"Plural-Forms: {RUSSIAN}\\n"\n\n'
            f'msgctxt "menu"\nmsgid "{singular}"\nmsgid_plural "%d files"\nmsgstr[0] ""\n'
        )
        document = opened(path)
        assert [gap.source.text for gap in document.gaps] == [wanted, "%d files", "%d files"]
        assert [gap.plural and gap.plural.number for gap in document.gaps] == [1, 2, 5]
        assert {gap.key for gap in document.gaps} == {"menu"}
        shared = [gap.source.text == "%d files" for gap in document.gaps]
        assert [bool(gap.form) for gap in document.gaps] == shared
        after = document.filled([Segment((text,)) for text in ("a", "b", "c")])
        [entry] = polib.pofile(after.decode())
        assert entry.msgstr_plural == {0: "a", 1: "b", 2: "c"}


def test_forms_without_a_rule_are_those_of_the_language(written):
    body = 'msgid "one"\nmsgid_plural "many"\nmsgstr[0] ""\nmsgstr[1] ""\n'
    document = opened(written(body, header=False))
    assert [(gap.source.text, gap.plural and gap.plural.number) for gap in document.gaps] == [
        ("one", 1), ("many", 2),
    ]  # fmt: skip


def test_what_translators_wrote_comes_with_the_pair(written):
    body = '# not OK:\n# see manual\n#. of the program\n#: a.c:1\nmsgid "a"\nmsgstr "b"\n'
    [pair] = read_po(written(body), Corpus(), Report())
    assert pair.remarks == ("not OK: see manual",)


def test_a_match_with_the_very_text_is_not_fuzzy(written):
    body = 'msgid "a"\nmsgstr ""\n\nmsgid "b"\nmsgid_plural "bs"\nmsgstr[0] ""\nmsgstr[1] ""\n'
    document = opened(written(body))
    texts = [Segment((text,)) for text in "xyz"]
    for percents, fuzzy in ([100, 100, 100], []), ([100, 100, 95], ["b"]), ([None] * 3, ["a", "b"]):
        after = polib.pofile(document.filled(texts, percents).decode())
        assert [entry.msgid for entry in after if entry.fuzzy] == fuzzy
