"""`headway translate --json`: one object with everything that is known of each translation."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway.core.translate import Translation
    from headway.localization.checks.checker import Verdict


def as_json(translation: "Translation", verdict: "Verdict") -> dict[str, Any]:
    """As in the README: the best translation, what is doubtful about it, then all of them."""
    n_best = [
        {
            "target": alternative.target,
            "score": alternative.score,
            "tokens": alternative.tokens,
            "token_log_probs": alternative.token_log_probs,
            "alignment": [list(pair) for pair in alternative.alignment],
        }
        for alternative in translation.n_best
    ]
    best = n_best[0] if n_best else {"target": "", "score": 0.0, "tokens": [], "alignment": []}
    return {
        "source": translation.source,
        "source_tokens": translation.source_tokens,
        "target": best["target"],
        "score": best["score"],
        "tokens": best["tokens"],
        "alignment": best["alignment"],
        "n_best": n_best,
        "cut": translation.n_cut,
        "codes_complete": translation.codes_complete,
        "confidence": verdict.confidence,
        "flags": [flag._asdict() for flag in verdict.flags],
    }
