"""What lies in other storage is at every moment a run that can be gone on with, or none."""

import errno
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import faults
import pytest
import torch

import headway
from headway.core import checkpoint
from headway.core.disk import DiskError
from headway.core.errors import ConfigError, RunError
from headway.core.run_folder import RunFolder
from headway.core.tensor_files import save_tensors
from headway.demo import generate
from headway.operations import uploads
from headway.operations.uploads import Mirror, uploaded


class CutError(BaseException):
    """Stands for kill -9."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "LOOK_S", 0.02)
    monkeypatch.setattr(uploads, "MOST_S", 0.05)
    monkeypatch.setattr(uploads, "PATIENCE_S", 1.0)


def tensors(step: int) -> dict[str, torch.Tensor]:
    return {"a": torch.full((4, 50), float(step)), "b": torch.arange(300.0) * step}


def saved(folder: RunFolder, step: int) -> None:
    """A checkpoint, and the model and the log that go with it."""
    save_tensors(tensors(step), folder.model)
    folder.log({"step": step, "loss": 1.0 / step})
    checkpoint.write(folder.checkpoints, step, tensors(step), tensors(-step), {"progress": {}})


def begun(path: Path) -> RunFolder:
    folder = RunFolder(path)
    path.mkdir()
    folder.write_data({"sha256": {}, "versions": {"headway": "1"}, "asked": str(path.name)})
    folder.tokenizer.write_text("{}")
    folder.write_settings({"run": {"task": "translation"}, "model": {"d_model": 8}})
    return folder


def gone_on(folder: RunFolder) -> None:
    """Two checkpoints more: of the first only weights are kept."""
    for step in (4, 6):
        saved(folder, step)
    checkpoint.keep_only(folder.checkpoints, to_resume=[4, 6], weights=[2])


def everything(path: Path) -> dict[str, bytes]:
    return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}


def taken(url: str, path: Path) -> RunFolder:
    folder = RunFolder(path)
    path.mkdir(exist_ok=True)
    Mirror(url, folder, lambda _: None).begin(resume=True)
    return folder


def read_of(folder: RunFolder) -> int:
    """The step that it goes on from; what is read has the right bits."""
    found = checkpoint.read_newest(folder.checkpoints, lambda _: None)
    assert found is not None
    for name, tensor in tensors(found.step).items():
        assert torch.equal(found.weights[name], tensor)
        assert torch.equal(found.resume[name], tensors(-found.step)[name])
    return found.step


def cut_after(mirror: Mirror, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many things that it does to the storage this process is gone; the last is half
    done."""
    left, storage = [n], mirror.storage

    def counted(work: Callable[..., Any]) -> Callable[..., Any]:
        def once(*given: str) -> None:
            left[0] -= 1
            if left[0] < 0:
                if len(given) == 2:
                    half = Path(given[0]).read_bytes()
                    Path(given[1]).parent.mkdir(parents=True, exist_ok=True)
                    Path(given[1]).write_bytes(half[: len(half) // 2])
                raise CutError
            work(*given)

        return once

    for name in ("put_file", "rm_file"):
        monkeypatch.setattr(storage, name, counted(getattr(type(storage), name).__get__(storage)))


def test_cut_at_any_moment_it_is_whole_or_goes_on_from_the_checkpoint_before(tmp_path, monkeypatch):
    first = begun(tmp_path / "run")
    saved(first, 2)
    shutil.copytree(first.path, tmp_path / "begun")
    gone_on(first)
    n, steps = 0, list[int]()
    while not steps or n < 100:
        there = tmp_path / f"there{n}"
        url = there.as_uri()
        Mirror(url, RunFolder(tmp_path / "begun"), lambda _: None).bring_up_to_date()
        mirror = Mirror(url, first, lambda _: None)
        with monkeypatch.context() as patches:
            cut_after(mirror, n, patches)
            try:
                mirror.bring_up_to_date()
                break
            except CutError:
                steps.append(read_of(taken(url, tmp_path / f"taken{n}")))
        n += 1
    assert n > 10
    assert steps == sorted(steps)
    assert set(steps) == {2, 4, 6}
    assert everything(there) == everything(first.path)


def test_of_a_first_upload_that_was_cut_there_is_no_run(tmp_path, monkeypatch):
    first = begun(tmp_path / "run")
    saved(first, 2)
    for n in range(8):
        url = (tmp_path / f"there{n}").as_uri()
        mirror = Mirror(url, first, lambda _: None)
        with monkeypatch.context() as patches:
            cut_after(mirror, n, patches)
            with pytest.raises(CutError):
                mirror.bring_up_to_date()
        assert not taken(url, tmp_path / f"taken{n}").config.exists()
    mirror.bring_up_to_date()
    assert read_of(taken(url, tmp_path / "taken")) == 2


def test_a_damaged_object_is_noticed_and_the_one_before_is_taken(tmp_path):
    first = begun(tmp_path / "run")
    saved(first, 2)
    gone_on(first)
    url, there = (tmp_path / "there").as_uri(), tmp_path / "there"
    Mirror(url, first, lambda _: None).bring_up_to_date()
    for number, file in enumerate(sorted(there.rglob("*"))):
        if not file.is_file() or file.name in ("metrics.jsonl", "model.safetensors"):
            continue
        whole = file.read_bytes()
        middle = len(whole) // 2
        file.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
        folder = taken(url, tmp_path / f"taken{number}")
        if file.parent.name == "step-6":
            assert read_of(folder) == 4
        elif file.parent == there:
            with pytest.raises(RunError, match="is not as headway wrote it|no run|cannot"):
                folder.refuse_damaged(), folder.record()
        else:
            assert read_of(folder) == 6
        file.write_bytes(whole)


@pytest.mark.parametrize(("n_failures", "is_taken"), [(2, True), (3, False)])
def test_a_storage_that_fails_is_asked_again_for_a_file(
    tmp_path, monkeypatch, n_failures, is_taken
):
    """Errors of networks are OSErrors, as those of the disk."""
    first = begun(tmp_path / "run")
    saved(first, 2)
    url = (tmp_path / "there").as_uri()
    Mirror(url, first, lambda _: None).bring_up_to_date()
    storage, left = uploads.opened(url)[0], [n_failures]
    get_file = storage.get_file

    def failing(there: str, here: str) -> None:
        if there.endswith("model.safetensors") and left[0]:
            left[0] -= 1
            raise ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")
        get_file(there, here)

    monkeypatch.setattr(type(storage), "get_file", staticmethod(failing))
    if is_taken:
        assert everything(taken(url, tmp_path / "taken").path) == everything(first.path)
    else:
        with pytest.raises(RunError, match=f"cannot be taken from {url}: .*reset by peer. Start"):
            taken(url, tmp_path / "taken")


def test_a_full_disk_is_no_fault_of_the_storage(tmp_path, monkeypatch):
    first = begun(tmp_path / "run")
    saved(first, 2)
    url = (tmp_path / "there").as_uri()
    Mirror(url, first, lambda _: None).bring_up_to_date()
    storage, tries = uploads.opened(url)[0], list[str]()

    def full(there: str, here: str) -> None:
        tries.append(there)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(type(storage), "get_file", staticmethod(full))
    with pytest.raises(DiskError, match="its disk is full"):
        taken(url, tmp_path / "taken")
    assert len(tries) == 1


def test_what_is_there_is_not_copied_again(tmp_path, monkeypatch):
    first = begun(tmp_path / "run")
    saved(first, 2)
    gone_on(first)
    url = (tmp_path / "there").as_uri()
    Mirror(url, first, lambda _: None).bring_up_to_date()
    again, names = Mirror(url, first, lambda _: None), list[str]()
    put = again.storage.put_file
    monkeypatch.setattr(
        again.storage,
        "put_file",
        lambda here, there: (names.append(Path(here).name), put(here, there)),
    )
    again.bring_up_to_date()
    assert not [name for name in names if name.endswith(".safetensors")]
    again.bring_up_to_date()
    assert len(names) == len({*names}) + 1  # two of state.json, each once


def test_a_storage_that_fails_for_a_while_is_tried_again_and_ends_nothing(tmp_path, monkeypatch):
    folder, said = begun(tmp_path / "run"), list[str]()
    url = (tmp_path / "there").as_uri()
    storage, _ = uploads.opened(url)
    put, fails = storage.put_file, [5]

    def failing(here: str, there: str) -> None:
        fails[0] -= 1
        if fails[0] >= 0:
            raise OSError("the bucket is asleep")
        put(here, there)

    monkeypatch.setattr(storage, "put_file", failing)
    with uploaded(url, folder, True, said.append) as settings:
        assert settings["model"] == {"d_model": 8}
        saved(folder, 2)
        until = time.monotonic() + 20
        while not (tmp_path / "there" / "checkpoints/step-2/state.json").exists():
            assert time.monotonic() < until
            time.sleep(0.02)
        gone_on(folder)
    assert everything(tmp_path / "there") == everything(folder.path)
    assert next(one for one in said if "asleep" in one).startswith(f"upload to {url} fails, and is")
    assert len([one for one in said if "asleep" in one]) == 1


def test_what_does_not_arrive_is_said_at_the_end(tmp_path, monkeypatch):
    folder, said = begun(tmp_path / "run"), list[str]()
    url = (tmp_path / "there").as_uri()
    storage, _ = uploads.opened(url)

    def failing(here: str, there: str) -> None:
        raise OSError("no such bucket")

    monkeypatch.setattr(storage, "put_file", failing)
    with uploaded(url, folder, True, said.append):
        saved(folder, 2)
    assert f"NOT at {url}: " in said[-1]
    assert "checkpoints/step-2/" in said[-1]
    assert "no such bucket" in said[-1]
    assert "headway train --out" in said[-1]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("runs/one", "an address such as s3://bucket/runs/one.*got 'runs/one'"),
        ("s3://ME:HIDDEN@bucket/one", "no password or key may be in it; got s3://.. with one"),
        ("https://host/one?sig=HIDDEN", "no password or key may be in it; got https://.. with one"),
        ("nowhere://bucket/one", "cannot be opened here .Protocol not known: nowhere"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(tmp_path, url, words):
    with pytest.raises(ConfigError, match=words) as refused:
        Mirror(url, RunFolder(tmp_path), pytest.fail)
    assert "HIDDEN" not in str(refused.value)
    assert refused.value.exit_status == 2


def test_another_run_is_not_written_over(tmp_path):
    first, other = begun(tmp_path / "run"), begun(tmp_path / "other")
    url, said = (tmp_path / "there").as_uri(), list[str]()
    Mirror(url, first, lambda _: None).bring_up_to_date()
    before = everything(tmp_path / "there")
    new = RunFolder(tmp_path / "new")
    with pytest.raises(RunError, match="holds a run. Go on with it by --resume, or give another"):
        Mirror(url, new, pytest.fail).begin(resume=False)
    with uploaded(url, other, True, said.append):
        pass
    assert any("holds another run than" in line for line in said)
    assert everything(tmp_path / "there") == before


# -- a whole training -------------------------------------------------------------------------


def flags(folder: Path, url: str = "") -> dict[str, Any]:
    settings: dict[str, dict[str, Any]] = {}
    for flag in faults.SMALL[1:]:
        name, _, value = flag.removeprefix("--").partition("=")
        section, _, key = name.partition(".")
        settings.setdefault(section, {})[key.replace("-", "_")] = value
    if url:
        settings["training"]["upload"] = url
    files = {"source": folder / "a.en", "target": folder / "a.zh"}
    return {**files, "preset": "tiny", "settings": settings}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a corpus, and in `whole` a run of it that nothing has disturbed."""
    folder = tmp_path_factory.mktemp("corpus")
    pairs = sorted(generate(2000, 3), key=lambda pair: len(pair[0]))[:200]
    for name, side in zip(("a.en", "a.zh"), zip(*pairs, strict=True), strict=True):
        (folder / name).write_text("".join(f"{text}\n" for text in side), encoding="utf-8")
    headway.train(**flags(folder), out=folder / "whole", say=lambda _: None)
    return folder


def check_lost_machine(
    folder: Path, tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A training whose machine is lost goes on from what is there, to the bit."""
    given, write, said = flags(folder, url), checkpoint.write, list[str]()

    def lost(folder: Path, step: int, *rest: Any) -> None:
        if step == 6:
            raise CutError
        write(folder, step, *rest)

    with monkeypatch.context() as patches:
        patches.setattr(checkpoint, "write", lost)
        with pytest.raises(CutError):
            headway.train(**given, out=tmp_path / "run", say=said.append)
    shutil.rmtree(tmp_path / "run")
    run = headway.train(**given, out=tmp_path / "run", resume=True, say=said.append)
    assert any(one.startswith(f"takes the run from {url}: ") for one in said)
    assert "goes on from step 4" in said
    found, expected = faults.contents(run), faults.contents(folder / "whole")
    assert f'upload = "{url}"' in str(found["config"])
    assert str(found.pop("config")).replace(url, "") == expected.pop("config")
    assert found == expected
    mirror = Mirror(url, RunFolder(run), pytest.fail)
    for name, _ in mirror.files():
        assert mirror.storage.cat_file(mirror.place(name)) == (run / name).read_bytes()
    assert {*mirror.listed()} == {name for name, _ in mirror.files()}


def test_a_lost_machine_is_gone_on_from_another_disk(folder, tmp_path, monkeypatch):
    check_lost_machine(folder, tmp_path, (tmp_path / "there").as_uri(), monkeypatch)


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """Of an S3 server on this machine."""
    pytest.importorskip("s3fs", reason="needs headway[storage]")
    server = pytest.importorskip("moto.server", reason="needs moto[s3], flask and flask-cors")
    import logging

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    service = server.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    service.start()
    host, port = service.get_host_and_port()
    patches = pytest.MonkeyPatch()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "me",
        "AWS_SECRET_ACCESS_KEY": "SECRET", "AWS_DEFAULT_REGION": "us-east-1",
    }.items():  # fmt: skip
        patches.setenv(name, value)
    storage, _ = uploads.opened("s3://bucket")
    storage.mkdir("bucket")
    yield "s3://bucket"
    service.stop()
    patches.undo()


def test_a_lost_machine_is_gone_on_from_s3(folder, tmp_path, bucket, monkeypatch):
    check_lost_machine(folder, tmp_path, f"{bucket}/runs/one", monkeypatch)
    assert "SECRET" not in "".join(map(str, everything(tmp_path / "run").values()))


def test_a_bucket_that_is_not_there_is_said_before_anything_is_read(folder, tmp_path, bucket):
    given = flags(folder, "s3://no-such-bucket/one")
    with pytest.raises(ConfigError, match="which cannot be written: .*AWS_ENDPOINT_URL"):
        headway.train(**given, out=tmp_path / "run", say=lambda _: None)
    assert not (tmp_path / "run").exists()
