"""What earlier versions wrote of a training, as this one writes it."""

from collections.abc import Mapping
from typing import Any


def upgraded(progress: Mapping[str, Any]) -> dict[str, Any]:
    """The progress in a state.json; the first version counted two kinds of token by fixed names."""
    known = dict(progress)
    known.setdefault("best_rank", known.get("best_score", float("-inf")))
    if "landing" in known:
        known["decay_start"] = known.pop("landing")
    if "counts" not in known:
        known["counts"] = {name: known.pop(name) for name in ("source_tokens", "target_tokens")}
        loss, units, time_s = (known["sums"][name] for name in ("loss", "tokens", "time_s"))
        known["sums"] = {"loss": loss, "units": units, "time_s": time_s}
    return known


def bring_up_to_date(_trainer: Any, state: dict[str, Any]) -> None:
    """`headway.core.training_interfaces.Callback.load_state_dict`."""
    state["progress"] = upgraded(state["progress"])
