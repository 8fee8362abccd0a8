"""The feed-forward layer: how wide, whether it must bend, and what it does to the parameters."""

from typing import TYPE_CHECKING, Any

from whys.plots import bars
from whys.question import (
    BLEU,
    PARAMETERS,
    VALID,
    Claim,
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

WIDTHS: dict[str, dict[str, Any]] = {
    "x0": {"type": "ablated", "feed_forward": "none"},
    "x1": {"d_ff": 64},
    "x4": {},
    "x4, no ReLU": {"type": "ablated", "feed_forward": "linear"},
}
NAMES = {
    "x0": Text("none (x0)", "无（x0）"),
    "x1": both("x1"),
    "x4": Text("x4 (the paper)", "x4（论文）"),
    "x4, no ReLU": Text("x4 without ReLU", "x4，去掉 ReLU"),
}


def claims(found: Found) -> list[Claim]:
    bleu = {name: values(found, name, *BLEU.path) for name in WIDTHS}
    size = {name: values(found, name, "parameters") for name in WIDTHS}
    of = both("BLEU")
    return [
        above(
            Text(
                "With the feed-forward layer translations are better than without",
                "有前馈层译得比没有好",
            ),
            bleu["x4"],
            bleu["x0"],
            margin=1,
            of=of,
        ),
        above(
            Text("its widening to 4 times is worth something beside x1", "升到 4 倍比 1 倍好"),
            bleu["x4"],
            bleu["x1"],
            margin=1,
            of=of,
        ),
        above(
            Text(
                "without the ReLU, which makes it one linear map, it is worth less",
                "去掉 ReLU 就只是一个线性映射，译得更差",
            ),
            bleu["x4"],
            bleu["x4, no ReLU"],
            margin=1,
            of=of,
        ),
        above(
            Text("to widen and narrow again saves parameters", "先升维再降维能减少参数"),
            size["x1"],
            size["x4"],
            margin=0,
            of=Text("parameters of x1 and x4:", "x1 与 x4 的参数量："),
            digits=0,
        ),
    ]


def tables(found: Found) -> list[Table]:
    return [table(found, Text("feed-forward", "前馈层"), NAMES, [PARAMETERS, VALID, BLEU])]


def draw(found: Found, figure: "Figure") -> None:
    left, right = figure.subplots(1, 2)
    bars(left, {n: values(found, n, *BLEU.path) for n in WIDTHS}, title="Quality", unit="BLEU")
    loss = {n: values(found, n, "valid_loss") for n in WIDTHS}
    bars(right, loss, title="Validation loss", unit="nats per token")


WIDTH = Question(
    name="feed-forward",
    title=Text(
        "Why a feed-forward layer, 4 times as wide, with a ReLU?",
        "为什么要前馈层，要升到 4 倍，要 ReLU？",
    ),
    notes=Text(
        "Widening to 4 times gives capacity; the ReLU lets it learn what is not linear; and to widen and narrow again keeps the parameters few (000).",
        "升到 4 倍增加容量；ReLU 使它能学非线性关系；先升维再降维还能减少参数（000）。",
    ),
    experiment=Text(
        "Sentences, 300 updates: no feed-forward (`--model.feed-forward none`), as wide as the model, 4 times as wide, and that without its ReLU (`--model.feed-forward linear`).",
        "译句子，300 次更新：没有前馈层（`--model.feed-forward none`）、与模型同宽、4 倍宽，以及同样宽但去掉 ReLU（`--model.feed-forward linear`）。",
    ),
    cells={
        name: trainings("sentences", model=model) if model else usual()
        for name, model in WIDTHS.items()
    },
    claims=claims,
    tables=tables,
    draw=draw,
    caption=Text("Left: BLEU; right: validation loss.", "左：BLEU；右：验证损失。"),
)

QUESTIONS = (WIDTH,)
