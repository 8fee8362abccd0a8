"""The sub-words beside a model of `transformers`: tokenizer.json, vocab.txt (BERT), or vocab.json
with merges.txt (RoBERTa); and what tokenizer_config.json says besides, which counts more there."""

import json
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

from headway.core.disk import refuse_large
from headway.core.errors import ConfigError, DataError
from headway.core.subwords import MAX_BYTES, Subwords, no_tokenizer
from headway.exchange.checkpoints import TOKENIZER_CONFIG, read_json
from headway.operations.locks import Say
from headway.tokenizers import tokenizer_files

WHOLE, BERT_PIECES, BPE_PIECES, MERGES = "tokenizer.json", "vocab.txt", "vocab.json", "merges.txt"
_CASE = "do_lower_case"
_TOLD = {
    ("normalizer", "BertNormalizer"): {
        "lowercase": _CASE,
        "strip_accents": "strip_accents",
        "handle_chinese_chars": "tokenize_chinese_chars",
    },
    ("pre_tokenizer", "ByteLevel"): {"add_prefix_space": "add_prefix_space"},
    ("post_processor", "RobertaProcessing"): {
        "add_prefix_space": "add_prefix_space",
        "trim_offsets": "trim_offsets",
    },
}
"""Of a part of tokenizer.json, by its type: what tokenizer_config.json calls its options."""


def read_pretrained(folder: Path, say: Say) -> tuple[Subwords, list[Path]]:
    """The sub-words of a model, and the files that they are from; whether capitals are kept is said
    where no file tells it.

    Raises:
        DataError: a file is missing or damaged, has parts that are not taken, or no markers.
        ConfigError: an option is none.
    """
    config = folder / TOKENIZER_CONFIG
    told = read_json(config) if config.exists() else {}
    names = {name for options in _TOLD.values() for name in options.values()}
    for name in names & told.keys():
        if not isinstance(told[name], bool) and told[name] is not None:
            raise ConfigError(
                f"{name} is true or false; {config} has {told[name]!r}. Take it from a copy."
            )
    files = [folder / WHOLE]
    if files[0].exists():
        found = tokenizer_files.load(files[0])
    elif (folder / BERT_PIECES).exists():
        files = [folder / BERT_PIECES]
        found = tokenizer_files.load(files[0])
    elif (folder / BPE_PIECES).exists():
        files = [folder / BPE_PIECES, folder / MERGES]
        found = byte_level_pieces(*files)
    else:
        raise DataError(
            f"the sub-words of a model are {WHOLE}, {BERT_PIECES}, or {BPE_PIECES} with {MERGES}; "
            f"{folder} has none of them. Take them from where the model is from."
        )
    described = json.loads(found.serialized)
    if files[0].name == BERT_PIECES and not isinstance(told.get(_CASE), bool):
        kept = "are lower-cased" if described["normalizer"]["lowercase"] else "keep capitals"
        say(f"texts {kept}, by the pieces of {BERT_PIECES}: nothing says {_CASE}")
    for (part, kind), options in _TOLD.items():
        held = described.get(part) or {}
        for own, name in options.items():
            may_be_open = name == "strip_accents"  # null: as capitals are
            if held.get("type") == kind and name in told:
                held[own] = held[own] if told[name] is None and not may_be_open else told[name]
    whole = json.dumps(described, ensure_ascii=False)
    return Subwords(whole, str(files[0])), [*files, *[config][: bool(told)]]


def byte_level_pieces(vocabulary: Path, merges: Path) -> Subwords:
    """Of the two files of a RoBERTa. Raises DataError where one is missing or damaged."""
    try:
        for file in (vocabulary, merges):
            refuse_large(file, MAX_BYTES)
        tokenizer = Tokenizer(models.BPE.from_file(str(vocabulary), str(merges)))
        ids = tokenizer.get_vocab()
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        markers = [name for name in ("<s>", "<pad>", "</s>", "<unk>", "<mask>") if name in ids]
        tokenizer.add_special_tokens(
            [AddedToken(name, lstrip=name == "<mask>", special=True) for name in markers]
        )
        ends = (("</s>", ids["</s>"]), ("<s>", ids["<s>"]))
        tokenizer.post_processor = processors.RobertaProcessing(*ends, True, False)
    except Exception as error:  # the library's own, or a file that is not there
        raise no_tokenizer(error, f"{vocabulary} with {MERGES}") from None
    return Subwords(tokenizer.to_str(), str(vocabulary))
