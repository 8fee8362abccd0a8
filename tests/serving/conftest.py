"""What every test of the service needs."""

import asyncio
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def no_running_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """A browser that other tests of this process keep has a running event loop in this thread;
    tests without a browser start loops of their own."""
    if "chromium" in request.fixturenames:
        yield
        return
    before = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(before)
