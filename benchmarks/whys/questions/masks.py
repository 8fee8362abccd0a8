"""The causal mask, and the truth fed against one's own words."""

from statistics import mean
from typing import TYPE_CHECKING

from whys.plots import bars, lines, mean_curve
from whys.question import (
    BLEU,
    Claim,
    Column,
    Found,
    Question,
    Table,
    Text,
    above,
    both,
    table,
    trainings,
    usual,
    values,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = {"usual": Text("causal mask", "有因果掩码"), "open": Text("no mask", "没有掩码")}
CELLS = {
    "usual": usual(),
    "open": trainings(
        "sentences", model={"type": "ablated", "causal": False}, measures=("own words",)
    ),
}
FORCED, OWN = ("accuracy", "forced", "all"), ("accuracy", "own", "all")
RIGHT = Text("tokens right (%)", "正确的词元（%）")


def mask_claims(found: Found) -> list[Claim]:
    return [
        above(
            Text(
                "Without the mask the loss falls much lower, as the answer can be seen",
                "没有掩码，答案看得见，损失低得多",
            ),
            values(found, "usual", "valid_loss"),
            values(found, "open", "valid_loss"),
            margin=0.3,
            of=Text("validation loss", "验证损失"),
            digits=2,
        ),
        above(
            Text("and what it writes by itself is worse", "而它自己写出来的更差"),
            values(found, "usual", *BLEU.path),
            values(found, "open", *BLEU.path),
            margin=5,
            of=both("BLEU"),
        ),
    ]


def mask_tables(found: Found) -> list[Table]:
    columns = [
        Column(Text("validation loss", "验证损失"), ("valid_loss",), 3),
        Column(Text("right, fed the truth (%)", "喂标准答案时正确（%）"), FORCED),
        Column(Text("right, fed its own words (%)", "喂自己的话时正确（%）"), OWN),
        BLEU,
    ]
    return [table(found, Text("decoder", "解码器"), NAMES, columns)]


def draw_mask(found: Found, figure: "Figure") -> None:
    left, right = figure.subplots(1, 2)
    loss = {name.en: values(found, label, "valid_loss") for label, name in NAMES.items()}
    bleu = {name.en: values(found, label, *BLEU.path) for label, name in NAMES.items()}
    bars(left, loss, title="What training sees", unit="validation loss (nats)")
    bars(right, bleu, title="What it writes", unit="BLEU")


MASK = Question(
    name="causal-mask",
    title=Text("Why may the decoder not see what comes?", "解码器为什么要掩码？"),
    notes=Text(
        "In training all of the target is known, but when word i + 1 is written only i words are; so what follows is masked (003 section 2, 004 section 19).",
        "训练时整个目标序列都已知，而生成第 i + 1 个词时只应知道前 i 个词，所以把后面的遮住（003 第 2 节、004 第 19 节）。",
    ),
    experiment=Text(
        "The Transformer without its causal mask (`--model.type ablated --no-model.causal`), trained on the same sentences: the loss with the truth fed, and what it writes.",
        "去掉因果掩码的 Transformer（`--model.type ablated --no-model.causal`），训练同样的句子：看喂标准答案时的损失，再看它自己写出什么。",
    ),
    cells=CELLS,
    claims=mask_claims,
    tables=mask_tables,
    draw=draw_mask,
    caption=Text(
        "Left: validation loss with the truth fed; right: BLEU of what is written.",
        "左：喂标准答案时的验证损失；右：自己写出的译文的 BLEU。",
    ),
)


def by_position(found: Found, label: str, fed: str) -> list[list[float]]:
    rows = [one["accuracy"][fed]["by_position"] for one in found.get(label, ())]
    shortest = min(map(len, rows), default=0)
    return [row[:shortest] for row in rows]


def gap_at(found: Found, places: slice) -> list[float]:
    """Truth fed less own words fed, over some target positions (points)."""
    forced, own = (by_position(found, "usual", fed) for fed in ("forced", "own"))
    return [mean(f[places]) - mean(o[places]) for f, o in zip(forced, own, strict=True)]


def own_claims(found: Found) -> list[Claim]:
    return [
        above(
            Text(
                "Fed its own words, it is right less often than fed the truth",
                "喂自己的话，正确率低于喂标准答案",
            ),
            values(found, "usual", *FORCED),
            values(found, "usual", *OWN),
            margin=3,
            of=RIGHT,
        ),
        above(
            Text(
                "and the gap grows along the sentence: one error brings others",
                "而且越往后差得越多：一步错，步步错",
            ),
            gap_at(found, slice(5, 8)),
            gap_at(found, slice(0, 2)),
            margin=5,
            of=Text(
                "gap at positions 6 to 8 and 1 to 2 (points)",
                "第 6 到 8 个位置与第 1 到 2 个位置的差距（百分点）",
            ),
        ),
    ]


def own_tables(found: Found) -> list[Table]:
    columns = [
        Column(
            Text(f"position {n + 1}", f"第 {n + 1} 个"), ("accuracy", "forced", "by_position", n)
        )
        for n in (0, 2, 4, 6, 8)
    ]
    own = [one._replace(path=("accuracy", "own", *one.path[2:])) for one in columns]
    name = {"usual": Text("the truth", "标准答案")}
    first = table(found, Text("fed (tokens right, %)", "喂的是（正确的词元，%）"), name, columns)
    second = table(found, first.header[0], {"usual": Text("its own words", "自己的话")}, own)
    return [Table(first.header, [*first.rows, *second.rows])]


def draw_own(found: Found, figure: "Figure") -> None:
    axes = figure.subplots()
    curves = {}
    for fed, name in (("forced", "fed the truth"), ("own", "fed its own words")):
        rows = by_position(found, "usual", fed)
        curves[name] = list(enumerate(mean_curve(rows), 1)) if rows else []
    lines(axes, curves, title="Accuracy by target position", x="position", y="tokens right (%)")


OWN_WORDS = Question(
    name="own-words",
    title=Text(
        "Training is fed the truth, prediction its own words: what does that cost?",
        "训练时喂标准答案，预测时喂自己的输出：差多少？",
    ),
    notes=Text(
        "In training each step is fed the truth, all at once by a mask; in prediction it is fed what was predicted (000, 003 section 3.8).",
        "训练时每一步喂的是标准答案，用掩码一次完成；预测时喂的是自己预测出来的词（000、003 第 3.8 节）。",
    ),
    experiment=Text(
        "The usual Transformer on unseen sentences, fed the truth and fed what it wrote; tokens that stand where the reference has them.",
        "同一个 Transformer，没见过的句子，一次喂标准答案，一次喂它自己写的；数一数与参考译文同位置相同的词元。",
    ),
    cells={"usual": usual()},
    claims=own_claims,
    tables=own_tables,
    draw=draw_own,
    caption=Text("Mean over the seeds.", "各种子的平均。"),
    size=(6.5, 3.6),
)

QUESTIONS = (MASK, OWN_WORDS)
