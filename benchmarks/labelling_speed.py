"""Training speed and memory of classification and tagging beside Hugging Face's Trainer.

    python benchmarks/labelling_speed.py --data DIR [--rounds 3] [--updates 60]

Both train an encoder of the same shape (post-norm, GELU, learned positions; there
BertForSequenceClassification and BertForTokenClassification) on the same ids of SST-2 and of
WikiANN, in batches of as many examples, sorted by length, with a linear head and the same threads;
processes of their own, by turns. The Trainer has its defaults otherwise (fp32), and its bf16 beside
them; headway its own (bf16 where the processor has it), and fp32 beside them. Examples a second are
those of all updates but the first twenty; memory is the largest of the process. Needs
`transformers` and `accelerate`.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import mean, median
from typing import Any

import record

SHAPE = {"layers": 4, "d_model": 256, "d_ff": 1024, "heads": 4}
FIRST = 20
"""Updates that are not timed."""
BATCH_TOKENS = 4096
FILES = {
    "classification": ("cls/sst2/train.tsv", "cls/sst2/valid.tsv"),
    "tagging": ("ner/wikiann-en/train.conll.gz", "ner/wikiann-en/valid.conll"),
}


def by_headway(task: str, told: Any, out: Path, n_updates: int, precision: str) -> None:
    """`headway train` with the shape."""
    shape = [f"--model.{key.replace('_', '-')}={value}" for key, value in SHAPE.items()]
    corpus, valid = (str(told.data / file) for file in FILES[task])
    head = ["--model.head=linear", "--model.spelling=false"] if task == "tagging" else []
    command = [
        sys.executable, "-m", "headway", "train", "--task", task, "--corpus", corpus,
        "--valid-corpus", valid, "--out", str(out), *shape, *head,
        "--model.type=transformer", "--model.norm=post", "--model.positions=learned",
        "--model.dropout=0.1",
        f"--training.batch-tokens={BATCH_TOKENS}",
        f"--training.max-steps={n_updates}", f"--training.checkpoint-every={n_updates}",
        "--training.learning-rate=5e-5", "--training.warmup-steps=10", "--training.average=1",
        f"--runtime.precision={precision}", f"--runtime.threads={told.threads}",
    ]  # fmt: skip
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def speed_of_run(run: Path, n_updates: int) -> float:
    """Examples a second between the first and the last lines of metrics.jsonl."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text("utf-8").splitlines()]
    logged = {line["step"]: line for line in lines if "learning_rate" in line}
    first, last = logged[FIRST], logged[n_updates]
    return (last["examples"] - first["examples"]) / (last["time_s"] - first["time_s"])


def by_trainer(file: Path, n_updates: int, *, bf16: bool, threads: int) -> float:
    """Examples a second of Hugging Face's Trainer on the ids and labels in a file."""
    import torch
    import transformers

    torch.set_num_threads(threads)
    torch.manual_seed(1)
    told = json.loads(file.read_text("utf-8"))
    config = transformers.BertConfig(
        vocab_size=told["n_ids"], hidden_size=SHAPE["d_model"],
        num_hidden_layers=SHAPE["layers"], num_attention_heads=SHAPE["heads"],
        intermediate_size=SHAPE["d_ff"], max_position_embeddings=told["longest"],
        num_labels=told["n_labels"], attention_probs_dropout_prob=0.0, pad_token_id=0,
    )  # fmt: skip
    kind = {
        "classification": transformers.BertForSequenceClassification,
        "tagging": transformers.BertForTokenClassification,
    }[told["task"]]
    rows = [
        {"input_ids": ids, "attention_mask": [1] * len(ids), "labels": label, "length": len(ids)}
        for ids, label in told["rows"]
    ]

    def collated(some: list[dict[str, Any]]) -> dict[str, Any]:
        longest = max(row["length"] for row in some)

        def whole(values: list[int], filling: int) -> list[int]:
            return values + [filling] * (longest - len(values))

        labels = [
            whole(row["labels"], -100) if isinstance(row["labels"], list) else row["labels"]
            for row in some
        ]
        return {
            "input_ids": torch.tensor([whole(row["input_ids"], 0) for row in some]),
            "attention_mask": torch.tensor([whole(row["attention_mask"], 0) for row in some]),
            "labels": torch.tensor(labels),
        }

    ends, seen = list[float](), list[int]()

    class Clock(transformers.TrainerCallback):  # type: ignore[misc, name-defined]
        def on_step_end(self, *_: Any, **__: Any) -> None:
            ends.append(time.perf_counter())

    class Counting(transformers.Trainer):  # type: ignore[misc, name-defined]
        def training_step(self, model: Any, inputs: Any, *more: Any, **how: Any) -> Any:
            seen.append(len(inputs["input_ids"]))
            return super().training_step(model, inputs, *more, **how)

    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            output_dir=folder, per_device_train_batch_size=told["at_once"], max_steps=n_updates,
            learning_rate=5e-5, bf16=bf16, use_cpu=True, save_strategy="no", report_to=[],
            logging_steps=10_000, disable_tqdm=True, dataloader_num_workers=0,
            train_sampling_strategy="group_by_length", length_column_name="length",
            remove_unused_columns=False,
        )  # fmt: skip
        trainer = Counting(
            model=kind(config), args=arguments, train_dataset=rows, data_collator=collated,
            callbacks=[Clock()],
        )  # fmt: skip
        trainer.train()
    return sum(seen[FIRST:]) / (ends[-1] - ends[FIRST - 1])


