"""Processes of one training, forked or started, are those of a machine without a GPU."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def on_processors(module_without_a_gpu: None) -> None:
    pass
