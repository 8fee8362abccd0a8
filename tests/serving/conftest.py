"""What every test of the service needs."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.cli import main
from headway.core.run_folder import CONFIG
from headway.operations.shipped import SHIPPED, open_folder


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


@pytest.fixture(scope="session")
def tagged_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run that comes with headway, as if it had been trained with and without a tag."""
    run = tmp_path_factory.mktemp("tagged") / "demo"
    shutil.copytree(open_folder(SHIPPED).path, run)
    config = (run / CONFIG).read_text("utf-8")
    (run / CONFIG).write_text(config.replace("tags = []", 'tags = ["", "formal"]'), "utf-8")
    assert main(["check", str(run), "--accept"]) == 0
    return run
