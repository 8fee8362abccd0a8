"""The package's own names: few, lazy, and the ones that it says."""

import importlib

import pytest

import headway
from headway.old_paths import MOVED


def test_the_package_offers_what_it_names() -> None:
    for name in headway.__all__:
        assert name in dir(headway)
        assert getattr(headway, name) is not None


def test_names_come_from_their_homes() -> None:
    assert headway.train is importlib.import_module("headway.api").train
    assert headway.Translator is importlib.import_module("headway.translator").Translator


def test_other_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'trian'"):
        headway.trian  # noqa: B018


@pytest.mark.parametrize("old", MOVED)
def test_modules_that_guides_showed_are_found_under_their_old_names(old: str) -> None:
    assert importlib.import_module(old) is importlib.import_module(MOVED[old])
