"""The Chinese texts use the field's words: those that were put right do not come back."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXTS = [
    ROOT / "README.zh-CN.md",
    *ROOT.glob("docs/*.zh-CN.md"),
    *(ROOT / "src/headway/inspection").rglob("*.py"),
    *(ROOT / "src/headway/inspection/page").glob("*.js"),
    *(ROOT / "benchmarks/whys").rglob("*.py"),
]
RETIRED = {
    "升温": "学习率预热",
    "集束搜索": "束搜索",
    '的流[，。"“”]|加到流|数据流': "残差流",
    "标记": "特殊符号、起始符、终止符",
    "(梯度|平均|贡献的)长度": "模",
    "代价": "开销",
    "[个该此两]运行": "一次训练",
    "在看的词": "查询词",
    "等级相关": "秩相关",
    "人人平等": "均匀分配",
    "未定": "尚无定论",
}


@pytest.mark.parametrize("retired", RETIRED)
def test_a_retired_word_does_not_come_back(retired: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()[:100]}"
        for path in TEXTS
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(retired, line)
    ]
    assert not found, f"say {RETIRED[retired]}"


def test_nats_have_one_name_in_chinese() -> None:
    for path in ROOT.glob("docs/*.zh-CN.md"):
        assert not re.search(r"\bnats\b", path.read_text(encoding="utf-8")), path.name
