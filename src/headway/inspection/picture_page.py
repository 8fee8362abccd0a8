"""What a run sees in a picture: what each place adds to the label, attention, first filters."""

import base64
import io
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, UInt8

from headway.core.errors import ConfigError, command
from headway.images.predicting import PictureClassifier
from headway.images.reading import any_source
from headway.inspection.attention_picture import EVERYDAY_GLYPHS
from headway.labelling.labeller import Labeller
from headway.labelling.predictions import InspectionPage, InspectionRequest
from headway.nn.attention_weights import watched
from headway.pages import document
from headway.plots import fonts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_FILTERS, A_ROW = 64, 16
"""Filters that are drawn, and how many beside each other."""


class Seen(NamedTuple):
    """One picture in one run."""

    name: str
    pixels: UInt8[np.ndarray, "height width channels"]
    labels: list[dict[str, Any]]
    """The likeliest first."""
    added: Float[np.ndarray, "down across"] | None
    """What each place adds to the best label's logit, above what it adds to all labels in the mean;
    None where places are not averaged."""
    attention: Float[np.ndarray, "layers heads down across"]
    """What the first place looks at, where that is pooled, or all patches in the mean; no layers
    without attention."""
    filters: Float[np.ndarray, "filters channels height width"]
    """Of the first layer."""


@torch.inference_mode()
def seen(classifier: PictureClassifier, place: Path) -> Seen:
    """Look at one picture: the first, where the name is of several."""
    _, classes, model, device = classifier.opened
    assert isinstance(model, Labeller), "so the spec builds it"
    source, encoder, head = any_source(place, lambda _: None), model.encoder, model.head
    pixels = source.decoded(0, classes.shape)
    layers: Any = encoder.layers
    attentions = [one.self_attention for one in layers if hasattr(one, "self_attention")]
    with watched(attentions) as maps:
        features = model.encoded(classes.normalized([pixels]).to(device)).features[0]
    told = classifier.answer(source.names[0], classifier.probabilities([pixels])[0], 0).told
    grid: Any = encoder.grid
    added, attention = None, torch.empty(0, 0, *grid)
    if head.pooling == "mean":
        weights: Any = head.to_labels.weight  # type: ignore[union-attr]
        best = classes.labels.index(told["labels"][0]["label"])
        added = (features @ (weights[best] - weights.mean(0)) / len(features)).reshape(grid)
    if maps:
        looks = torch.stack(maps)[:, 0]  # [layers, heads, query, key]
        looks = looks[:, :, 0, 1:] if head.pooling == "first" else looks.mean(2)
        attention = looks.unflatten(-1, grid)
    filters: Any = encoder.filters
    numbers = None if added is None else added.cpu().numpy()
    looked, first = attention.cpu().numpy(), filters.cpu().numpy()
    return Seen(told["picture"], pixels, told["labels"], numbers, looked, first)


def drawn(one: Seen) -> bytes:
    """All of it as one PNG."""
    from matplotlib.figure import Figure

    n_layers, n_heads = one.attention.shape[:2]
    n_across, rows = max(n_heads, 3), n_layers + 2
    figure = Figure((2.1 * n_across, 2.1 * rows), dpi=110, layout="constrained")
    grid = figure.add_gridspec(rows, n_across)
    plain = _panel(figure, grid[0, 0], "the picture")
    plain.imshow(np.squeeze(one.pixels), cmap="gray", vmin=0, vmax=255)
    bars = figure.add_subplot(grid[0, -1])
    best = one.labels[:5][::-1]
    bars.barh([label["label"][:12] for label in best], [label["prob"] for label in best])
    bars.set(xlim=(0, 1), title="probability")
    if one.added is not None:
        axes = _panel(figure, grid[0, 1], f"speaks for {one.labels[0]['label'][:12]}")
        _over(axes, one, one.added, "RdBu_r", -float(np.abs(one.added).max()))
    for layer, head in np.ndindex(n_layers, n_heads):
        axes = _panel(figure, grid[1 + layer, head], f"encoder.{layer}.head.{head}")
        _over(axes, one, one.attention[layer, head], "magma", 0.0)
    axes = _panel(figure, grid[-1, :], "filters of the first layer")
    axes.imshow(mosaic(one.filters), cmap="gray")
    out = io.BytesIO()
    figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()


def _panel(figure: "Figure", place: Any, title: str) -> "Axes":
    axes = figure.add_subplot(place)
    axes.set_title(title, fontsize=9)
    axes.set_axis_off()
    return axes


def _over(axes: "Axes", one: Seen, numbers: Any, colours: str, least: float) -> None:
    """Numbers of places drawn on the picture, which shows through."""
    height, width = one.pixels.shape[:2]
    extent = (-0.5, width - 0.5, height - 0.5, -0.5)
    axes.imshow(np.squeeze(one.pixels), cmap="gray", vmin=0, vmax=255)
    most = float(np.abs(numbers).max()) or 1.0
    axes.imshow(numbers, cmap=colours, vmin=least, vmax=most, alpha=0.6, extent=extent)


def mosaic(filters: Float[np.ndarray, "filters channels h w"]) -> Float[np.ndarray, "..."]:
    """Filters side by side, each from its own least (0) to its own largest number (1); in colour
    where they read colours."""
    shown = filters[:MOST_FILTERS]
    least, most = (end(shown, axis=(1, 2, 3), keepdims=True) for end in (np.min, np.max))
    shown = (shown - least) / np.maximum(most - least, 1e-9)
    shown = np.pad(shown, ((0, -len(shown) % A_ROW), (0, 0), (0, 1), (0, 1)), constant_values=1.0)
    n, channels, height, width = shown.shape
    tiles = shown.reshape(n // A_ROW, A_ROW, channels, height, width).transpose(0, 3, 1, 4, 2)
    whole = tiles.reshape(n // A_ROW * height, A_ROW * width, channels)
    return whole[:, :, 0] if channels == 1 else whole


def page_of_picture(request: InspectionRequest) -> InspectionPage:
    """What `headway inspect` shows of a run of pictures."""
    if request.given is None or request.off:
        example = command("inspect", request.run, "PICTURE", "--out", "page.html")
        raise ConfigError(
            f"a picture is looked at, with the whole model; got "
            f"{'parts to switch off' if request.off else 'none'}. Try: {example}"
        )
    one = seen(PictureClassifier.load(request.run), Path(request.given))
    with fonts(EVERYDAY_GLYPHS):  # names of classes may be Chinese
        picture, best = drawn(one), one.labels[0]
    added = None if one.added is None else one.added.tolist()
    told = {"picture": one.name, "labels": one.labels, "added": added}
    told["attention"] = one.attention.tolist()
    name = f"headway: {request.run.resolve().name}"
    words = f"{one.name}: {best['label']} {best['prob']:.2%}"
    url = f"data:image/png;base64,{base64.b64encode(picture).decode('ascii')}"
    body = [
        f"<h1>{escape(name)}</h1>",
        f"<p>{escape(words)}</p>",
        f'<img style="max-width: 100%" alt="{escape(words)}" src="{url}">',
        '<p class="soft">Red speaks for the label, blue against it: what each place adds to its '
        "logit above the mean of all labels. Below: how much is looked at each patch.</p>",
    ]
    return InspectionPage(document(name, body, pictures=True), told, picture)
