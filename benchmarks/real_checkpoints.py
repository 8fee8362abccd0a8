"""Is a checkpoint that you have the same in headway as in `transformers`?

For each folder (BERT, RoBERTa, GPT-2, M2M-100 or NLLB, Marian, told by its config.json) a run is
made by `headway import`, and both programs are given the same sentences in six languages: ids of
their sub-words, the most that log-probabilities differ, and what both fill in, go on with or
translate, greedily.

Run: python benchmarks/real_checkpoints.py DIR.. [--source-language en] [--target-language fr]
     [--sentences FILE] [--record FILE]
Needs `transformers` and the extra `sentencepiece`; nothing is fetched. Exit status 1 where
something differs.
"""

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import record
import torch

from headway.exchange.checkpoints import CONFIG, read_json
from headway.operations.shipped import open_folder
from headway.runs.loading import LoadedRun, open_run
from headway.runs.settings import task_of
from headway.tasks import brought, objects_of, task_spec

os.environ["HF_HUB_OFFLINE"] = "1"

MOST = 1e-3
"""That log-probabilities may differ, in nats: float32 over two dozen layers."""
N_WRITTEN = 20
SENTENCES = [
    "The train to London leaves at 10:45, doesn't it?",
    "Le chien de ma sœur dort sous la table.",
    "今天天气很好，我们去公园吧。",
    "Где находится ближайшая библиотека?",
    "هل تحب القهوة أم الشاي؟",
    "नमस्ते, आप कैसे हैं?",
]


class Way(NamedTuple):
    """How a kind of model is opened and asked."""

    kind: str
    """What `headway import` calls it."""
    opener: str
    """The class of `transformers`."""


WAYS = {
    "bert": Way("bert", "AutoModelForMaskedLM"),
    "roberta": Way("roberta", "AutoModelForMaskedLM"),
    "gpt2": Way("gpt2", "AutoModelForCausalLM"),
    "m2m_100": Way("m2m100", "AutoModelForSeq2SeqLM"),
    "marian": Way("marian", "AutoModelForSeq2SeqLM"),
}
"""By model_type."""


