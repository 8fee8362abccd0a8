"""What `benchmarks/structure.py` counts of the house, where it must not grow again."""

import ast

import structure


def test_no_ring_of_files_no_name_of_two_classes_no_endless_function() -> None:
    found = structure.figures()
    assert found["rings of files, and the largest"] == [0, 0]
    assert found["class names borne twice"] == 0
    assert found["functions over 100 lines"] == 0
    assert found["task or model names in shared code"] == []
    assert found["functions of over 12 arguments"] == 0


def test_a_ring_is_found_through_any_number_of_files() -> None:
    imports = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set[str]()}
    assert structure.rings(imports) == [["a", "b", "c"]]


def test_a_name_of_a_task_or_model_is_found_in_a_branch_and_not_in_what_is_printed() -> None:
    code = """
def f(settings):
    if settings.task == "pairs":
        return isinstance(settings.model, Wide)
    return {"pairs": settings["pairs"]}
KNOWN = {"wide": 1}
"""
    nodes = [*ast.walk(ast.parse(code))]
    lines = structure._named(nodes, {"pairs", "wide"}, {"Wide"})
    assert sorted(lines) == [3, 3, 4, 6]
