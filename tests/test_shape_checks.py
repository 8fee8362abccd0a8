"""The suite's own guard: a wrong shape or type anywhere in headway is noticed while it runs."""

import re
from pathlib import Path
from typing import NamedTuple, Self

import pytest
import torch
from jaxtyping import TypeCheckError
from shape_checks import SHAPED, checked

from headway.core.attention import padding_mask
from headway.core.runtime import RuntimeSettings


def test_a_wrong_shape_is_noticed() -> None:
    padding_mask(torch.ones(2, 3, dtype=torch.long), 0)
    with pytest.raises(TypeCheckError):
        padding_mask(torch.ones(3, dtype=torch.long), 0)


def test_a_wrong_type_is_noticed_in_functions_and_dataclasses() -> None:
    with pytest.raises(TypeCheckError):
        padding_mask(torch.ones(2, 3), 0)
    with pytest.raises(TypeCheckError):
        RuntimeSettings(threads="four")  # type: ignore[arg-type]


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
