"""Paragraphs about words of two senses: none alike, nothing compared is seen, senses tell."""

import re
from collections import Counter
from math import log

import pytest

from headway.demo.lexicon import cells, tables
from headway.demo.paragraphs import (
    CONTRASTS,
    FAR_CONTRASTS,
    Contrast,
    Document,
    holds_contrast,
    paragraphs,
    unspaced,
)

EVERY = (*CONTRASTS, *FAR_CONTRASTS)


def rows_of_themes() -> list[tuple[str, ...]]:
    return [row for theme in tables()["themes"] for part in theme.values() for row in cells(part)]


@pytest.fixture(scope="module")
def spaced() -> dict[str, list[Document]]:
    return {language: paragraphs(2_000, 1, language, spaced=True) for language in ("en", "zh")}


@pytest.fixture(scope="module")
def lines(spaced: dict[str, list[Document]]) -> dict[str, list[str]]:
    return {
        language: [line for document in documents for line in document]
        for language, documents in spaced.items()
    }


def test_the_same_seed_gives_the_same_documents_and_another_seed_others(
    spaced: dict[str, list[Document]],
) -> None:
    assert paragraphs(100, 1, "zh", spaced=True) == spaced["zh"][:100]
    assert paragraphs(100, 2, "zh", spaced=True) != spaced["zh"][:100]


def test_no_two_documents_are_alike(spaced: dict[str, list[Document]]) -> None:
    for documents in spaced.values():
        assert len(set(documents)) == len(documents) == 2_000


def test_both_languages_say_the_same_and_both_mixes_them(
    spaced: dict[str, list[Document]],
) -> None:
    mixed = paragraphs(300, 1, "both", spaced=True)
    assert all(
        len(en) == len(zh) and document in (en, zh)
        for document, en, zh in zip(mixed, spaced["en"], spaced["zh"], strict=False)
    )
    chinese = sum(document in spaced["zh"] for document in mixed)
    assert 100 < chinese < 200


def test_spaces_alone_are_what_spacing_adds(spaced: dict[str, list[Document]]) -> None:
    for language, documents in spaced.items():
        plain = paragraphs(300, 1, language)
        joined = [tuple(unspaced(line, language) for line in each) for each in documents[:300]]
        assert plain == joined
    chinese = [line for document in paragraphs(300, 1, "zh") for line in document]
    assert not any(" " in line for line in chinese)
    english = [line for document in paragraphs(300, 1, "en") for line in document]
    assert not any(re.search(r" [.,?]|  ", line) for line in english)


def test_nothing_that_is_compared_is_written(lines: dict[str, list[str]]) -> None:
    texts = {language: "\n".join(found).lower() for language, found in lines.items()}
    for contrast in EVERY:
        for text in (contrast.right, contrast.wrong):
            assert text.lower() not in texts[contrast.language]
            assert holds_contrast(f"{text} .")
            assert holds_contrast(f"He said that {text[0].lower()}{text[1:]} .")
            assert unspaced(text, "zh") not in texts["zh"].replace(" ", "")


def test_every_word_that_is_compared_is_known(lines: dict[str, list[str]]) -> None:
    known = {language: set(" ".join(found).split()) for language, found in lines.items()}
    for contrast in EVERY:
        both = f"{contrast.right} {contrast.wrong}".split()
        assert set(both) <= known[contrast.language], contrast


def test_a_contrast_is_one_word(lines: dict[str, list[str]]) -> None:
    for contrast in EVERY:
        right, wrong = contrast.right.split(), contrast.wrong.split()
        assert sum(a != b for a, b in zip(right, wrong, strict=True)) == 1


@pytest.mark.parametrize(
    ("language", "word", "company", "strangers"),
    [
        ("zh", "词性", "词 名词 动词 语法 判断", "磁铁 金属 铁钉 钢"),
        ("zh", "磁性", "磁铁 金属 材料 铁 测试", "名词 动词 词典"),
        ("zh", "帅", "Nick 学生 男孩", "磁铁 词性"),
        ("zh", "苹果", "水果 甜 手机 公司 电脑", "磁铁 银行"),
        ("en", "bank", "river muddy water money loan account", "magnet noun ball"),
        ("en", "bat", "cave moth wings ball team swung", "magnet noun loan"),
    ],
)
def test_a_word_stands_among_those_that_tell_its_sense(
    spaced: dict[str, list[Document]], language: str, word: str, company: str, strangers: str
) -> None:
    documents = [set(" ".join(document).split()) for document in spaced[language]]
    themed = [document for document in documents if word in document]
    assert len(themed) > 40
    for other in company.split():
        assert sum(other in document for document in themed) > 5, other
    for other in strangers.split():
        assert not any(other in document for document in themed), other


