"""What is drawn of a picture is what the model computes."""

import base64
import io
import json
from pathlib import Path

import numpy as np
import pytest
from drawn_pictures import write_folders
from everyday_run import command
from PIL import Image

from headway.images.predicting import PictureClassifier
from headway.inspection.picture_page import mosaic, page_of_picture, seen
from headway.labelling.predictions import InspectionRequest

pytestmark = pytest.mark.usefixtures("torch_settings_restored")
MODELS = {
    "mean": ("--model.layers=2", "--model.heads=2", "--model.d-model=16", "--model.d-ff=16"),
    "class": ("--model.layers=1", "--model.d-model=16", "--model.d-ff=16", "--model.pooling=first"),
    "cnn": ("--model.type=cnn", "--model.channels=6,8"),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folders(tmp_path_factory.mktemp("pictures"))


@pytest.fixture(scope="module", params=MODELS)
def run(request: pytest.FixtureRequest, place: Path) -> Path:
    run = place.parent / f"run-{request.param}"
    given = ("--task", "images", "--corpus", str(place), "--out", str(run))
    flags = ("--training.max-steps=4", "--runtime.threads=1", "--runtime.device=cpu")
    finished = command("train", *given, *flags, *MODELS[request.param])
    assert finished.status == 0, finished.err
    return run


def test_what_places_add_is_the_label_s_logit_above_the_mean_of_all(run, place):
    classifier = PictureClassifier.load(run, device="cpu")
    one = seen(classifier, place / "spot" / "0002.png")
    _, classes, model, _ = classifier.opened
    logits = model(classes.normalized([one.pixels]))[0].detach()
    assert one.labels[0]["label"] == classes.labels[int(logits.argmax())]
    if "class" in run.name:
        assert one.added is None
        return
    bias = model.head.to_labels.bias.detach()  # type: ignore[union-attr]
    above = logits.max() - logits.mean() - (bias[logits.argmax()] - bias.mean())
    assert one.added is not None
    assert one.added.sum() == pytest.approx(float(above), abs=1e-4)
    assert one.added.shape == (3, 3)


def test_attention_is_what_the_layers_gave_each_patch(run, place):
    one = seen(PictureClassifier.load(run, device="cpu"), place / "spot" / "0002.png")
    if "cnn" in run.name:
        assert one.attention.shape == (0, 0, 3, 3)
        return
    layers, heads = (2, 2) if "mean" in run.name else (1, 4)
    assert one.attention.shape == (layers, heads, 3, 3)
    whole = one.attention.sum((2, 3))
    if "mean" in run.name:
        np.testing.assert_allclose(whole, 1, atol=1e-5)
    else:
        assert (whole < 1).all(), "the class vector looks at itself as well"


def test_filters_are_those_of_the_first_layer_side_by_side():
    filters = np.arange(3 * 2 * 2, dtype=float).reshape(3, 1, 2, 2)
    shown = mosaic(filters)
    assert shown.shape == (3, 48)
    np.testing.assert_allclose(shown[:2, :2], [[0, 1 / 3], [2 / 3, 1]])
    assert (shown[2] == 1).all(), "white between them"
    in_colour = mosaic(np.random.default_rng(1).normal(size=(17, 3, 2, 2)))
    assert in_colour.shape == (6, 48, 3)


@pytest.mark.parametrize("run", ["mean"], indirect=True)
def test_the_page_and_the_picture_are_written(run, place, tmp_path):
    picture = str(place / "down" / "0001.png")
    for name in ("a.png", "a.html"):
        finished = command("inspect", str(run), picture, "--out", str(tmp_path / name))
        assert finished.status == 0, finished.err
    image = base64.b64encode((tmp_path / "a.png").read_bytes()).decode()
    assert image in (tmp_path / "a.html").read_text("utf-8")
    told = json.loads(command("inspect", str(run), picture, "--json").out)
    assert {one["label"] for one in told["labels"]} == {"across", "down", "spot"}
    before = Path(picture).read_bytes()
    finished = command("inspect", str(run), picture, "--out", picture)
    assert "--out does not replace what is read" in finished.err
    assert Path(picture).read_bytes() == before


def test_the_same_is_drawn_and_told_of_the_same(run, place):
    request = InspectionRequest(run, str(place / "across" / "0000.png"))
    page = page_of_picture(request)
    assert page == page_of_picture(request)
    with Image.open(io.BytesIO(page.picture)) as image:
        assert image.format == "PNG"
        assert image.width > 300
        assert len(np.unique(np.asarray(image.convert("L")))) > 50, "something is on it"
    assert "img-src data:" in page.html
    assert "<script" not in page.html
    assert "0000.png: " in page.html
    assert {one["label"] for one in page.told["labels"]} == {"across", "down", "spot"}


def test_nothing_to_look_at_is_refused(run):
    for flags, words in (((), "got none"), (("a.png", "--off", "encoder.0"), "switch off")):
        refused = command("inspect", str(run), *flags)
        assert refused.status == 2
        assert words in refused.err
    refused = command("inspect", str(run), "none.png")
    assert refused.status == 2
    assert "no such file" in refused.err
