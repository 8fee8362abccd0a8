"""Which engine is to search, and products in which precision; the engine is loaded by a search."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import torch

from headway.core.errors import ConfigError
from headway.core.interfaces import StepDecoder
from headway.core.runtime import EngineName, ProductPrecision
from headway.corpora.cache import silent

if TYPE_CHECKING:
    from headway.engine.engine import NativeEngine


class EngineChoice(NamedTuple):
    """What [runtime] says of search on a processor: which engine, products in which precision."""

    name: EngineName = "auto"
    precision: ProductPrecision = "fp32"
    say: Callable[[str], None] = silent
    """Hears where torch searches although products of fewer bits were asked for."""

    def prepare(self, decoder: StepDecoder, device: torch.device) -> "NativeEngine | None":
        """With the model's weights as they are now; None where torch searches.

        Raises ConfigError where it is asked for by name and there is none for this model or
        machine, and for another program, which has the weights of a run's folder and no others.
        """
        if self.name == "torch":
            return None
        if self.name == "ctranslate2":
            raise ConfigError(
                "runtime.engine ctranslate2 is for the weights of a run's folder, which these are "
                "no more. Save them, and load that, or use --runtime.engine auto."
            )
        from headway.engine.engine import prepare  # with all that compiles and packs

        found = prepare(decoder, device, self.precision, self.leave)
        if not isinstance(found, str):
            return found
        self.leave(found)
        return None

    def leave(self, reason: str) -> None:
        """Have torch search; raises ConfigError where the engine is asked for by its name."""
        if self.name == "native":
            raise ConfigError(
                f"runtime.engine native is for what it can do; {reason}. Use --runtime.engine auto."
            )
        if self.precision != "fp32":
            products = f"{self.precision} products are the compiled engine's"
            self.say(f"headway: torch translates, in fp32: {products}; {reason}")
