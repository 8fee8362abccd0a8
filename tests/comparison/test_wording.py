"""What a comparison says in words."""

import pytest

from headway.comparison.wording import parts


def run(*n_examples):
    rows = [
        {"label": label, "examples": n, "value": 1.0}
        for label, n in zip(("0-5", "6-10"), n_examples, strict=True)
    ]
    return {"parts": {"title": "BLEU by length", "unit": "tokens", "rows": rows}}


@pytest.mark.parametrize(
    ("of_each", "counted"),
    [(((3, 4), (3, 4)), True), (((3, 4), (3, 5)), False), (((None, None),) * 2, False)],
)
def test_examples_are_counted_only_where_all_runs_have_as_many(of_each, counted):
    found = {"runs": [run(*n_examples) for n_examples in of_each]}
    _, columns, rows = parts(found)
    assert columns == (["tokens", "examples"] if counted else ["tokens"])
    assert len(rows[0].cells) == 2 + counted
