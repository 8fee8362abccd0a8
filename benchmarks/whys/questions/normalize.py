"""LayerNorm against BatchNorm: in the Transformer, an LSTM and a convolutional net."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from whys.cells import Figures
from whys.plots import bars
from whys.question import (
    BLEU,
    NOT_MEASURED,
    Claim,
    Column,
    Found,
    Question,
    Table,
    Text,
    above,
    both,
    probed,
    table,
    trainings,
    usual,
    values,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = ("layer", "batch", "none")
NETS = {"lstm": "LSTM", "conv": "CNN"}
BATCHES = (32, 1)
NAMES = {
    "layer": Text("LayerNorm", "LayerNorm"),
    "batch": Text("BatchNorm", "BatchNorm"),
    "none": Text("no norm", "没有归一化"),
}
RIGHT = Text("right (%)", "正确（%）")


def label(net: str, norm: str, batch: int) -> str:
    return f"{net}, {norm}, {batch}"


def example() -> tuple[torch.Tensor, torch.Tensor]:
    """Numbers 0 to 15 in the shape (2, 2, 4), and what LayerNorm over the last axis makes of them."""
    x = torch.arange(16.0).view(2, 2, 4)
    return x, torch.nn.functional.layer_norm(x, (4,))


def by_slices() -> torch.Tensor:
    """As note 000 has it: each of the 4 slices of shape (2, 2, 1) by itself."""
    x, _ = example()
    return (x - x.mean((0, 1))) / (x.var((0, 1), unbiased=False) + 1e-5).sqrt()


def the_example(says: Text) -> Claim:
    """Whether the slices give what LayerNorm gives."""
    _, normed = example()
    largest = (by_slices() - normed).abs().max().item()
    number = f"{largest:.2f}"
    return Claim(
        says,
        "holds" if largest < 1e-5 else "fails",
        Text(f"largest difference {number}", f"最大相差 {number}"),
    )


def refused(says: Text, some: Sequence[Figures]) -> Claim:
    """Whether torch itself refuses every one of the trainings, and in which words."""
    if not some:
        return Claim(says, "missing", NOT_MEASURED)
    reasons = [one["refused"] for one in some if one["refused"]]
    n, said = len(reasons), "".join(f': "{reason}"' for reason in dict.fromkeys(reasons))
    return Claim(
        says,
        "holds" if n == len(some) else "fails",
        Text(
            f"torch refused {n} of {len(some)} trainings{said}",
            f"{n} / {len(some)} 次训练被 torch 拒绝{said}",
        ),
    )


def claims(found: Found) -> list[Claim]:
    right = {
        (net, norm, batch): values(found, label(net, norm, batch), "right")
        for net in NETS
        for norm in KINDS
        for batch in BATCHES
    }
    bleu = {norm: values(found, norm, *BLEU.path) for norm in KINDS}
    return [
        above(
            Text(
                "In the Transformer LayerNorm is better than BatchNorm",
                "Transformer 里 LayerNorm 比 BatchNorm 好",
            ),
            bleu["layer"],
            bleu["batch"],
            margin=1,
            of=both("BLEU"),
        ),
        above(
            Text("In an LSTM LayerNorm helps", "LSTM 里 LayerNorm 有效"),
            right["lstm", "layer", 32],
            right["lstm", "none", 32],
            margin=5,
            of=RIGHT,
        ),
        above(
            Text("and is better than BatchNorm", "而且比 BatchNorm 好"),
            right["lstm", "layer", 32],
            right["lstm", "batch", 32],
            margin=5,
            of=RIGHT,
        ),
        above(
            Text(
                "In a convolutional net BatchNorm is better than LayerNorm",
                "CNN 里 BatchNorm 比 LayerNorm 好",
            ),
            right["conv", "batch", 32],
            right["conv", "layer", 32],
            margin=2,
            of=RIGHT,
        ),
        above(
            Text(
                "With one example in a batch LayerNorm still learns, BatchNorm less (convolutional net)",
                "一批只有一个样本时，LayerNorm 照样学，BatchNorm 学得差（CNN）",
            ),
            right["conv", "layer", 1],
            right["conv", "batch", 1],
            margin=5,
            of=RIGHT,
        ),
        refused(
            Text(
                "Between the steps of an LSTM it cannot learn from one example at all: there is 1 value for each mean",
                "在 LSTM 的各步之间，一个样本根本没法学：求均值只有 1 个数",
            ),
            found.get(label("lstm", "batch", 1), ()),
        ),
        the_example(
            Text(
                "Of a tensor (2, 2, 4) LayerNorm over the last axis normalizes 4 slices of shape (2, 2, 1)",
                "形状 (2, 2, 4) 的张量按最后一维做 LayerNorm，是对 4 个 (2, 2, 1) 各做一次",
            )
        ),
        above(
            Text("Even this small Transformer needs a norm", "这么小的 Transformer 也离不开归一化"),
            bleu["layer"],
            bleu["none"],
            margin=1,
            of=both("BLEU"),
        ),
    ]


def tables(found: Found) -> list[Table]:
    names = {norm: NAMES[norm] for norm in KINDS}
    columns = [Column(Text("validation loss", "验证损失"), ("valid_loss",), 3), BLEU]
    tables = [table(found, Text("Transformer", "Transformer"), names, columns)]
    header = [
        Text("net, examples in a batch", "网络，每批样本数"),
        *(NAMES[norm] for norm in KINDS),
    ]
    rows = []
    for net, name in NETS.items():
        for batch in BATCHES:
            cells = [
                table(
                    found, RIGHT, {label(net, norm, batch): RIGHT}, [Column(RIGHT, ("right",))]
                ).rows[0][1]
                for norm in KINDS
            ]
            rows.append([both(f"{name}, {batch}"), *cells])
    tables.append(Table(header, rows))
    x, normed = example()
    means = ", ".join(f"{number:g}" for number in x.mean(-1).flatten().tolist())
    sliced = ", ".join(f"{number:g}" for number in x.mean((0, 1)).tolist())
    first = ", ".join(f"{number:.2f}" for number in normed[0, 0].tolist())
    other = ", ".join(f"{number:.2f}" for number in by_slices()[0, 0].tolist())
    tables.append(
        Table(
            [
                Text("0 to 15 in the shape (2, 2, 4)", "0 到 15，形状 (2, 2, 4)"),
                Text("4 means", "4 个均值"),
                Text("0, 1, 2, 3 become", "0, 1, 2, 3 变成"),
            ],
            [
                [
                    Text(
                        "LayerNorm over the last axis: of each position",
                        "按最后一维的 LayerNorm：每个位置各一个",
                    ),
                    both(means),
                    both(first),
                ],
                [
                    Text(
                        "note 000: of each slice (2, 2, 1)", "笔记 000：每个 (2, 2, 1) 切片各一个"
                    ),
                    both(sliced),
                    both(other),
                ],
            ],
        )
    )
    return tables


def draw(found: Found, figure: "Figure") -> None:
    axes = figure.subplots(1, 3)
    bleu = {NAMES[norm].en: values(found, norm, *BLEU.path) for norm in KINDS}
    bars(axes[0], bleu, title="Transformer", unit="BLEU")
    for one, (net, name) in zip(axes[1:], NETS.items(), strict=True):
        some = {
            f"{norm}, {batch}": values(found, label(net, norm, batch), "right")
            for batch in BATCHES
            for norm in KINDS
        }
        bars(one, some, title=f"{name}: norm, batch size", unit="right (%)")


NORMS = Question(
    name="layer-or-batch",
    title=Text("Why LayerNorm and not BatchNorm?", "为什么是 LayerNorm，而不是 BatchNorm？"),
    notes=Text(
        "LayerNorm needs no batch: it serves with one example in a batch and in recurrent nets, where it clearly helps; in convolutional nets it is not as good as BatchNorm. Across sentences the same feature cannot be compared, in images a channel can (000). An example normalizes a tensor (2, 2, 4).",
        "LayerNorm 不靠批：每批一个样本也行，RNN 里也行，而且效果明显；CNN 上则不如 BatchNorm。不同句子的同一特征不可比，图像的同一通道可比（000）。并以 (2, 2, 4) 的张量举例。",
    ),
    experiment=Text(
        "The Transformer with LayerNorm, BatchNorm over the real tokens of a batch (`--model.normalize batch`) and none. An LSTM that is to name the first of 14 letters, and a net of 3 convolutions that is to name one of 6 shapes of any brightness, with each norm, on batches of 32 examples (500 updates) and of 1 (3000 updates). BatchNorm is tested with the statistics that it kept.",
        "Transformer 分别用 LayerNorm、对一批里的真实词元做的 BatchNorm（`--model.normalize batch`）、不归一化。另有一个要答出 14 个字母中第一个的 LSTM，一个要认出 6 种形状（亮度不定）的 3 层卷积网络，各用三种归一化，每批 32 个样本（500 次更新）或 1 个样本（3000 次更新）。测试时 BatchNorm 用它累积的统计量。",
    ),
    cells={
        "layer": usual(),
        "batch": trainings("sentences", model={"type": "ablated", "normalize": "batch"}),
        "none": trainings("sentences", model={"type": "ablated", "normalize": "none"}),
        **{
            label(net, norm, batch): probed("norm", net=net, norm=norm, batch=batch)
            for net in NETS
            for norm in KINDS
            for batch in BATCHES
        },
    },
    claims=claims,
    tables=tables,
    draw=draw,
    caption=Text(
        "Left: BLEU of the Transformer; middle and right: answers of the LSTM and of the convolutional net that are right.",
        "左：Transformer 的 BLEU；中、右：LSTM 与卷积网络答对的比例。",
    ),
    size=(11.5, 3.8),
)

QUESTIONS = (NORMS,)
