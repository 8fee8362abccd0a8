"""The suite's own guard: a wrong shape or type anywhere in headway is noticed while it runs."""

import re
from pathlib import Path
from typing import NamedTuple, Self

import pytest
import torch
from jaxtyping import Float
from shape_checks import SHAPED, checked
from torch import Tensor

from headway.core.attention import padding_mask
from headway.core.runtime import RuntimeSettings


def test_a_wrong_shape_is_noticed() -> None:
    padding_mask(torch.ones(2, 3, dtype=torch.long), 0)
    with pytest.raises(TypeError):
        padding_mask(torch.ones(3, dtype=torch.long), 0)


def test_a_wrong_type_is_noticed_in_functions_and_dataclasses() -> None:
    with pytest.raises(TypeError):
        padding_mask(torch.ones(2, 3), 0)
    with pytest.raises(TypeError):
        RuntimeSettings(threads="four")  # type: ignore[arg-type]


def test_what_was_right_once_does_not_hide_what_is_wrong_later() -> None:
    @checked
    def rows(x: Float[Tensor, "n wide"], width: int) -> Float[Tensor, "n width"]:
        return torch.zeros(len(x) + (width < 0), abs(width))

    x = torch.zeros(2, 3)
    for width in (4, 4, 5):
        rows(x, width)
    for arguments, expected in [
        ((x, -4), "dimension n is 3"), ((x[0], 4), "1 dimension"), ((x.long(), 4), "dtype"),
        ((x, "4"), "not instance of int"), ((x, -4), "dimension n is 3"),
    ]:  # fmt: skip
        with pytest.raises(TypeError, match=expected):
            rows(*arguments)  # type: ignore[arg-type]


def test_methods_may_speak_of_self() -> None:
    class Chain(NamedTuple):
        links: int

        @checked
        def join(self, other: Self, times: int) -> Self:
            return self._replace(links=self.links + other.links * times)

    assert Chain(1).join(Chain(2), 3) == Chain(7)
    with pytest.raises(Exception, match="times"):
        Chain(1).join(Chain(2), "3")  # type: ignore[arg-type]


def test_every_file_that_says_shapes_is_checked():
    source = Path(__file__).parent.parent / "src" / "headway"
    for file in source.rglob("*.py"):
        if re.search("^(from|import) jaxtyping", file.read_text(encoding="utf-8"), re.MULTILINE):
            name = ".".join(file.relative_to(source).with_suffix("").parts)
            assert any(f"{name}.".startswith(f"{one}.") for one in SHAPED), file
