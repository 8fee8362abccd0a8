"""Presets: settings by name, the paper's two and two for small data and small machines."""

from headway.core.config import Sections

PAPER_TRAINING = {"schedule": "paper", "warmup_steps": 4000, "batch_tokens": 25000,
                  "clip_norm": 0.0, "patience": 0}  # fmt: skip
PRESETS: dict[str, Sections] = {
    "tiny": {
        "model": {"type": "transformer", "encoder_layers": 4, "decoder_layers": 4, "d_model": 128,
                  "d_ff": 256, "heads": 4, "dropout": 0.2, "norm": "pre", "residual_gain": 0.35},
        "training": {"batch_tokens": 2048, "learning_rate": 4e-3},
    },
    "small": {
        "model": {"type": "transformer", "encoder_layers": 6, "decoder_layers": 3, "d_model": 256,
                  "d_ff": 1024, "heads": 4, "dropout": 0.2, "norm": "pre"},
        "training": {"batch_tokens": 8192, "learning_rate": 1.5e-3},
    },
    "paper-base": {
        "text": {"vocabulary_size": 37000},
        "model": {"type": "transformer"},
        "training": {**PAPER_TRAINING, "max_steps": 100_000, "average": 5},
        "decoding": {"beam": 4, "length_penalty": 0.6},
    },
    "paper-big": {
        "text": {"vocabulary_size": 37000},
        "model": {"type": "transformer", "d_model": 1024, "d_ff": 4096, "heads": 16,
                  "dropout": 0.3},
        "training": {**PAPER_TRAINING, "max_steps": 300_000, "average": 20},
        "decoding": {"beam": 4, "length_penalty": 0.6},
    },
}  # fmt: skip
"""A preset is the lowest layer; a TOML file, then flags, go on top of it. The small ones normalize
before each sub-layer: with the paper's post-norm their encoders collapsed (all positions alike,
cross-attention uniform) at the learning rates that a budget of minutes needs."""