class Both(NamedTuple):
    """A model in both programs."""

    model_type: str
    opened: LoadedRun
    model: Any
    tokenizer: Any
    language: int | None
    """The id of the language to write, where the model is told one."""

    def own_ids(self, text: str) -> list[int]:
        """As headway reads a text, with what stands around it there."""
        vocabulary = self.opened.vocabulary
        ids = [*map(int, vocabulary.encode(text))]
        special = vocabulary.special
        if self.model_type in ("bert", "roberta"):
            return [special.decoder_begin, *ids, special.end]
        if self.model_type == "gpt2":
            return ids
        return [*ids[self.language is not None :], special.end]

    def log_probs(self, texts: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor]:
        """Of every piece at each place of the first text, ours and theirs; of a translator after
        the second as its target."""
        model, special = self.opened.model, self.opened.vocabulary.special
        read = self.own_ids(texts[0])
        if self.model_type in ("bert", "roberta"):
            return model(torch.tensor([read])), self.model(torch.tensor([read])).logits
        if self.model_type == "gpt2":
            fed = torch.tensor([[special.end, *read]])
            return model(fed), self.model(fed).logits
        written = [*map(int, self.opened.vocabulary.encode_targets([texts[1]])[0])]
        told = [] if self.language is None else [self.language]
        ours = model(
            torch.tensor([[*told, *read]]), torch.tensor([[special.decoder_begin, *written]])
        )
        fed = torch.tensor([[special.decoder_begin, *told, *written]])
        theirs = self.model(input_ids=torch.tensor([read]), decoder_input_ids=fed).logits
        return ours, theirs[:, len(told) :]

    def outputs(self, text: str) -> tuple[list[int], list[int]]:
        """What both write for a text: of a masked model into its middle, hidden."""
        model, special = self.opened.model, self.opened.vocabulary.special
        read = self.own_ids(text)
        if self.model_type in ("bert", "roberta"):
            read[len(read) // 2] = self.tokenizer.mask_token_id
            found = (f(torch.tensor([read])) for f in (model, lambda ids: self.model(ids).logits))
            ours, theirs = ([int(one[0, len(read) // 2].argmax())] for one in found)
            return ours, theirs
        banned = [*special.unwritten] if special.unwritten else None
        how: dict[str, Any] = {"do_sample": False, "num_beams": 1, "suppress_tokens": banned}
        how |= {"max_new_tokens": N_WRITTEN, "max_length": None, "pad_token_id": special.padding}
        if self.model_type == "gpt2":
            fed = torch.tensor([[special.end, *read]])
            theirs = self.model.generate(fed, attention_mask=torch.ones_like(fed), **how)
            theirs = theirs[0, len(read) + 1 :].tolist()
            return greedy(model, None, fed[0].tolist(), special), theirs
        told = [] if self.language is None else [self.language]
        if told:
            how["forced_bos_token_id"] = told[0]
            how["max_new_tokens"] += 1
        theirs = self.model.generate(torch.tensor([read]), forced_eos_token_id=None, **how)
        source = torch.tensor([[*told, *read]])
        ours = greedy(model, source, [special.decoder_begin], special)
        return ours, theirs[0, 1 + len(told) :].tolist()


def greedy(model: Any, source: torch.Tensor | None, fed: list[int], special: Any) -> list[int]:
    """The likeliest token after tokens that were fed, again and again."""
    state = model.start(source, torch.tensor([fed[:-1]], dtype=torch.long))
    last, found = fed[-1], list[int]()
    while len(found) < N_WRITTEN:
        step = model.step(state, torch.tensor([last]))
        step.logits[:, [*special.unwritten]] = -torch.inf
        state, last = step.state, int(step.logits.argmax())
        found.append(last)
        if last == special.end:
            break
    return found


def opened(folder: Path, run: Path, source: str, target: str) -> Both:
    """A folder in both programs."""
    import transformers

    model_type = str(read_json(folder / CONFIG).get("model_type"))
    if model_type not in WAYS:
        raise SystemExit(f"{folder}: model_type is one of {', '.join(WAYS)}; got {model_type}.")
    way = WAYS[model_type]
    languages = {"source_language": source, "target_language": target}
    many = model_type == "m2m_100"
    importer = brought(objects_of("import")[way.kind], f"import {way.kind}", way.kind)
    importer(folder, run, print, **(languages if many else {}))
    found = open_run(task_spec(task_of(open_folder(run).settings())), run, device="cpu")
    model = getattr(transformers, way.opener).from_pretrained(folder, local_files_only=True)
    further = {"src_lang": source, "tgt_lang": target} if many else {}
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True, **further)
    language = found.vocabulary.languages.ids[target] if many else None
    return Both(model_type, found, model.float().eval(), tokenizer, language)


@torch.inference_mode()
def compared(both: Both, sentences: Sequence[str]) -> dict[str, Any]:
    """The figures of one folder, and what was written."""
    n_ids, most, same, shown = 0, 0.0, 0, []
    for i, text in enumerate(sentences):
        n_ids += both.own_ids(text) == list(both.tokenizer(text).input_ids)
        ours, theirs = both.log_probs([text, sentences[i - 1]])
        theirs = theirs[..., : ours.shape[-1]]
        most = max(most, (ours.log_softmax(-1) - theirs.log_softmax(-1)).abs().max().item())
        written, other = both.outputs(text)
        same += written == other[: len(written)]
        decode = both.opened.vocabulary.decode
        shown.append(
            f"  {text}\n    headway:      {decode(written)}\n    transformers: {decode(other)}"
        )
    print("\n".join(shown))
    return {"sentences": len(sentences), "same_ids": n_ids, "same_outputs": same, "nats": most}


def main() -> int:
    """Print what both say of each folder, and a row for each."""
    options = record.parser(__doc__)
    options.add_argument("folders", type=Path, nargs="+", metavar="DIR")
    options.add_argument("--source-language", default="en", help="of M2M-100; eng_Latn of NLLB")
    options.add_argument("--target-language", default="fr", help="of M2M-100; fra_Latn of NLLB")
    options.add_argument("--sentences", type=Path, help="one a line, in place of our own")
    record.add_record_option(options)
    told = options.parse_args()
    sentences = SENTENCES
    if told.sentences:
        sentences = told.sentences.read_text(encoding="utf-8").splitlines()
    rows = {}
    for folder in told.folders:
        with tempfile.TemporaryDirectory() as place:
            run = Path(place, "run")
            both = opened(folder, run, told.source_language, told.target_language)
            rows[str(folder)] = compared(both, sentences)
    print(
        "| folder | sentences | same ids | same outputs | most nats apart |\n|---|---|---|---|---|"
    )
    for name, row in rows.items():
        print(f"| {name} | {' | '.join(format(value, '.3g') for value in row.values())} |")
    record.write(told.record, "real_checkpoints", seeds=[], figures={"rows": rows})
    good = (
        row["sentences"] == row["same_ids"] == row["same_outputs"] and row["nats"] <= MOST
        for row in rows.values()
    )
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
