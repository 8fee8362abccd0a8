"""Words of text without spaces."""

import sys

import pytest

from headway.core.errors import ConfigError
from headway.languages.segmenting import segmenter, unspaced


def test_text_without_spaces_is_told_from_text_with_them():
    assert unspaced(["判断这个词的词性需要看上下文里的其他词。"])
    assert not unspaced(["判断 这个 词 的 词性 。"])
    assert not unspaced(["The part of speech of this word.", ""])
    assert not unspaced([""])
    assert unspaced(["我很饿。", "您经常去吗？", "这可能不是一颗真的钻石。"])  # lines are short
    assert unspaced(["扩展模块 :mod:`dbm.ndbm` 和 :mod:`dbm.gnu` 提供了额外的映射类型示例"])
    assert not unspaced(["我 很 饿 。", "百科全书 很 贵 。", "学习 Python 语言"])


def test_jieba_puts_spaces_between_words_and_changes_nothing_else():
    text = "判断这个词的词性，看 the context 。"
    cut = segmenter("jieba")(text)
    assert "判断 这个 词" in cut
    assert cut.replace(" ", "") == text.replace(" ", "")
    assert segmenter("none")(text) == text


def test_without_jieba_the_remedies_are_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "jieba", None)
    with pytest.raises(ConfigError, match=r"headway\[chinese\].*--text.unit characters"):
        segmenter("jieba")


@pytest.mark.parametrize(
    ("text", "parted"),
    [
        ('Say: "I like C++, (old) U.S. cars!"', 'Say : " I like C++ , ( old ) U.S . cars ! "'),
        ("the dog's bone, 5%, 3.5 and don't", "the dog's bone , 5% , 3.5 and don't"),
        ('already parted , is " left " as it is ...', 'already parted , is " left " as it is ...'),
        ("<unk> 's n't @-@ http://a.b/c?d", "<unk> 's n't @-@ http://a.b/c?d"),
    ],
)
def test_punctuation_is_parted_from_words_and_nothing_else_changes(text, parted):
    found = segmenter("punctuation")(text)
    assert found.split() == parted.split()
    assert "".join(found.split()) == "".join(text.split())
