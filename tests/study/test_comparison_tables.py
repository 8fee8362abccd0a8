"""What a comparison says in words."""

from headway.study.comparison_tables import quality, rankings


def test_intervals_are_told_where_they_say_something_and_large_numbers_shortly():
    figures = {
        "narrow": {"value": 7621.42, "low": 7621.4199, "high": 7621.4201},
        "wide": {"value": 2.5, "low": 2.0, "high": 3.0},
        "huge": {"value": 1.5e67, "low": 9.5e60, "high": None},
    }
    figures = {name: {**figure, "decimals": 2} for name, figure in figures.items()}
    told = {line.name: line.cells for line in quality({"runs": [{"figures": figures}]})}
    assert told["narrow"] == ["7,621.42"]
    assert told["wide"] == ["2.50 [2.00, 3.00]"]
    assert told["huge"] == ["1.50e+67"]


def test_bits_that_differ_significantly_are_told_apart():
    values = {"a": 1.9389, "b": 1.9412}
    by = "bits per character"
    runs = [
        {"figures": {by: {"value": one, "low": one - 0.001, "high": one + 0.001, "decimals": 4}}}
        for one in values.values()
    ]
    places = [
        {"run": "a", "behind": 0.0, "p_value": None},
        {"run": "b", "behind": values["b"] - values["a"], "p_value": 0.001},
    ]
    found = {"runs": runs, "rankings": [{"by": by, "refused": [], "places": places}]}
    [line] = quality(found)
    assert line.cells == ["1.9389 [1.9379, 1.9399]", "1.9412 [1.9402, 1.9422]"]
    assert list(rankings(found)) == ["by bits per character: a, then b (+0.0023, p = 0.001)"]
