"""The README.md of a run folder: what the model is, learned from, scores, and how to use it."""

from headway import runtime as machine
from headway.runs.kind import Learned, Run
from headway.training.run_folder import RunFolder


def write_card(run: Run, learned: Learned, n_parameters: int) -> None:
    """Score the model, write the card, and say what is next."""
    words = run.kind.card(run)
    checksums = "\n".join(
        f"- `{name}` (sha256 {sum_})" for name, sum_ in run.data.checksums.items()
    )
    about = "\n".join(f"- {key}: {value}" for key, value in machine.machine().items())
    commands = "\n".join(words.next_commands)
    run.folder.write_card(
        f"""# {words.title}, trained with headway

A {run.settings.model_type} of {n_parameters:,} parameters and {words.vocabulary};
every setting is in `config.toml`. The weights are {learned.weights}.{origin(run.folder)}

## Scores

{words.scores}

## Data

{words.data}

{checksums}

## Training

{learned.training}

{about}

## Use

```
{commands}
```
"""
    )
    run.say("")
    run.say("next:")
    for command in words.next_commands:
        run.say(f"  {command}")


def origin(folder: RunFolder) -> str:
    """Which run the model began with, and how good that was; nothing if it began with none."""
    parent = folder.record().get("parent")
    if not parent:
        return ""
    name, score = folder.first_score()
    return f"""
It began with the weights of `{parent["run"]}` (sha256 {parent["sha256"]}),
whose {name.upper()} on the validation data was {score:.2f}."""
