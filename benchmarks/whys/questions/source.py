"""One fixed vector against attention, and the translators before the Transformer beside it."""

from statistics import mean
from typing import TYPE_CHECKING, Any

from headway.models import MODELS
from whys.plots import bars, lines
from whys.question import (
    BLEU,
    PARAMETERS,
    SECONDS,
    VALID,
    Claim,
    Column,
    Found,
    Question,
    Table,
    Text,
    above,
    all_within,
    both,
    shown,
    table,
    trainings,
    values,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UPDATES = {"max_steps": 700, "warmup_steps": 70, "batch_tokens": 2048, "learning_rate": 1e-2}


def recurrent(recurrence: str, attention: str, d_model: int) -> dict[str, Any]:
    """Of the Transformer's size, within 5 %."""
    return {
        "type": "recurrent",
        "recurrence": recurrence,
        "attention": attention,
        "d_embedding": 64,
        "d_model": d_model,
        "dropout": 0.0,
    }


TRANSLATORS: dict[str, dict[str, Any]] = {
    "LSTM, one vector": recurrent("lstm", "none", 112),
    "LSTM, additive": recurrent("lstm", "additive", 108),
    "LSTM, dot": recurrent("lstm", "dot", 116),
    "RNN, additive": recurrent("rnn", "additive", 180),
    "Transformer": {},
    "Transformer, one vector": {"type": "ablated", "cross": "mean"},
}
if "convolutional" in MODELS:
    TRANSLATORS["ConvS2S"] = {
        "type": "convolutional",
        "d_model": 64,
        "encoder_layers": 4,
        "decoder_layers": 3,
        "dropout": 0.0,
        "max_length": 256,
    }
CELLS = {
    name: trainings(
        "texts",
        model=model,
        training=UPDATES,
        measures=() if "one vector" in name else ("deletion",),
    )
    for name, model in TRANSLATORS.items()
}
LONG, SHORT = "over 20", "1-10"
GROUPS = (SHORT, "11-20", LONG)
GROUP_NAMES = {name: both(name) for name in GROUPS} | {LONG: Text("over 20", "20 以上")}
ZH = {
    "LSTM, one vector": "LSTM，定长向量",
    "LSTM, additive": "LSTM，加性",
    "LSTM, dot": "LSTM，点积",
    "RNN, additive": "RNN，加性",
    "Transformer, one vector": "Transformer，定长向量",
}
NAMES = {name: Text(name, ZH.get(name, name)) for name in TRANSLATORS}
VECTOR = tuple(name for name in TRANSLATORS if name not in ("RNN, additive", "ConvS2S"))
FAMILIES = tuple(name for name in TRANSLATORS if "one vector" not in name and name != "LSTM, dot")
ATTENDING = ("LSTM, additive", "LSTM, dot", "Transformer")


def of_group(found: Found, name: str, group: str) -> list[float]:
    return values(found, name, "written", "test", "by_length", group, "bleu")


def gaps(found: Found, group: str) -> list[float]:
    """What attention gives an LSTM on texts of some length (BLEU), seed by seed."""
    pairs = zip(
        of_group(found, "LSTM, additive", group),
        of_group(found, "LSTM, one vector", group),
        strict=False,
    )
    return [attending - one_vector for attending, one_vector in pairs]


def vector_claims(found: Found) -> list[Claim]:
    of = Text("BLEU, over 20 words", "BLEU，20 词以上")
    lost = Text("nats lost", "损失的奈特")
    return [
        above(
            Text(
                "On texts of over 20 words an LSTM with attention is ahead of one with a fixed vector",
                "超过 20 个词，带注意力的 LSTM 胜过只有定长向量的",
            ),
            of_group(found, "LSTM, additive", LONG),
            of_group(found, "LSTM, one vector", LONG),
            margin=5,
            of=of,
        ),
        above(
            Text("the longer the text, the more so", "文本越长，差距越大"),
            gaps(found, LONG),
            gaps(found, SHORT),
            margin=2,
            of=Text(
                "BLEU gained, over 20 words and up to 10",
                "注意力带来的 BLEU，20 词以上与 10 词以内",
            ),
        ),
        above(
            Text(
                "The Transformer, too, needs attention on the source, not its mean",
                "Transformer 也需要对原文的注意力，只给它原文的平均不行",
            ),
            of_group(found, "Transformer", LONG),
            of_group(found, "Transformer, one vector", LONG),
            margin=5,
            of=of,
        ),
        *(
            above(
                Text(
                    f"What is looked at most matters ({name}): to delete it costs more than to delete a random word",
                    f"最受注意的词确实要紧（{NAMES[name].zh}）：删掉它比随便删一个词损失大",
                ),
                values(found, name, "deleted", "most"),
                values(found, name, "deleted", "random"),
                margin=0.2,
                of=lost,
                digits=2,
            )
            for name in ATTENDING
        ),
    ]


def vector_tables(found: Found) -> list[Table]:
    header = [Text("BLEU by words of the source", "BLEU，按原文词数"), *GROUP_NAMES.values()]
    rows = [
        [NAMES[name], *(both(shown(of_group(found, name, group))) for group in GROUPS)]
        for name in VECTOR
    ]
    columns = [
        Column(
            Text("most attended word deleted: nats lost", "删最受注意的词：损失（奈特）"),
            ("deleted", "most"),
            2,
        ),
        Column(Text("random word deleted", "随便删一个词"), ("deleted", "random"), 2),
        Column(Text("largest weight", "最大权重"), ("deleted", "peak"), 2),
    ]
    first = Text("attention", "注意力")
    return [
        Table(header, rows),
        table(found, first, {name: NAMES[name] for name in ATTENDING}, columns),
    ]


def draw_vector(found: Found, figure: "Figure") -> None:
    left, middle, right = figure.subplots(1, 3)
    curves = {}
    for name in VECTOR:
        points = [(n, of_group(found, name, group)) for n, group in enumerate(GROUPS)]
        curves[name] = [(n, mean(some)) for n, some in points if some]
    lines(left, curves, title="Quality by length", x="words of the source", y="BLEU")
    left.set_xticks(range(len(GROUPS)), GROUPS)
    deleted = {
        f"{name}: {word}": values(found, name, "deleted", word)
        for name in ATTENDING
        for word in ("most", "random")
    }
    bars(middle, deleted, title="One source token deleted", unit="nats lost")
    some = found.get("LSTM, additive", ())
    if some and "alignment" in some[0]:
        draw_alignment(right, some[0]["alignment"])


def draw_alignment(axes: Any, drawn: Any) -> None:
    """One attention map, its tokens along the axes where a font has them."""
    from headway.inspection.attention_picture import font_for

    axes.imshow(drawn["weights"], cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for side, tokens in (("x", drawn["source"]), ("y", drawn["target"])):
        font = font_for("".join(tokens))
        labels = tokens if font else [str(n) for n in range(1, len(tokens) + 1)]
        shown_by = {"fontproperties": font} if font else {}
        ticks = axes.set_xticks if side == "x" else axes.set_yticks
        ticks(range(len(tokens)), labels, rotation=90 if side == "x" else 0, fontsize=7, **shown_by)
    axes.set_title("LSTM, additive: where it looks", fontsize=10)


FIXED = Question(
    name="fixed-vector",
    title=Text("Why attention and not one fixed vector?", "为什么要注意力，而不是一个定长向量？"),
    notes=Text(
        "An LSTM encoder makes one vector, and each word is written from all of it, although most of it means nothing to that word; attention picks what matters (004 sections 9 and 19). RNNs forget what is far: at 50 words they are poor (004 section 11).",
        "LSTM 编码器只给出一个向量，每写一个词都用它的全部，而其中多数信息与当前的词无关；注意力从中挑重点（004 第 9、19 节）。RNN 记不住远处，一句话到 50 个字效果就很差（004 第 11 节）。",
    ),
    experiment=Text(
        "Texts of 1 to 4 sentences of few kinds, 700 updates, equal parameters (with one vector the Transformer needs neither W_Q nor W_K for it: 6 % fewer). Then, the truth fed, the token that is looked at most is taken out of the source, or a random other one: what does the truth lose?",
        "1 到 4 个句子（种类不多）连成的文本，700 次更新，参数量相同（只有一个向量时，Transformer 用不着那里的 W_Q 与 W_K，少 6 %）。再把原文里最受注意的词元删掉，或者随便删另一个，喂标准答案，看正确的词损失多少概率。",
    ),
    cells={name: CELLS[name] for name in VECTOR},
    claims=vector_claims,
    tables=vector_tables,
    draw=draw_vector,
    caption=Text(
        "Left: BLEU by length of the source; middle: nats that the truth loses; right: attention of the LSTM (seed 1) on the source (across) while it writes (down).",
        "左：不同长度原文的 BLEU；中：正确的词损失的奈特；右：LSTM（种子 1）写每个词元（纵）时对原文（横）的注意力。",
    ),
    size=(14.0, 4.4),
)


def speed(found: Found, name: str) -> list[float]:
    """Target tokens a second, in training."""
    return [one["target_tokens"] / one["training_s"] for one in found.get(name, ())]


def family_claims(found: Found) -> list[Claim]:
    whole = values(found, "Transformer", "parameters")
    bleu = {name: values(found, name, *BLEU.path) for name in FAMILIES}
    long = {name: of_group(found, name, LONG) for name in FAMILIES}
    of, of_long = both("BLEU"), Text("BLEU, over 20 words", "BLEU，20 词以上")
    sizes = [
        100 * number / whole[0]
        for name in FAMILIES
        for number in values(found, name, "parameters")
        if whole
    ]
    claims = [
        all_within(
            Text(
                "The comparison is fair: equal parameters, within 5 %",
                "比较公平：参数量相差不超过 5 %",
            ),
            sizes,
            low=95,
            high=105,
            of=Text("parameters, % of the Transformer's:", "参数量，占 Transformer 的 %："),
        )
    ]
    others = [name for name in FAMILIES if name != "Transformer"]
    claims += [
        above(
            Text(
                f"With equal tokens the Transformer is ahead of {name}",
                f"词元数相同，Transformer 胜过 {NAMES[name].zh}",
            ),
            bleu["Transformer"],
            bleu[name],
            margin=1,
            of=of,
        )
        for name in others
    ]
    return [
        *claims,
        above(
            Text(
                "An LSTM is ahead of a plain RNN on texts of over 20 words",
                "20 词以上，LSTM 胜过普通 RNN",
            ),
            long["LSTM, additive"],
            long["RNN, additive"],
            margin=1,
            of=of_long,
        ),
        above(
            Text(
                "The Transformer, without recurrence, trains faster than the LSTM",
                "没有循环的 Transformer 比 LSTM 训练得快",
            ),
            speed(found, "Transformer"),
            speed(found, "LSTM, additive"),
            margin=0,
            of=Text("target tokens a second", "每秒目标词元数"),
            digits=0,
        ),
    ]


def family_tables(found: Found) -> list[Table]:
    columns = [PARAMETERS, SECONDS, VALID, BLEU]
    rows = table(found, Text("translator", "翻译器"), {n: NAMES[n] for n in FAMILIES}, columns)
    header = [*rows.header, *GROUP_NAMES.values()]
    more = [
        [*row, *(both(shown(of_group(found, name, group))) for group in GROUPS)]
        for row, name in zip(rows.rows, FAMILIES, strict=True)
    ]
    return [Table(header, more)]


def draw_family(found: Found, figure: "Figure") -> None:
    left, middle, right = figure.subplots(1, 3)
    curves = {}
    for name in FAMILIES:
        points = [(n, of_group(found, name, group)) for n, group in enumerate(GROUPS)]
        curves[name] = [(n, mean(some)) for n, some in points if some]
    lines(left, curves, title="Quality by length", x="words of the source", y="BLEU")
    left.set_xticks(range(len(GROUPS)), GROUPS)
    learned = {n: [(s, loss) for s, loss in found[n][0]["curve"]] for n in FAMILIES if found.get(n)}
    lines(middle, learned, title="Training loss (seed 1)", x="updates", y="nats per token")
    bars(
        right,
        {n: speed(found, n) for n in FAMILIES},
        title="Speed of training",
        unit="target tokens / s",
    )


FAMILY = Question(
    name="families",
    title=Text("Why no recurrence and no convolution?", "为什么不用循环，也不用卷积？"),
    notes=Text(
        "Recurrent nets compute step by step, cannot be parallel, forget over distance, and their gradients vanish; an LSTM remembers longer; self-attention ties any two positions in one step (000, 002, 003 section 4, 004 section 11). A convolution's path grows with the distance (002).",
        "循环网络逐步计算，不能并行，远了就忘，梯度会消失；LSTM 记得久一些；自注意力一步就把任意两处连起来（000、002、003 第 4 节、004 第 11 节）。卷积的路径随距离变长（002）。",
    ),
    experiment=Text(
        "The same texts, batches, updates and optimizer for each, with parameters equal to within 5 %; none tuned by itself. One thread of a CPU: what a GPU makes of parallel work is not measured here.",
        "文本、批次、更新次数、优化器都相同，参数量相差不超过 5 %；都没有单独调参。CPU 单线程：GPU 上并行的好处这里测不出来。",
    ),
    cells={name: CELLS[name] for name in FAMILIES},
    claims=family_claims,
    tables=family_tables,
    draw=draw_family,
    caption=Text(
        "Left: BLEU by length of the source; middle: training loss; right: target tokens a second in training.",
        "左：不同长度原文的 BLEU；中：训练损失；右：训练时每秒目标词元数。",
    ),
    size=(14.0, 4.0),
)

QUESTIONS = (FIXED, FAMILY)
