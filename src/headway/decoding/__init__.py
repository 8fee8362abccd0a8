"""Decoding: from a `StepDecoder` and a batch of sources to hypotheses, best first."""
