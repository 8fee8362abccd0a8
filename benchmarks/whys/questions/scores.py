"""Additive against dot product, with the scale and without, by d_k."""

from statistics import mean
from typing import TYPE_CHECKING, Any

from whys.plots import bars, lines
from whys.question import (
    BLEU,
    SECONDS,
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
    values,
    within,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = (16, 32, 64, 128, 256, 512)
KINDS = ("scaled", "dot", "additive")
NAMES = {
    "scaled": Text("dot product, scaled", "点积，缩放"),
    "dot": Text("dot product, not scaled", "点积，不缩放"),
    "additive": Text("additive", "加性"),
}
SMALL, LARGE = 16, 128
"""d_k of what is trained, with one head in each attention."""
OPTIONS: dict[str, dict[str, Any]] = {
    "scaled": {},
    "dot": {"scale": False},
    "additive": {"score": "additive"},
}


def random(found: Found, kind: str, d_k: int, what: str) -> list[float]:
    return values(found, f"random, {d_k}", kind, what)


def trained(kind: str, d_k: int) -> str:
    return f"{kind}, d_k {d_k}"


def claims(found: Found) -> list[Claim]:
    variance = Text("variance at d_k 512", "d_k 为 512 时的方差")
    gradient = Text("gradient of softmax at d_k 512", "d_k 为 512 时 softmax 的梯度")
    bleu = {(k, d): values(found, trained(k, d), *BLEU.path) for k in KINDS for d in (SMALL, LARGE)}
    of = both("BLEU")
    return [
        within(
            Text("The variance of q . k is d_k", "q·k 的方差就是 d_k"),
            random(found, "dot", 512, "variance"),
            low=460,
            high=564,
            of=variance,
        ),
        within(
            Text("divided by sqrt(d_k) it is 1", "除以 sqrt(d_k) 后是 1"),
            random(found, "scaled", 512, "variance"),
            low=0.9,
            high=1.1,
            of=variance,
            digits=2,
        ),
        within(
            Text(
                "Not scaled, softmax shrinks to argmax: the largest of 64 weights is above 0.9",
                "不缩放，softmax 退化为 argmax：64 个权重中最大的超过 0.9",
            ),
            random(found, "dot", 512, "largest"),
            low=0.9,
            of=Text("largest weight", "最大权重"),
            digits=2,
        ),
        above(
            Text(
                "and gradients vanish: half of the rows have less than a tenth of the scaled ones'",
                "于是梯度消失：半数的行不到缩放时的十分之一",
            ),
            [number / 10 for number in random(found, "scaled", 512, "gradient")],
            random(found, "dot", 512, "gradient"),
            margin=0,
            of=Text(
                "a tenth of the scaled gradient, and the other:",
                "缩放时梯度的十分之一，与不缩放的：",
            ),
            digits=4,
        ),
        above(
            Text(
                "The scale keeps gradients from exploding: without it they are larger",
                "缩放是防梯度爆炸：不缩放时梯度更大",
            ),
            random(found, "dot", 512, "gradient"),
            random(found, "scaled", 512, "gradient"),
            margin=0,
            of=gradient,
            digits=4,
        ),
        above(
            Text(
                "Trained with d_k 128, the scale makes translations better",
                "d_k 为 128，训练后，缩放使译文更好",
            ),
            bleu["scaled", LARGE],
            bleu["dot", LARGE],
            margin=1,
            of=of,
        ),
        as_good(
            Text("with d_k 16 it can be done without", "d_k 为 16 时不缩放也行"),
            bleu["dot", SMALL],
            bleu["scaled", SMALL],
            margin=1,
            of=of,
        ),
        above(
            Text(
                "With d_k 128 additive attention is better than the product without its scale",
                "d_k 为 128 时，加性注意力比不缩放的点积好",
            ),
            bleu["additive", LARGE],
            bleu["dot", LARGE],
            margin=1,
            of=of,
        ),
        above(
            Text(
                "A product is much faster than additive attention: at d_k 64 by 2 times or more",
                "点积比加性快得多：d_k 为 64 时至少是 2 倍",
            ),
            random(found, "additive", 64, "milliseconds"),
            [2 * number for number in random(found, "scaled", 64, "milliseconds")],
            margin=0,
            of=Text("milliseconds, against 2 times the product's:", "毫秒，与点积的 2 倍相比："),
            digits=2,
        ),
    ]


def tables(found: Found) -> list[Table]:
    header = [Text("random vectors", "随机向量"), both("d_k")]
    header += [
        Text("variance", "方差"),
        Text("entropy (nats)", "熵（奈特）"),
        Text("largest weight", "最大权重"),
        Text("gradient of softmax", "softmax 的梯度"),
        Text("milliseconds", "毫秒"),
    ]
    rows = []
    for kind in KINDS:
        for d_k in (SIZES[0], 64, SIZES[-1]):
            numbers = [
                shown(random(found, kind, d_k, what), digits)
                for what, digits in (
                    ("variance", 2),
                    ("entropy", 2),
                    ("largest", 3),
                    ("gradient", 4),
                    ("milliseconds", 2),
                )
            ]
            rows.append([NAMES[kind], both(str(d_k)), *map(both, numbers)])
    names = {
        trained(kind, d_k): Text(f"{NAMES[kind].en}, d_k {d_k}", f"{NAMES[kind].zh}，d_k {d_k}")
        for d_k in (SMALL, LARGE)
        for kind in KINDS
    }
    return [
        Table(header, rows),
        table(found, Text("trained", "训练后"), names, [VALID, BLEU, SECONDS]),
    ]


def draw(found: Found, figure: "Figure") -> None:
    axes = figure.subplots(1, 4)
    for one, what, title in zip(
        axes,
        ("variance", "entropy", "gradient"),
        ("Variance of the scores", "Entropy of softmax", "Gradient of softmax"),
        strict=False,
    ):
        curves = {}
        for kind in KINDS:
            points = [(d_k, random(found, kind, d_k, what)) for d_k in SIZES]
            curves[kind] = [(d_k, max(mean(some), 1e-12)) for d_k, some in points if some]
        lines(
            one, curves, title=title, x="d_k", y="nats" if what == "entropy" else "", xscale="log"
        )
        if what != "entropy":
            one.set_yscale("log")
        one.minorticks_off()
        one.set_xticks(SIZES, [str(d_k) for d_k in SIZES], fontsize=8)
    bleu = {
        f"{kind} {d_k}": values(found, trained(kind, d_k), *BLEU.path)
        for d_k in (SMALL, LARGE)
        for kind in KINDS
    }
    bars(axes[3], bleu, title="Trained (kind, d_k)", unit="BLEU")


SCORES = Question(
    name="scale",
    title=Text(
        "Why divide by sqrt(d_k), and why a product?", "为什么除以 sqrt(d_k)，为什么用点积？"
    ),
    notes=Text(
        "With d_k grows the variance of q . k; then softmax comes near argmax and gradients vanish; divided by sqrt(d_k) the variance is 1 (000). Elsewhere 000 says that this keeps gradients from exploding. A product is much faster than other scores, and for small d_k needs no scale (002).",
        "d_k 越大，q·k 的方差越大，softmax 就越接近 argmax，梯度消失；除以 sqrt(d_k)，方差回到 1（000）。000 另一处又说缩放是防梯度爆炸。点积比别的打分快得多；d_k 小时不缩放也无妨（002）。",
    ),
    experiment=Text(
        "64 random queries and keys of d_k 16 to 512: variance, softmax's entropy, the length of its Jacobian (median over the queries), and milliseconds forwards and backwards. Then Transformers with one head of d_k 16 or 128, trained: scaled, `--no-model.scale`, `--model.score additive`.",
        "64 个随机的查询和键，d_k 从 16 到 512：看方差、softmax 的熵、其雅可比矩阵的范数（对各查询取中位数），以及前向加反向的毫秒数。再训练 d_k 为 16 或 128 的单头 Transformer：缩放、`--no-model.scale`、`--model.score additive`。",
    ),
    cells={
        **{f"random, {d_k}": probed("scores", d_k=d_k) for d_k in SIZES},
        **{
            trained(kind, d_k): trainings(
                "sentences",
                model={"type": "ablated", "heads": 1, "d_k": d_k, "d_v": 64, **options},
            )
            for kind, options in OPTIONS.items()
            for d_k in (SMALL, LARGE)
        },
    },
    claims=claims,
    tables=tables,
    draw=draw,
    caption=Text(
        "From the left: variance, entropy and gradient by d_k, of random vectors; BLEU after training.",
        "自左至右：随机向量的方差、熵、梯度随 d_k 的变化；训练后的 BLEU。",
    ),
    size=(14.0, 3.8),
)

QUESTIONS = (SCORES,)
