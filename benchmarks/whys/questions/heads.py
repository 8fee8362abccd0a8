"""Many heads against one, heads taken away, and one matrix for queries and keys."""

from statistics import mean
from typing import TYPE_CHECKING

from whys.plots import bars, lines
from whys.question import (
    BLEU,
    PARAMETERS,
    VALID,
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
    within,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BY_HEADS = {"1": 1, "2": 2, "4": 4, "8": 8}
TEST = ("written", "test", "bleu")
OF_BLEU = both("BLEU")
HEADS = Text("heads", "头数")


def many_claims(found: Found) -> list[Claim]:
    four = values(found, "4", *TEST)
    return [
        above(
            Text(
                "4 heads translate better than 1 of the same total width",
                "总宽相同，4 个头比 1 个头译得好",
            ),
            four,
            values(found, "1", *TEST),
            margin=1.0,
            of=OF_BLEU,
        ),
        above(
            Text("and 8 better than 4", "8 个头又比 4 个头好"),
            values(found, "8", *TEST),
            four,
            margin=1.0,
            of=OF_BLEU,
        ),
    ]


def many_tables(found: Found) -> list[Table]:
    return [table(found, HEADS, {n: both(n) for n in BY_HEADS}, [PARAMETERS, VALID, BLEU])]


def draw_many(found: Found, figure: "Figure") -> None:
    left, right = figure.subplots(1, 2)
    bleu = {n: values(found, n, *TEST) for n in BY_HEADS}
    loss = {n: values(found, n, "valid_loss") for n in BY_HEADS}
    bars(left, bleu, title="Quality by number of heads", unit="BLEU")
    bars(right, loss, title="Validation loss", unit="nats per token")
    for axes in (left, right):
        axes.set_xlabel("heads")


MANY = Question(
    name="heads",
    title=Text("Why many heads and not one?", "为什么要多个头，而不是一个？"),
    notes=Text(
        "Several heads look in several sub-spaces and find more kinds of relation; the mean of a single one would blur them (000, 002).",
        "多个头在不同子空间里各看各的，能抓住更多种关系；只有一个头，求平均就把它们抹平了（000、002）。",
    ),
    experiment=Text(
        "The same Transformer with 1, 2, 4 and 8 heads of width 64 / heads: equal parameters, equal cost. English to Chinese, 300 updates.",
        "同一个 Transformer，分别用 1、2、4、8 个头，每头宽 64 / 头数：参数相同，计算量相同。英译中，300 次更新。",
    ),
    cells={
        n: usual() if heads == 4 else trainings("sentences", model={"heads": heads})
        for n, heads in BY_HEADS.items()
    },
    claims=many_claims,
    tables=many_tables,
    draw=draw_many,
    caption=Text(
        "Left: BLEU on unseen sentences; right: validation loss; by number of heads. Dots are seeds.",
        "左：没见过的句子上的 BLEU；右：验证损失；横轴是头数，圆点是各个随机种子。",
    ),
)


def removed_claims(found: Found) -> list[Claim]:
    every = [one["heads"] for one in found["usual"]]
    whole = [one["whole"] for one in every]
    half = [nearest(one["least_first"], 0.5) for one in every]
    idle = [100 * mean(cost < 0.01 for cost in one["worse"].values()) for one in every]
    most = [max(one["worse"].values()) for one in every]
    nats = Text("nats per token", "每词元奈特")
    return [
        above(
            Text(
                "Half of the heads, those that matter least, cannot be done without",
                "去掉最不要紧的一半头就不行了",
            ),
            half,
            whole,
            margin=0.1,
            of=nats,
            digits=2,
        ),
        within(
            Text(
                "No head is superfluous: hardly any costs less than 0.01 nats when it goes",
                "没有多余的头：去掉后损失增加不到 0.01 的几乎没有",
            ),
            idle,
            high=5,
            of=Text("share of such heads (%)", "这种头的比例（%）"),
        ),
        within(
            Text(
                "There are heads that much depends on: one alone costs 0.2 nats or more",
                "有的头举足轻重：单去掉它，损失就增加 0.2 以上",
            ),
            most,
            low=0.2,
            of=Text("the costliest head, nats", "最要紧的头，奈特"),
            digits=2,
        ),
    ]


def nearest(points: list[list[float]], share: float) -> float:
    """The loss where that share of the heads is gone."""
    n = points[-1][0] * share
    return min(points, key=lambda point: abs(point[0] - n))[1]


def removed_tables(found: Found) -> list[Table]:
    some = found["usual"][:1]
    if not some:
        return []
    ranked = sorted(some[0]["heads"]["worse"].items(), key=lambda item: -item[1])
    header = [Text("head (seed 1)", "头（种子 1）"), Text("loss rises by", "损失增加")]
    shown = [*ranked[:4], *ranked[-2:]]
    return [Table(header, [[both(name), both(f"{cost:.3f}")] for name, cost in shown])]


def draw_removed(found: Found, figure: "Figure") -> None:
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    some = found["usual"]
    worse = some[0]["heads"]["worse"] if some else {}
    bars(
        left,
        {n: [x] for n, x in sorted(worse.items(), key=lambda i: -i[1])},
        title="Each head removed alone (seed 1)",
        unit="rise of the loss (nats)",
    )
    left.tick_params(axis="x", rotation=90, labelsize=6)
    curves = {
        f"seed {number}": [(n, loss) for n, loss in one["heads"]["least_first"]]
        for number, one in enumerate(some, 1)
    }
    lines(right, curves, title="The least important first", x="heads removed", y="validation loss")


REMOVED = Question(
    name="heads-removed",
    title=Text("Does every head matter?", "每个头都有用吗？"),
    notes=Text(
        "Each head attends to something of its own, and together they are richer (000, 004 section 13).",
        "每个头各有所注意，合起来更丰富（000、004 第 13 节）。",
    ),
    experiment=Text(
        "The trained Transformer with 4 heads has 24 of them in all. Each is silenced alone; then ever more are, those that mattered least first.",
        "训练好的 4 头 Transformer 一共有 24 个头。先逐个单独关掉；再从最不要紧的开始，越关越多。",
    ),
    cells={"usual": usual()},
    claims=removed_claims,
    tables=removed_tables,
    draw=draw_removed,
    caption=Text(
        "Left: how much the validation loss rises without each head; right: the loss as ever more heads go.",
        "左：去掉每个头后验证损失增加多少；右：越去越多时的损失。",
    ),
)

PROJECTIONS = {"W_Q and W_K": "usual", "W_Q = W_K": "shared"}


def shared_claims(found: Found) -> list[Claim]:
    own, apart = (values(found, label, "diagonal", "share") for label in ("shared", "usual"))
    share = Text("weight on oneself", "给自己的权重")
    return [
        above(
            Text("With one matrix for both, translations are worse", "共用一个矩阵，译得更差"),
            values(found, "usual", *TEST),
            values(found, "shared", *TEST),
            margin=1.0,
            of=OF_BLEU,
        ),
        above(
            Text("each position looks more at itself", "每个位置更多地看自己"),
            own,
            apart,
            margin=0.1,
            of=share,
            digits=2,
        ),
        within(
            Text("so much that attention is about a unit matrix", "以致注意力近乎单位矩阵"),
            own,
            low=0.8,
            of=share,
            digits=2,
        ),
    ]


def shared_tables(found: Found) -> list[Table]:
    columns = [
        BLEU,
        VALID,
        Column(Text("weight on oneself", "给自己的权重"), ("diagonal", "share"), 2),
        Column(Text("if all were alike", "若均匀分配"), ("diagonal", "uniform"), 2),
    ]
    names = {label: both(name) for name, label in PROJECTIONS.items()}
    return [table(found, Text("projections", "投影"), names, columns)]


def draw_shared(found: Found, figure: "Figure") -> None:
    left, right = figure.subplots(1, 2)
    bleu = {name: values(found, label, *TEST) for name, label in PROJECTIONS.items()}
    own = {n: values(found, label, "diagonal", "share") for n, label in PROJECTIONS.items()}
    bars(left, bleu, title="Quality", unit="BLEU")
    bars(
        right, own, title="Self-attention on oneself (encoder)", unit="mean weight on the diagonal"
    )
    right.set_ylim(0, 1)


SHARED = Question(
    name="query-is-key",
    title=Text("Why is W_Q not W_K?", "为什么 W_Q 与 W_K 不能相同？"),
    notes=Text(
        "With Q = K attention would very likely come near a unit matrix, and self-attention would shrink to a linear map of each position; two matrices also generalize better (000).",
        "若 Q = K，注意力很可能接近单位矩阵，自注意力就退化成逐位置的线性映射；两个矩阵的泛化也更好（000）。",
    ),
    experiment=Text(
        "The Transformer with one matrix for queries and keys in every attention (`--model.type ablated --model.query-is-key`), trained; then the weight that each position of the encoder puts on itself.",
        "把每个注意力里的查询、键两个投影合成一个（`--model.type ablated --model.query-is-key`），训练之后，看编码器各位置给自己的权重。",
    ),
    cells={
        "usual": usual(),
        "shared": trainings(
            "sentences",
            model={"type": "ablated", "query_is_key": True},
            measures=("diagonal",),
        ),
    },
    claims=shared_claims,
    tables=shared_tables,
    draw=draw_shared,
    caption=Text(
        "Left: BLEU; right: mean weight on the diagonal of the encoder's self-attention.",
        "左：BLEU；右：编码器自注意力对角线上的平均权重。",
    ),
)

QUESTIONS = (MANY, REMOVED, SHARED)
