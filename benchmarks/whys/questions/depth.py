"""Residual connections and norms: what becomes of deep stacks, of gradients, and of small batches."""

import math
from collections.abc import Sequence
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple

from whys.cells import Figures
from whys.plots import bars, lines, mean_curve
from whys.question import (
    BLEU,
    FEWEST_SEEDS,
    VALID,
    Claim,
    Found,
    Question,
    Table,
    Text,
    above,
    as_good,
    both,
    probed,
    shown,
    table,
    trainings,
    usual,
    values,
    within,
)
from whys.training import MODEL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

XAVIER = {"residual_gain": 1.0}
"""Begun with nothing smaller: what norms and residuals do is not to be helped by it."""
STACKS: dict[str, dict[str, Any]] = {
    "pre": {"norm": "pre"},
    "post": {"norm": "post"},
    "no residual": {"type": "ablated", "norm": "post", "residual": False},
    "no norm": {"type": "ablated", "normalize": "none"},
}
NAMES = {
    "pre": Text("Pre-LN", "Pre-LN"),
    "post": Text("Post-LN (the paper)", "Post-LN（论文）"),
    "no residual": Text("no residual connection", "没有残差"),
    "no norm": Text("no norm", "没有归一化"),
}
DEPTHS = (2, 4, 8, 12)
TRAINED = (2, 6, 12)
NOTHING_LEARNED = 2.9
"""Nats per letter: one who writes letters as they come, and no more, has about 3.1."""
KNOWS_NOTHING = math.log(30)
"""Stands for a larger loss, or one that did not stay finite: one of 26 letters and 4 markers."""
DEEP = {"max_steps": 120, "warmup_steps": 20, "batch_tokens": 512, "learning_rate": 3e-3}


def sized(stack: str, depth: int) -> dict[str, Any]:
    """A stack of so many layers, in the encoder and in the decoder."""
    return {
        **XAVIER, **STACKS[stack], "encoder_layers": depth, "decoder_layers": depth, "d_ff": 128,
    }  # fmt: skip


def ratios(found: Found, stack: str, depth: int) -> list[float]:
    """The first gradient in the lowest encoder layer, as a share of that in the highest; seeds
    where one of them is not finite are left out."""
    ends = [(one["by_layer"][0], one["by_layer"][-1]) for one in drawn(found, stack, depth)]
    return [low / high for low, high in ends if low is not None and high]


def drawn(found: Found, stack: str, depth: int) -> Sequence[Figures]:
    """What was measured of a stack before any training."""
    return found.get(f"{stack}, {depth} drawn", ())


def decades(found: Found, stack: str) -> list[float]:
    """Of the first gradient in 12 + 12 layers: powers of ten, of the seeds where it is finite."""
    norms = [one["norm"] for one in drawn(found, stack, 12)]
    return [math.log10(max(norm, 1e-30)) for norm in norms if norm is not None]


def explosion(says: Text, found: Found) -> Claim:
    """Whether without norms the first gradient is 1000 times as long; one beyond all numbers is."""
    bare, normed = decades(found, "no norm"), decades(found, "pre")
    n = len(drawn(found, "no norm", 12))
    if n < FEWEST_SEEDS or bare or not normed:
        return above(says, bare, normed, margin=3, of=Text("powers of 10", "10 的幂次"))
    return Claim(
        says,
        "holds",
        Text(
            f"not finite in {n} of {n} models; with Pre-LN powers of 10 {shown(normed)}",
            f"{n} / {n} 个模型中溢出；Pre-LN 为 10 的幂次 {shown(normed)}",
        ),
    )


def losses(found: Found, stack: str, depth: int) -> list[float]:
    """Of the validation letters after the training."""
    every = [one["valid_loss"] for one in found.get(f"{stack}, {depth} trained", ())]
    return [KNOWS_NOTHING if loss is None else min(loss, KNOWS_NOTHING) for loss in every]


class Failures(NamedTuple):
    """Of the trainings of a stack, of any depth."""

    trained: int
    learned_nothing: int
    diverged: int
    """A loss or a gradient was not finite."""


def failures(found: Found, stack: str) -> Failures:
    """How many trainings came to nothing."""
    every = [one for depth in TRAINED for one in found.get(f"{stack}, {depth} trained", ())]
    losses = [one["valid_loss"] for one in every]
    return Failures(
        len(every),
        sum(loss is None or loss > NOTHING_LEARNED for loss in losses),
        sum(not one["finite"] for one in every),
    )


