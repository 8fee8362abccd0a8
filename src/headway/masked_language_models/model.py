"""An encoder that tells what stands at hidden places (Devlin et al. 2019, section 3.1)."""

from jaxtyping import Float, Int
from torch import Tensor, arange, nn, zeros

from headway.core.embedding import output_matrix, project
from headway.core.layers import ACTIVATIONS
from headway.labelling.labeller import Labeller
from headway.nn.encoder import Encoder, EncoderConfig


class MaskedHead(nn.Module):
    """BERT's: dense, activation, norm; then the matrix of the embedding or, not `tied`, one of
    its own, and a bias."""

    output_weight: nn.Parameter | None

    def __init__(self, config: EncoderConfig, vocabulary_size: int) -> None:
        super().__init__()
        self.dense = nn.Linear(config.d_model, config.d_model)
        self.activate = ACTIVATIONS[config.activation]
        self.norm = nn.LayerNorm(config.d_model, eps=config.layer_norm_epsilon)
        self.output_bias = nn.Parameter(zeros(vocabulary_size))
        self.register_parameter("output_weight", None)
        nn.init.xavier_uniform_(self.dense.weight)
        nn.init.zeros_(self.dense.bias)

    def forward(self, features: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """What is multiplied by the embedding's matrix."""
        return self.norm(self.activate(self.dense(features)))


class MaskedLanguageModel(Labeller):
    """Its parts are `encoder` and `head`, as those of every model that labels."""

    encoder: Encoder
    head: MaskedHead

    def __init__(self, config: EncoderConfig, *, vocabulary_size: int, padding: int = 0) -> None:
        encoder = Encoder(config, vocabulary_size=vocabulary_size, padding=padding)
        super().__init__(encoder, MaskedHead(config, vocabulary_size))
        self.config = config
        if not config.tied:
            own = output_matrix(self.encoder.embedding, tied=False)
            self.head.output_weight = nn.Parameter(own)

    @property
    def output_weight(self) -> Float[Tensor, "vocabulary d_model"]:
        """The embedding's own matrix, or one besides."""
        own = self.head.output_weight
        return self.encoder.embedding.weight if own is None else own

    def features(
        self, ids: Int[Tensor, "batch length"], places: Int[Tensor, " places"]
    ) -> Float[Tensor, "places d_model"]:
        """What is multiplied by `output_weight`, at some places alone: the product with every
        piece there is would be the most of the work. Places are counted through all rows."""
        chosen = self.encoded(ids).features.flatten(0, 1).index_select(0, places)
        features: Tensor = self.head(chosen)
        return features

    def logits(
        self, features: Float[Tensor, "*batch d_model"]
    ) -> Float[Tensor, "*batch vocabulary"]:
        """Of what the head gives, in float32."""
        return project(features, self.output_weight, self.head.output_bias).float()

    def forward(self, ids: Int[Tensor, "batch length"]) -> Float[Tensor, "batch length vocabulary"]:
        """Logits of every piece at every place."""
        return self.logits(self.head(self.encoded(ids).features))


class AskedPlace(nn.Module):
    """A model asked for one place of each text, as one that labels is asked for its label."""

    def __init__(self, model: MaskedLanguageModel) -> None:
        super().__init__()
        self.encoder, self.head, self._model = model.encoder, model.head, (model,)

    def forward(
        self, ids: Int[Tensor, "batch length"], places: Int[Tensor, "batch 1 1"]
    ) -> Float[Tensor, "batch vocabulary"]:
        """Logits of every piece at `places`, each counted within its text."""
        [model] = self._model
        before = ids.shape[1] * arange(len(ids), device=ids.device)
        return model.logits(model.features(ids, before + places[:, 0, 0]))
