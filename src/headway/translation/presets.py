"""Named settings of every type of translator; see `headway.core.settings` for the Transformer's.

The others are about as large as `tiny` where the vocabulary has 10,000 sub-words.
"""

from headway.core.config import Sections
from headway.core.settings import PRESETS as OF_TRANSFORMER

PRESETS: dict[str, Sections] = {
    **OF_TRANSFORMER,
    "recurrent": {
        "model": {
            "type": "recurrent",
            "recurrence": "gru",
            "encoder_layers": 2,
            "decoder_layers": 1,
            "d_embedding": 128,
            "d_model": 256,
            "dropout": 0.2,
        },
        "training": {"batch_tokens": 2048, "learning_rate": 2e-3},
    },
    "convolutional": {
        "model": {
            "type": "convolutional",
            "encoder_layers": 5,
            "decoder_layers": 4,
            "d_model": 128,
            "dropout": 0.2,
        },
        "training": {"batch_tokens": 2048, "learning_rate": 2e-3},
    },
    "bytenet": {
        "model": {
            "type": "bytenet",
            "encoder_layers": 5,
            "decoder_layers": 5,
            "d_model": 128,
            "d_inner": 168,
            "extra": 5,
            "dropout": 0.2,
        },
        "training": {"batch_tokens": 2048, "learning_rate": 2e-3},
    },
    "ablated": {
        **OF_TRANSFORMER["tiny"],
        "model": {**OF_TRANSFORMER["tiny"]["model"], "type": "ablated"},
    },
}
"""The sizes of `ablated` are those of `tiny`: what is taken out is then all that differs."""