def claims(found: Found) -> list[Claim]:
    loss = {(stack, depth): losses(found, stack, depth) for stack in STACKS for depth in TRAINED}
    nats = Text("validation loss", "验证损失")
    shares = Text(
        "gradient of the lowest layer as a share of the highest's", "最低层梯度与最高层之比"
    )
    return [
        above(
            Text(
                "Without residual connections 6 + 6 layers learn worse than with them, in the same order (Post-LN)",
                "没有残差，6 + 6 层就学得不如有残差的（同样的次序，Post-LN）",
            ),
            loss["no residual", 6],
            loss["post", 6],
            margin=0.1,
            of=nats,
            digits=2,
        ),
        within(
            Text(
                "because its gradient vanishes on the way down: to under a tenth",
                "因为梯度在往下传时消失，不到十分之一",
            ),
            ratios(found, "no residual", 12),
            high=0.1,
            of=shares,
            digits=3,
        ),
        explosion(
            Text(
                "Without norms the first gradient explodes: in 12 + 12 layers it is 1000 times as long as with Pre-LN",
                "没有归一化，第一个梯度就爆炸：12 + 12 层时是 Pre-LN 的 1000 倍以上",
            ),
            found,
        ),
        above(
            Text(
                "without norms 12 + 12 layers learn worse than with Pre-LN",
                "没有归一化，12 + 12 层学得不如 Pre-LN",
            ),
            loss["no norm", 12],
            loss["pre", 12],
            margin=0.1,
            of=nats,
            digits=2,
        ),
        above(
            Text("without norms even 2 + 2 layers learn worse", "没有归一化，2 + 2 层也学得更差"),
            loss["no norm", 2],
            loss["pre", 2],
            margin=0.1,
            of=nats,
            digits=2,
        ),
        above(
            Text(
                "12 + 12 layers learn worse with the paper's Post-LN than with Pre-LN",
                "12 + 12 层，论文的 Post-LN 学得不如 Pre-LN",
            ),
            loss["post", 12],
            loss["pre", 12],
            margin=0.1,
            of=nats,
            digits=2,
        ),
    ]


def tables(found: Found) -> list[Table]:
    header = [Text("stack", "结构")]
    header += [Text(f"loss, {n} + {n}", f"损失，{n} + {n}") for n in TRAINED]
    header += [Text("learned nothing", "什么也没学到"), Text("diverged", "发散")]
    header += [Text(f"gradient low / high, {n}", f"梯度 低 / 高，{n}") for n in DEPTHS]
    rows = []
    for stack, name in NAMES.items():
        after = [shown(losses(found, stack, n), 2) for n in TRAINED]
        n, *failed = failures(found, stack)
        counts = [f"{n_failed} / {n}" if n else "-" for n_failed in failed]
        shares = [shown(ratios(found, stack, depth), 3) for depth in DEPTHS]
        rows.append([name, *map(both, (*after, *counts, *shares))])
    return [Table(header, rows)]


def draw(found: Found, figure: "Figure") -> None:
    left, right = figure.subplots(1, 2)
    learned = {}
    for stack in STACKS:
        points = [(n, losses(found, stack, n)) for n in TRAINED]
        learned[stack] = [(n, mean(some)) for n, some in points if some]
    lines(
        left,
        learned,
        title="After 120 updates",
        x="layers in each stack",
        y="validation loss (nats)",
    )
    left.axhline(NOTHING_LEARNED, color="black", linestyle="--", linewidth=1)
    profiles = {}
    for stack in STACKS:
        some = [one["by_layer"] for one in drawn(found, stack, 12) if None not in one["by_layer"]]
        profiles[stack] = list(enumerate(mean_curve(some), 1)) if some else []
    lines(
        right,
        profiles,
        title="First gradient, 12 + 12 layers",
        x="encoder layer (1 = lowest)",
        y="norm",
        yscale="log",
    )


DEPTH = Question(
    name="depth",
    title=Text("Why residual connections and norms?", "为什么要残差和归一化？"),
    notes=Text(
        "The residual carries information deeper without loss (000) and keeps gradients from vanishing or exploding (004 section 16); the norm keeps numbers from growing too large or small, which would slow learning (000).",
        "残差把信息无损地传得更深（000），防止梯度消失、爆炸（004 第 16 节）；归一化防止数值过大过小而收敛缓慢（000）。",
    ),
    experiment=Text(
        "Stacks of 2 to 12 layers with Pre-LN, Post-LN, without residual connections (`--no-model.residual`) and without norms (`--model.normalize none`): the first gradient in each encoder layer of models just drawn (begun with Xavier's weights alone: `--model.residual-gain 1`), and the validation loss after 120 updates on letters to be copied. A training counts as having learned nothing above 2.9 nats, about what the frequencies of letters alone give; it diverged where a loss or a gradient on the way was not finite; one that lost more than 3.4 nats, or whose numbers did not stay finite, counts as 3.4.",
        "2 到 12 层，分别用 Pre-LN、Post-LN、去掉残差（`--no-model.residual`）、去掉归一化（`--model.normalize none`）：看刚初始化的模型里编码器各层的第一个梯度（只用 Xavier 的初始权重：`--model.residual-gain 1`），再看抄写字母、120 次更新之后的验证损失。损失高于 2.9 奈特 算什么也没学到，这大约是只知道字母频率的水平；途中损失或梯度溢出，算发散；损失高于 3.4 或数值溢出的，都按 3.4 计。",
    ),
    cells={
        **{
            f"{stack}, {depth} drawn": probed(
                "gradients", lesson="copied", model={**MODEL, **sized(stack, depth)}
            )
            for stack in STACKS
            for depth in DEPTHS
        },
        **{
            f"{stack}, {depth} trained": trainings(
                "copied", model=sized(stack, depth), training=DEEP
            )
            for stack in STACKS
            for depth in TRAINED
        },
    },
    claims=claims,
    tables=tables,
    draw=draw,
    caption=Text(
        "Left: validation loss by depth, below the dashed line something was learned; right: length of the first gradient in each encoder layer of 12, on a logarithmic scale.",
        "左：不同层数的验证损失，虚线以下才算学到了东西；右：12 层编码器各层第一个梯度的模，对数坐标。",
    ),
)

