"""Several models with one vocabulary as the engine reads them, for `ensemble/members.h`."""

import ctypes
from itertools import pairwise

from headway.core.runtime import ProductPrecision
from headway.core.transformer import Transformer
from headway.decoding.ensemble import EnsembleDecoder
from headway.engine.building import EngineLibrary
from headway.engine.compiling import NoEngineError
from headway.engine.packing import Packed


class PackedEnsemble(Packed):
    """The first of the models, whose structure leads to those of the others."""

    def __init__(
        self,
        ensemble: EnsembleDecoder,
        engine: EngineLibrary,
        precision: ProductPrecision = "fp32",
    ) -> None:
        """See `Packed`; raises `NoEngineError` for what are not Transformers of one vocabulary."""
        some = [one for one in ensemble.members if type(one) is Transformer]
        if len(some) < len(ensemble.members) or len({len(one.output_weight) for one in some}) != 1:
            raise NoEngineError("its models are no Transformers with one vocabulary")
        super().__init__(some[0], engine, precision)
        self.others = [Packed(one, engine, precision) for one in some[1:]]
        for one, other in pairwise([self, *self.others]):
            one.structure.next = ctypes.addressof(other.structure)
            self.arrays += other.arrays
            self.longest = min(self.longest, other.longest)
