"""Every tensor from tokens to output, and what each part of the model costs."""

from typing import Any

from headway.inspection.packing import missing
from headway.inspection.passage_analysis import PassageAnalysis
from headway.study.model_parts import parts_of
from headway.study.operation_counting import Lengths, forward_by_part


def shapes(analysis: PassageAnalysis) -> dict[str, Any]:
    """The tensors of one pass in their order with their formulas, and parameters and operations of
    every part.

    Operations are those of this sentence: a multiplication and an addition are two.
    """
    if not analysis.trace:
        return missing(
            "No tensors flow through this model: it looks up what was counted.",
            "没有张量流过这个模型：它只查找计数的结果。",
        )
    formulas = analysis.traced.formulas
    tensors = [
        {"name": name, "shape": list(array.shape)}
        | ({"formula": formulas[name]._asdict()} if name in formulas else {})
        for name, array in analysis.trace.items()
    ]
    return {"tensors": tensors, "parts": parts(analysis)}


def parts(analysis: PassageAnalysis) -> list[dict[str, Any]]:
    """By the names that `--freeze` takes; what is no part, such as the product with the shared
    matrix, has operations alone."""
    subject, passage = analysis.subject, analysis.passage
    lengths = Lengths(1, len(passage.source), len(passage.fed))
    counted = forward_by_part(subject.model, subject.task, lengths)
    found = [
        {"name": part.name, "parameters": part.parameters, "operations": counted.pop(part.name, 0)}
        for part in parts_of(subject.model)
    ]
    rest = [{"name": name, "parameters": 0, "operations": n} for name, n in counted.items() if n]
    return found + rest
