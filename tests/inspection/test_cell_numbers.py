"""The cell view has the model's own numbers, and they follow from each other by the equations."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from analyses import analysis_of

import headway
from headway.inspection.cell_numbers import cells, parts_of
from headway.inspection.html_page import unpacked
from headway.inspection.passage_analysis import ROOM, room_of_each


def tensors_of(found: dict[str, Any]) -> dict[str, np.ndarray]:
    """As the page reads them."""
    return {name: unpacked(held) for name, held in found["tensors"].items()}


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_numbers_are_the_models_own_bit_for_bit(everyday_run: Path, norm: str) -> None:
    analysis = analysis_of(everyday_run, norm=norm)
    found = cells(analysis)
    assert found["left_out"] == []
    assert len(found["sublayers"]) == 2 * 2 + 2 * 3
    for name, array in tensors_of(found).items():
        if not name.endswith(".parts"):
            np.testing.assert_array_equal(array, analysis.trace[name], err_msg=name)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("positions", ["sinusoidal", "rotary"])
def test_a_hundred_random_cells_follow_from_what_is_shown(
    everyday_run: Path, norm: str, positions: str
) -> None:
    """Each step in float64 from the one before it, as the page's reader would."""
    analysis = analysis_of(everyday_run, norm=norm, positions=positions)
    found = cells(analysis)
    held = {name: array.astype(np.float64) for name, array in tensors_of(found).items()}
    attentions = [each for each in found["sublayers"] if each["kind"] != "feed_forward"]
    random = np.random.default_rng(2)
    for _ in range(100):
        each = attentions[int(random.integers(len(attentions)))]
        at = each["at"]
        weights = held[f"{at}.weights"]
        head, i, j = (int(random.integers(n)) for n in weights.shape)
        query, key = held[f"{at}.query"][head, i], held[f"{at}.key"][head]
        scores = key @ query / np.sqrt(len(query))
        close(held[f"{at}.scores"][head, i], scores)
        powers = np.exp(scores) * held[f"{at}.visible"][i]
        close(weights[head, i, j], powers[j] / powers.sum())
        close(held[f"{at}.heads"][head, i], weights[head, i] @ held[f"{at}.value"][head])
        bias = bias_of(analysis.inspected.model, at)
        close(held[f"{at}.output"][i], held[f"{at}.parts"][:, i].sum(0) + bias)
        x, added = held[each["goes_in"]][i], held[f"{at}.output"][i]
        close(held[f"{at}.residual"][i], x + added)
        normed = x if norm == "pre" else held[f"{at}.residual"][i]
        close(held[f"{at}.normed"][i], (normed - normed.mean()) / normed.std(), 1e-3)


def close(found: Any, expected: Any, atol: float = 1e-5) -> None:
    """float32 against float64."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


def bias_of(model: torch.nn.Module, at: str) -> np.ndarray:
    """That of W_O."""
    stack, layer, kind = at.split(".")
    attention = getattr(model.get_submodule(f"{stack}.{layer}"), f"{kind}_attention")
    bias: np.ndarray = attention.to_output.bias.detach().numpy()
    return bias


def test_where_room_is_short_the_last_cross_attention_stays(everyday_run: Path) -> None:
    analysis = analysis_of(everyday_run)
    analysis.room = None
    whole = tensors_of(cells(analysis))
    for room in (0, 80_000, 200_000):
        analysis.room = room
        found = cells(analysis)
        n_bytes = sum(array.nbytes for array in tensors_of(found).values())
        assert n_bytes <= room
        names = [each["at"] for each in found["sublayers"]]
        assert len(names) + len(found["left_out"]) == 10
        assert names[:1] == ["decoder.1.cross"][: 1 if room else 0]
        assert set(tensors_of(found)) < set(whole)


def test_several_texts_share_the_room_of_three() -> None:
    assert [room_of_each(n) for n in (1, 3, 6)] == [ROOM, ROOM, ROOM // 2]


def test_what_a_head_adds_is_its_result_times_its_rows_of_the_output_matrix(
    everyday_run: Path,
) -> None:
    """By switching all other heads off."""
    analysis = analysis_of(everyday_run)
    attention = analysis.inspected.model.decoder[0].cross_attention
    heads = analysis.trace["decoder.0.cross.heads"]
    parts = parts_of(attention, heads)
    for head in range(3):
        alone = np.zeros_like(heads)
        alone[head] = heads[head]
        joined = torch.from_numpy(alone).transpose(0, 1).flatten(1)
        expected = (attention.to_output(joined) - attention.to_output.bias).detach().numpy()
        np.testing.assert_allclose(parts[head], expected, atol=1e-6)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_every_step_names_a_line_that_is_there(everyday_run: Path, norm: str) -> None:
    steps = cells(analysis_of(everyday_run, norm=norm))["steps"]
    root = Path(headway.__file__).parent.parent
    for step in steps.values():
        line = (root / step["file"]).read_text(encoding="utf-8").splitlines()[step["line"] - 1]
        assert line.strip() == step["code"]


def test_a_model_whose_code_is_another_names_its_own_lines(everyday_run: Path) -> None:
    from headway.earlier_translators.ablated import Ablated, AblatedConfig

    analysis = analysis_of(everyday_run)
    config = AblatedConfig(d_model=24, d_ff=40, heads=3, score="additive", residual=False)
    analysis.inspected.__dict__["model"] = Ablated(
        config, vocabulary_size=len(analysis.inspected.vocabulary)
    )
    assert cells(analysis)["steps"]["residual"]["file"] == "headway/earlier_translators/variants.py"
