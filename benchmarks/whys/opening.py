"""How both pages begin."""

from whys.question import Text

OPENING = Text(
    """# Why the Transformer is as it is: every reason measured

[中文](why.zh-CN.md)

The five notes behind headway give reasons: a fixed vector forgets, so there is attention; recurrence is slow, so there is none; dot products grow, so they are scaled. Here each reason is put to the test, on
data that the repository writes itself. `make why` measures it all anew, `python benchmarks/why.py --only NAME` one question.

**This page is written by that script**, verdicts included: each claim holds, does not hold or stays open as its figures say, by the margin that stands beside it. A claim *holds* where the difference is
larger than the margin and than twice its standard error over the seeds; it *does not hold* where a difference as large as the margin is excluded by the same error; else, and where there is only one seed,
it is *open*. A figure that is to lie in a range is taken with twice its standard error, too. Small models, short trainings, generated text: what is true here need not be true of a large model, and a
reason that fails here may hold there.

Measured: {cells} of {of} cells, {trainings} of them trainings, {minutes} minutes of computing. Where and by what (cells): {places}.
Unless a row says otherwise a model is a Transformer of width 64 with 2 + 2 layers, 4 heads and Pre-LN, begun as the preset `tiny` is (`--model.residual-gain 0.35`), trained by headway's own trainer; ± is the standard deviation over the seeds.
""",
    """# 为什么是这样：逐条实测

[English](why.md)

headway 背后的五份笔记给出了许多理由：定长向量记不住，所以要注意力；循环太慢，所以去掉循环；点积会变大，所以要缩放。这里对每条理由做实验，数据全由仓库自己生成。
`make why` 全部重测，`python benchmarks/why.py --only NAME` 只测一个问题。

**本页由该脚本写成**，结论也是算出来的：每条论断旁边都写明了界限，成立与否只看数字。差距大于界限、又大于标准误的两倍，记为*成立*；按同样的误差可以排除这么大的差距，记为*不成立*；其余的，以及只有一个种子的，记为*尚无定论*。要求落在某个范围内的数字，同样算上标准误的两倍。
模型小，训练短，文本是生成的：这里成立的，大模型上未必成立；这里不成立的，别处也可能成立。

已测：{of} 项中的 {cells} 项，其中训练 {trainings} 次，计算 {minutes} 分钟。机器与版本（项数）：{places}。
除非另有说明，模型是宽 64、2 + 2 层、4 个头、Pre-LN 的 Transformer，起点与预设 `tiny` 相同（`--model.residual-gain 0.35`），由 headway 自己的训练器训练；± 是各随机种子之间的标准差。
""",
)
