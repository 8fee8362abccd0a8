"""Five kinds of position, within the trained length and beyond it."""

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
    as_good,
    both,
    table,
    trainings,
    usual,
    values,
    within,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = ("none", "sinusoidal", "learned", "relative", "rotary")
INSIDE, BEYOND = ("written", "test", "exact"), ("written", "beyond", "bleu")
OF_EXACT = Text("rows of letters exactly right (%)", "完全正确的字母行（%）")
OF_BEYOND = Text("BLEU of longer rows", "更长的行的 BLEU")


def claims(found: Found) -> list[Claim]:
    inside = {kind: values(found, kind, *INSIDE) for kind in KINDS}
    beyond = {kind: values(found, kind, *BEYOND) for kind in KINDS}
    bleu = {kind: values(found, f"{kind}, sentences", *BLEU.path) for kind in KINDS}
    return [
        above(
            Text(
                "Without positions a row of letters cannot be turned round",
                "没有位置，就不能把一行字母倒过来",
            ),
            inside["sinusoidal"],
            inside["none"],
            margin=20,
            of=OF_EXACT,
        ),
        above(
            Text("and sentences are translated worse", "句子也译得更差"),
            bleu["sinusoidal"],
            bleu["none"],
            margin=1,
            of=both("BLEU"),
        ),
        within(
            Text(
                "Sinusoids, having a formula, go on to rows longer than any in training",
                "三角函数有公式，所以能外推到比训练时更长的行",
            ),
            beyond["sinusoidal"],
            low=80,
            of=OF_BEYOND,
        ),
        above(
            Text("relative positions go on further than sinusoids", "相对位置外推得比三角函数远"),
            beyond["relative"],
            beyond["sinusoidal"],
            margin=5,
            of=OF_BEYOND,
        ),
        above(
            Text("so do rotary ones", "旋转位置也是"),
            beyond["rotary"],
            beyond["sinusoidal"],
            margin=5,
            of=OF_BEYOND,
        ),
        as_good(
            Text(
                "Within the trained length learned positions are as good as computed ones",
                "在训练过的长度内，学出来的位置不比算出来的差",
            ),
            bleu["learned"],
            bleu["sinusoidal"],
            margin=2,
            of=both("BLEU"),
        ),
    ]


def tables(found: Found) -> list[Table]:
    letters = [
        Column(Text("3 to 10 letters: exactly right (%)", "3 到 10 个字母：完全正确（%）"), INSIDE),
        Column(Text("BLEU", "BLEU"), ("written", "test", "bleu")),
        Column(
            Text("11 to 15 letters: exactly right (%)", "11 到 15 个字母：完全正确（%）"),
            ("written", "beyond", "exact"),
        ),
        Column(Text("BLEU", "BLEU"), BEYOND),
    ]
    first = Text("positions", "位置")
    return [
        table(found, first, {kind: both(kind) for kind in KINDS}, letters),
        table(
            found,
            Text("positions, sentences", "位置，句子"),
            {f"{kind}, sentences": both(kind) for kind in KINDS},
            [Column(Text("validation loss", "验证损失"), ("valid_loss",), 3), BLEU],
        ),
    ]


def draw(found: Found, figure: "Figure") -> None:
    left, middle, right = figure.subplots(1, 3)
    inside = {kind: values(found, kind, *INSIDE) for kind in KINDS}
    beyond = {kind: values(found, kind, *BEYOND) for kind in KINDS}
    bleu = {kind: values(found, f"{kind}, sentences", *BLEU.path) for kind in KINDS}
    bars(left, inside, title="Reversing 3 to 10 letters", unit="exactly right (%)")
    bars(middle, beyond, title="11 to 15 letters: never seen", unit="BLEU")
    bars(right, bleu, title="Translating sentences", unit="BLEU")


POSITIONS = Question(
    name="positions",
    title=Text("Why positions, and which?", "为什么要位置编码，用哪一种？"),
    notes=Text(
        "Attention alone cannot tell order, so positions are indispensable (000, 001, 004 section 14). Sinusoids follow a formula and may be expected to extrapolate; relative ones change attention itself (000). Learned or computed, both will do (001).",
        "单靠注意力分不出先后，位置编码必不可少（000、001、004 第 14 节）。三角函数有显式公式，可望外推；相对位置则改动注意力本身（000）。学出来的、算出来的都行（001）。",
    ),
    experiment=Text(
        "Rows of 3 to 10 letters are to be reversed, and then rows of 11 to 15, of a length that no training row had; and sentences are translated. Each with five kinds of position.",
        "把 3 到 10 个字母的行倒过来，再试训练中从未有过的长度：11 到 15 个字母；另外翻译句子。五种位置各训练一遍。",
    ),
    cells={
        **{kind: trainings("reversed", model={"positions": kind}) for kind in KINDS},
        **{
            f"{kind}, sentences": usual()
            if kind == "sinusoidal"
            else trainings("sentences", model={"positions": kind})
            for kind in KINDS
        },
    },
    claims=claims,
    tables=tables,
    draw=draw,
    caption=Text(
        "Left: letters reversed within the trained length; middle: longer rows; right: BLEU of sentences.",
        "左：训练长度之内的字母倒序；中：更长的行；右：句子的 BLEU。",
    ),
    size=(11.5, 3.6),
)

QUESTIONS = (POSITIONS,)
