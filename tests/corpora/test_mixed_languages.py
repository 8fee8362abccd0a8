"""Two languages in one call are refused, unless somebody asked for both."""

from pathlib import Path

import pytest

from headway.core.cleaning import Report
from headway.core.errors import ConfigError, DataError
from headway.corpora.corpus import Corpus, languages, read_pairs
from headway.corpora.mixed_languages import refuse_mixed
from headway.corpora.mixing import parse_pairs_file
from headway.languages.codes import folded, same_language


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("en-GB", "en"), ("en_US", "en"), ("EN", "en"), ("sr-Latn-RS", "sr-Latn"),
        ("zh-TW", "zh-TW"), ("zh-Hans", "zh-Hans"), ("pt-BR", "pt"), ("es-419", "es"),
    ],
)  # fmt: skip
def test_regions_are_folded_but_scripts_are_not(code, expected):
    assert folded(code) == expected
    assert folded(expected) == expected
    assert same_language(code, expected)


def xliff(folder: Path, target: str, n: int = 3) -> str:
    units = "".join(
        f'<trans-unit id="{i}"><source>number {i}</source><target>{target} {i}</target>'
        "</trans-unit>"
        for i in range(n)
    )
    path = folder / f"x.{target}.xlf"
    path.write_text(
        f'<xliff version="1.2"><file source-language="en-US" target-language="{target}" '
        f'datatype="plaintext" original="a"><body>{units}</body></file></xliff>',
        encoding="utf-8",
    )
    return str(path)


def po(folder: Path, target: str) -> str:
    path = folder / f"y.{target}.po"
    path.write_text(
        f'msgid ""\nmsgstr "Language: {target}\\n"\n\nmsgid "one"\nmsgstr "1 {target}"\n',
        encoding="utf-8",
    )
    return str(path)


def tmx(folder: Path, *units: tuple[str, ...], srclang: str = "*all*") -> str:
    body = "".join(
        "<tu>"
        + "".join(f'<tuv xml:lang="{code}"><seg>{code} {i}</seg></tuv>' for code in codes)
        + "</tu>"
        for i, codes in enumerate(units)
    )
    path = folder / "m.tmx"
    path.write_text(
        f'<tmx version="1.4"><header srclang="{srclang}"/><body>{body}</body></tmx>',
        encoding="utf-8",
    )
    return str(path)


def corpus(*texts: str, **languages_: str) -> Corpus:
    parsed = [parse_pairs_file(text) for text in texts]
    return Corpus(
        pairs=tuple(path for path, _ in parsed), uses=tuple(use for _, use in parsed), **languages_
    )


def read(of: Corpus) -> tuple[int, Report]:
    report = Report()
    return len(list(read_pairs(of, report))), report


def test_two_target_languages_are_refused_with_both_names_and_the_ways_out(tmp_path):
    files = xliff(tmp_path, "pl"), xliff(tmp_path, "de")
    with pytest.raises(ConfigError) as refused:
        refuse_mixed(corpus(*files))
    said = str(refused.value)
    for word in (*files, "--target-language", "x.pl.xlf:tag=pl", "en -> pl", "en -> de"):
        assert word in said
    with pytest.raises(ConfigError, match=r"y\.de\.po is \? -> de"):
        refuse_mixed(corpus(files[0], po(tmp_path, "de")))
    with pytest.raises(ConfigError, match="one target language"):
        refuse_mixed(corpus(files[0]), corpus(files[1]))


def test_one_source_file_with_two_target_languages_is_refused_as_two_copies_of_it_are(tmp_path):
    source, *targets = (tmp_path / f"a.{code}" for code in ("en", "de", "fr"))
    for file in (source, *targets):
        file.write_text(f"in {file.suffix}\n", encoding="utf-8")
    one = Corpus((source, source), tuple(targets))
    with pytest.raises(ConfigError, match=r"a\.en:.*a\.de is en -> de.*a\.en:.*a\.fr is en -> fr"):
        refuse_mixed(one)
    assert languages(one) == ("en", None)
    files = [pair.file for pair in read_pairs(one, Report())]
    assert files == [f"{source}:{target}" for target in targets]
    assert [part.name for part in Corpus((source,), (targets[0],)).parts] == [str(source)]


def test_what_is_asked_for_is_allowed(tmp_path):
    pl, de = xliff(tmp_path, "pl"), xliff(tmp_path, "de")
    refuse_mixed(corpus(f"{pl}:tag=pl", f"{de}:tag=de"))
    refuse_mixed(corpus(f"{pl}:target=pl", f"{de}:target=de"))
    one = corpus(pl, de, po(tmp_path, "pl"), target_language="de")
    refuse_mixed(one)
    n_pairs, report = read(one)
    assert n_pairs == 3
    assert report.dropped == {"missing_language": 4}


def test_variants_of_one_language_go_together(tmp_path):
    files = xliff(tmp_path, "de-AT"), xliff(tmp_path, "de"), po(tmp_path, "de_DE")
    refuse_mixed(corpus(*files))
    assert languages(corpus(*files[:2])) == ("en", "de")


def test_a_memory_of_variants_in_any_order_is_read_whole(tmp_path):
    units = [("de-AT", "en-US")] * 2 + [("en-GB", "de-AT")] * 10
    for order in (units, units[::-1]):
        one = corpus(tmx(tmp_path, *order))
        assert languages(one) == ("en", "de")
        assert read(one)[0] == 12
    exact = corpus(tmx(tmp_path, *units), source_language="en-US", target_language="de")
    assert read(exact)[0] == 2
    variants = corpus(tmx(tmp_path, *[("en-US", "en-GB")] * 3))
    assert languages(variants) == ("en-US", "en-GB")
    assert read(variants)[0] == 3


def test_a_language_that_is_not_there_is_told_with_those_that_are(tmp_path):
    memory = tmx(tmp_path, *[("en-US", "de-AT")] * 2, ("en-US",))
    with pytest.raises(DataError, match="has en-US 3, de-AT 2, got --target-language fr"):
        refuse_mixed(corpus(memory, target_language="fr"))
    with pytest.raises(DataError, match="has en-US 3, pl 3, got --target-language fr"):
        refuse_mixed(corpus(xliff(tmp_path, "pl"), target_language="fr"))
    with pytest.raises(DataError, match="has pl, got --target-language fr"):
        refuse_mixed(corpus(po(tmp_path, "pl"), target_language="fr"))
    with pytest.raises(DataError, match="m.tmx:target=fr"):
        refuse_mixed(corpus(f"{memory}:target=fr", xliff(tmp_path, "fr")))
    table = tmp_path / "t.tsv"
    table.write_text("en\tpl\na\tb\n", encoding="utf-8")
    with pytest.raises(DataError, match="has en, pl, got --target-language de"):
        refuse_mixed(corpus(str(table), target_language="de"))