def ids_of(run: Path, task: str, data: Path, file: Path) -> None:
    """What headway trained on, as ids and labels, for the Trainer."""
    from headway.core.run_folder import RunFolder
    from headway.runs.settings import Settings
    from headway.tasks import task_spec

    spec = task_spec(task)
    settings = Settings.of_run(RunFolder(run), spec)
    found = spec.read(settings, spec.vocabulary(run), lambda _: None)
    rows = [(one.input.tolist(), one.target) for one in found.train]
    if task == "tagging":  # the first piece of a word has its tag
        tags = [dict(zip(map(int, t.starts), map(int, t.tags), strict=True)) for _, t in rows]
        rows = [
            (ids, [of.get(place, -100) for place in range(len(ids))])
            for (ids, _), of in zip(rows, tags, strict=True)
        ]
    whole = {
        "task": task,
        "rows": rows,
        "n_ids": len(found.vocabulary),
        "n_labels": len(found.vocabulary.labels),
        "longest": max(len(ids) for ids, _ in rows),
        "at_once": round(BATCH_TOKENS / mean(len(ids) for ids, _ in rows)),
    }
    file.write_text(json.dumps(whole), "utf-8")


def timed(name: str, task: str, told: Any, folder: Path) -> tuple[float, float]:
    """Examples a second and MB at most of one contestant, as a process of its own."""
    result = folder / "result.json"
    own = [sys.executable, __file__, "--data", str(told.data), "--one", name, "--task", task]
    own += ["--folder", str(folder), "--updates", str(told.updates)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(told.threads)}
    child = subprocess.Popen(
        [*own, "--threads", str(told.threads)], env=environment, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{name} failed")
    found = json.loads(result.read_text("utf-8"))
    return found["speed"], max(usage.ru_maxrss, found["memory"]) / 1024


def one(told: Any) -> None:
    """A contestant, in its own process."""
    import resource

    folder, (program, precision) = told.folder, told.one.split()
    if program == "headway":
        run = folder / f"run-{time.time_ns()}"
        by_headway(told.task, told, run, told.updates, precision)
        speed = speed_of_run(run, told.updates)
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    else:
        file = folder / f"{told.task}.json"
        speed = by_trainer(file, told.updates, bf16=precision == "bf16", threads=told.threads)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (folder / "result.json").write_text(json.dumps({"speed": speed, "memory": memory}), "utf-8")


def main() -> None:
    options = record.parser(__doc__)
    record.add_data_option(options)
    record.add_record_option(options)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--updates", type=int, default=60)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--task", choices=[*FILES], action="append")
    options.add_argument("--one", help=argparse.SUPPRESS)
    options.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    told = options.parse_args()
    if told.one:
        told.task = told.task[0]
        one(told)
        return
    contestants = ("headway auto", "trainer fp32", "headway fp32", "trainer bf16")
    figures: dict[str, Any] = {}
    for task in told.task or FILES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            by_headway(task, told, folder / "ids", 1, "auto")
            ids_of(folder / "ids", task, told.data, folder / f"{task}.json")
            found: dict[str, list[tuple[float, float]]] = {each: [] for each in contestants}
            for _ in range(told.rounds):
                for each in contestants:
                    found[each].append(timed(each, task, told, folder))
        figures[task] = {
            each: {
                "examples_per_s": round(median(speed for speed, _ in some), 1),
                "memory_mb": round(median(memory for _, memory in some)),
            }
            for each, some in found.items()
        }
        ratios = [
            (
                mine,
                other,
                median(a[0] / b[0] for a, b in zip(found[mine], found[other], strict=True)),
            )
            for mine, other in (contestants[:2], contestants[::3], contestants[2:0:-1])
        ]
        figures[task]["ratios"] = {f"{mine} / {other}": round(r, 2) for mine, other, r in ratios}
        print(task, json.dumps(figures[task], indent=1), flush=True)
    record.write(told.record, "labelling_speed", seeds=[1], figures=figures)


if __name__ == "__main__":
    main()