COLD = {"warmup_steps": 1}
ORDERS = {
    "pre": trainings("sentences", model=XAVIER),
    "post": trainings("sentences", model={**XAVIER, "norm": "post"}),
    "pre, no warm-up": trainings("sentences", model=XAVIER, training=COLD),
    "post, no warm-up": trainings("sentences", model={**XAVIER, "norm": "post"}, training=COLD),
    "pre, smaller": usual(),
    "post, smaller": trainings("sentences", model={"norm": "post"}),
}
ORDER_NAMES = {
    "pre": Text("Pre-LN", "Pre-LN"),
    "post": Text("Post-LN (the paper)", "Post-LN（论文）"),
    "pre, no warm-up": Text("Pre-LN, no warm-up", "Pre-LN，不预热"),
    "post, no warm-up": Text("Post-LN, no warm-up", "Post-LN，不预热"),
    "pre, smaller": Text("Pre-LN, begun with 0.35", "Pre-LN，初始乘 0.35"),
    "post, smaller": Text("Post-LN, begun with 0.35", "Post-LN，初始乘 0.35"),
}


def order_claims(found: Found) -> list[Claim]:
    bleu = {name: values(found, name, *BLEU.path) for name in ORDERS}
    of = both("BLEU")
    return [
        as_good(
            Text(
                "With 2 + 2 layers the paper's order is as good as Pre-LN",
                "2 + 2 层时，论文的次序不比 Pre-LN 差",
            ),
            bleu["post"],
            bleu["pre"],
            margin=2,
            of=of,
        ),
        above(
            Text(
                "with the paper's order the rate must be warmed up",
                "用论文的次序，学习率必须先预热",
            ),
            bleu["post"],
            bleu["post, no warm-up"],
            margin=2,
            of=of,
        ),
        above(
            Text("with Pre-LN too", "用 Pre-LN 也必须"),
            bleu["pre"],
            bleu["pre, no warm-up"],
            margin=2,
            of=of,
        ),
        *(
            above(
                Text(
                    f"{name} learns sooner where each sublayer begins with 0.35 of Xavier's weights",
                    f"各子层从 Xavier 的 0.35 倍开始，{name} 学得更快",
                ),
                bleu[f"{order}, smaller"],
                bleu[order],
                margin=2,
                of=of,
            )
            for order, name in (("pre", "Pre-LN"), ("post", "Post-LN"))
        ),
    ]


def order_tables(found: Found) -> list[Table]:
    return [table(found, Text("order", "次序"), ORDER_NAMES, [VALID, BLEU])]


def draw_order(found: Found, figure: "Figure") -> None:
    left, right = figure.subplots(1, 2)
    bars(left, {n: values(found, n, *BLEU.path) for n in ORDER_NAMES}, title="Quality", unit="BLEU")
    curves = {
        n: [(step, loss) for step, loss in found[n][0]["curve"]]
        for n in ORDER_NAMES
        if found.get(n)
    }
    lines(right, curves, title="Training loss (seed 1)", x="updates", y="nats per token")


ORDER = Question(
    name="norm-order",
    title=Text("Post-LN or Pre-LN, and why a warm-up?", "Post-LN 还是 Pre-LN，为什么要预热？"),
    notes=Text(
        "Add & Norm stands behind every sub-layer (000: Post-LN); the rate first rises in a line and then falls (002).",
        "每个子层之后接 Add & Norm（000：Post-LN）；学习率先线性上升，再下降（002）。",
    ),
    experiment=Text(
        "Sentences, 300 updates. Each order with Xavier's first weights, with a warm-up of 80 updates and with none; and with the last matrix of each attention and feed-forward begun as 0.35 of that (`--model.residual-gain`).",
        "译句子，300 次更新。两种次序都用 Xavier 的初始权重，各有 80 次更新的学习率预热和没有预热两种；再有一组，各注意力与前馈的最后一个矩阵从它的 0.35 倍开始（`--model.residual-gain`）。",
    ),
    cells=ORDERS,
    claims=order_claims,
    tables=order_tables,
    draw=draw_order,
    caption=Text("Left: BLEU; right: training loss.", "左：BLEU；右：训练损失。"),
)

QUESTIONS: tuple[Question, ...] = (DEPTH, ORDER)
