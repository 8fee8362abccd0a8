"""Dropout, label smoothing and averaging: a small corpus, five seeds."""

import math
from statistics import mean
from typing import TYPE_CHECKING

from whys.plots import bars
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
    shown,
    table,
    trainings,
    values,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SEEDS = (1, 2, 3, 4, 5)
FULL = {"checkpoint_every": 30, "average": 5}
CELLS = {
    "all": trainings(
        "few sentences", model={"dropout": 0.2}, training=FULL, measures=("averaged",), seeds=SEEDS
    ),
    "no dropout": trainings(
        "few sentences", model={"dropout": 0.0}, training=FULL, measures=("averaged",), seeds=SEEDS
    ),
    "no smoothing": trainings(
        "few sentences",
        model={"dropout": 0.2},
        training={**FULL, "label_smoothing": 0.0},
        measures=("averaged",),
        seeds=SEEDS,
    ),
    "no residual": trainings(
        "few sentences",
        model={"type": "ablated", "dropout": 0.2, "residual": False},
        training=FULL,
        seeds=SEEDS[:3],
    ),
}
NAMES = {
    "all": Text("dropout 0.2, smoothing 0.1", "dropout 0.2，平滑 0.1"),
    "no dropout": Text("no dropout", "没有 dropout"),
    "no smoothing": Text("no smoothing", "没有平滑"),
    "no residual": Text("no residual connection", "没有残差"),
}


NATS = Text("validation loss less training loss", "验证损失减训练损失")
FREQUENCIES_ALONE = 5.26
"""Training loss of who knows how often each token comes, and no more (nats per token)."""


def perplexity(found: Found, label: str) -> list[float]:
    return [math.exp(loss) for loss in values(found, label, "valid_loss")]


def gap(found: Found, label: str) -> list[float]:
    """How much more is lost on unseen pairs than on the trained ones: overfitting (nats)."""
    both_losses = zip(
        values(found, label, "valid_loss"), values(found, label, "train_loss"), strict=True
    )
    return [valid - train for valid, train in both_losses]


def claims(found: Found) -> list[Claim]:
    bleu = {name: values(found, name, *BLEU.path) for name in CELLS}
    of = both("BLEU")
    return [
        above(
            Text(
                "Without dropout a small corpus is learned by heart: the gap to unseen text widens",
                "没有 dropout，小语料就被背下来：与没见过的文本差距拉大",
            ),
            gap(found, "no dropout"),
            gap(found, "all"),
            margin=0.05,
            of=NATS,
            digits=2,
        ),
        above(
            Text("and translations are worse without it", "没有它也译得更差"),
            bleu["all"],
            bleu["no dropout"],
            margin=0.5,
            of=of,
        ),
        above(
            Text("Label smoothing raises BLEU", "标签平滑提高 BLEU"),
            bleu["all"],
            bleu["no smoothing"],
            margin=0.5,
            of=of,
        ),
        above(
            Text("and costs perplexity (the paper says so)", "但损失困惑度（论文如此说）"),
            perplexity(found, "all"),
            perplexity(found, "no smoothing"),
            margin=0.1,
            of=Text("perplexity", "困惑度"),
            digits=2,
        ),
        above(
            Text(
                "The average of the last 5 checkpoints is better than the last one",
                "最后 5 个检查点的平均比最后一个好",
            ),
            values(found, "all", "averaged", "bleu"),
            bleu["all"],
            margin=0.5,
            of=of,
        ),
        without_residuals(
            Text(
                "Residual connections keep from overfitting: without them the gap is wider",
                "残差防止过拟合：没有残差，差距更大",
            ),
            found,
        ),
    ]


def without_residuals(says: Text, found: Found) -> Claim:
    """Whether the gap is wider without them; open where over half of what frequencies alone cost is
    still lost, as nothing was learned then that could overfit."""
    losses = values(found, "no residual", "train_loss")
    if losses and mean(losses) > FREQUENCIES_ALONE / 2:
        number = shown(losses, 2)
        return Claim(
            says,
            "open",
            Text(
                f"without them too little was learned to overfit: training loss {number}, where "
                f"token frequencies alone give {FREQUENCIES_ALONE:g}",
                f"没有残差，学到的太少，谈不上过拟合：训练损失 {number}，"
                f"而只知道词元频率就有 {FREQUENCIES_ALONE:g}",
            ),
        )
    return above(
        says,
        gap(found, "no residual"),
        gap(found, "all"),
        margin=0.05,
        of=NATS,
        digits=2,
    )


def tables(found: Found) -> list[Table]:
    rows = table(
        found,
        Text("training", "训练"),
        NAMES,
        [
            Column(Text("training loss", "训练损失"), ("train_loss",), 3),
            Column(Text("validation loss", "验证损失"), ("valid_loss",), 3),
            BLEU,
            Column(Text("BLEU, 5 averaged", "BLEU，5 个平均"), ("averaged", "bleu")),
        ],
    )
    header = [*rows.header, Text("perplexity", "困惑度")]
    more = [
        [*row, both(shown(perplexity(found, label), 2))]
        for row, label in zip(rows.rows, NAMES, strict=True)
    ]
    return [Table(header, more)]


def draw(found: Found, figure: "Figure") -> None:
    left, middle, right = figure.subplots(1, 3)
    bleu = {name: values(found, name, *BLEU.path) for name in CELLS}
    bleu["all, averaged"] = values(found, "all", "averaged", "bleu")
    bars(left, bleu, title="Quality", unit="BLEU")
    bars(
        middle,
        {n: gap(found, n) for n in CELLS},
        title="Overfitting",
        unit="validation - training loss",
    )
    bars(right, {n: perplexity(found, n) for n in CELLS}, title="Perplexity", unit="per token")


RECIPE = Question(
    name="recipe",
    title=Text("Why dropout, label smoothing and averaging?", "为什么要 dropout、标签平滑、平均？"),
    notes=Text(
        "Three regularizers: residual connections, dropout and label smoothing; the last raises BLEU (002). Residual and norm keep from overfitting (002).",
        "三种正则化：残差连接、dropout、标签平滑；标签平滑能提高 BLEU（002）。残差和归一化防止过拟合（002）。",
    ),
    experiment=Text(
        "800 sentences seen about 20 times, 300 updates, 5 seeds: with all, without dropout, without smoothing, and (3 seeds) without residual connections; the last weights beside the average of 5 checkpoints. A model that still loses over half of what token frequencies alone cost (5.26 nats) is not asked whether it overfits.",
        "800 个句子各看约 20 遍，300 次更新，5 个种子：全都有、没有 dropout、没有平滑，以及（3 个种子）没有残差；最后的权重与 5 个检查点的平均并列。损失仍超过词元频率水平（5.26 奈特）一半的模型，不问它是否过拟合。",
    ),
    cells=CELLS,
    claims=claims,
    tables=tables,
    draw=draw,
    caption=Text(
        "Left: BLEU; middle: validation loss less training loss; right: perplexity. Dots are seeds.",
        "左：BLEU；中：验证损失减训练损失；右：困惑度。圆点是各个随机种子。",
    ),
    size=(11.5, 3.8),
)

QUESTIONS = (RECIPE,)