def test_the_two_senses_of_a_word_do_not_meet_in_a_document(
    spaced: dict[str, list[Document]],
) -> None:
    for language, one, other in (
        ("en", "river", "loan"), ("en", "cave", "baseball"), ("zh", "水果", "公司"),
    ):  # fmt: skip
        for document in spaced[language]:
            words = set(" ".join(document).split())
            if len(document) > 1:
                assert not {one, other} <= words, document


def test_there_are_few_words_and_those_of_the_themes_come_often(
    lines: dict[str, list[str]],
) -> None:
    for column, found in enumerate(lines.values()):
        counts = Counter(" ".join(found).lower().split())
        assert 500 < len(counts) < 1_000
        texts = [row[column] for row in rows_of_themes()]
        words = set(re.sub(r"\{.*?\}|[.,?，。？“”]", " ", " ".join(texts)).lower().split())
        assert len(words) > 200
        assert all(counts[word] >= 5 for word in words), [w for w in words if counts[w] < 5]


def test_sentences_look_as_their_readers_expect(lines: dict[str, list[str]]) -> None:
    for line in lines["en"]:
        text = unspaced(line, "en")
        assert re.fullmatch(r"[A-Z][a-zA-Z']*,?( [a-zA-Z']+,?)*[.?]?", text), text
        assert not re.search(r"\b[Aa] [aeiou]|\b[Aa]n [^aeiouA]|(\b\w+\b) \1\b", text), text
    for line in lines["zh"]:
        text = unspaced(line, "zh")
        assert re.fullmatch(r"([\u4e00-\u9fff，“”]|Nick)+[。？]?", text), text
        assert "NickNick" not in text


def test_every_slot_of_a_theme_stands_in_both_languages() -> None:
    for english, chinese, *_ in rows_of_themes():
        slots = [set(re.findall(r"\{(\w+)\.", text)) for text in (english, chinese)]
        assert slots[1] <= slots[0], english
        # What Chinese need not say twice: he, she, and to whom something belongs.
        assert slots[0] - slots[1] <= {"he"}, english


class Counted:
    """An n-gram model with add-one smoothing, by counting."""

    def __init__(self, lines: list[str], order: int) -> None:
        self.order = order
        self.grams: Counter[tuple[str, ...]] = Counter()
        self.histories: Counter[tuple[str, ...]] = Counter()
        self.vocabulary = {word for line in lines for word in line.split()} | {"</s>"}
        for line in lines:
            for gram in self.cut(line):
                self.grams[gram] += 1
                self.histories[gram[:-1]] += 1

    def cut(self, line: str) -> list[tuple[str, ...]]:
        tokens = ["<s>"] * (self.order - 1) + [*line.split(), "</s>"]
        return [tuple(tokens[i : i + self.order]) for i in range(len(tokens) - self.order + 1)]

    def score(self, line: str) -> float:
        return sum(
            log((self.grams[gram] + 1) / (self.histories[gram[:-1]] + len(self.vocabulary)))
            for gram in self.cut(line)
        )

    def right(self, contrast: Contrast) -> bool:
        return self.score(contrast.right) > self.score(contrast.wrong)


@pytest.fixture(scope="module")
def counted(lines: dict[str, list[str]]) -> dict[tuple[str, int], Counted]:
    return {(language, n): Counted(found, n) for language, found in lines.items() for n in (2, 3)}


@pytest.mark.parametrize("contrast", CONTRASTS, ids=lambda each: each.right)
def test_counting_three_words_at_a_time_ranks_the_right_one_higher(
    counted: dict[tuple[str, int], Counted], contrast: Contrast
) -> None:
    assert counted[contrast.language, 3].right(contrast)


def test_two_words_at_a_time_cannot_tell_part_of_speech_from_magnetism(
    counted: dict[tuple[str, int], Counted],
) -> None:
    # Before either stands 的, and nothing else is seen: one preference serves both sentences.
    assert sum(counted["zh", 2].right(contrast) for contrast in CONTRASTS[:2]) == 1


@pytest.mark.parametrize("first", range(0, len(FAR_CONTRASTS), 2))
def test_who_counts_a_few_words_ranks_one_of_two_far_ones_wrong(
    counted: dict[tuple[str, int], Counted], first: int
) -> None:
    pair = FAR_CONTRASTS[first : first + 2]
    for n in (2, 3):
        assert sum(counted[pair[0].language, n].right(contrast) for contrast in pair) == 1
