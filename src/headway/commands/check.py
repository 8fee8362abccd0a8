"""`headway check`: is a run folder still as headway wrote it?"""

from pathlib import Path


def check(run: Path, /, *, accept: bool = False, measure: bool = False, json: bool = False) -> int:
    """Compare every file of a run with its checksum, and say what can be done where one is damaged.

    Without --accept and --measure nothing is changed. Nothing is asked of the network. Exit status
    2 if something is damaged.

    Parameters
    ----------
    run
        The run folder; one that was published without its checkpoints will do.
    accept
        Take config.toml, and the files that it has checksums of (vocabulary, glossary, checks), for
        right as they are now, after a change by hand.
    measure
        Write checks.json for a translator that has none: read its training and validation text
        again, and measure how long texts and translations are and how far it is to be trusted.
    json
        One object on stdout: `{"files": [{"name", "state", "note"}]}`.
    """
    from headway.commands.arguments import print_json, say
    from headway.operations.shipped import refuse_shipped
    from headway.runs.checking import accept as accept_changes
    from headway.runs.checking import check_run

    if accept or measure:
        refuse_shipped(run)
    if accept:
        accept_changes(run, say)
    if measure:
        from headway.tasks import brought_by_run

        brought_by_run(run, "check --measure")(run, say)
    found = list(check_run(run))
    if json:
        print_json({"files": [one._asdict() for one in found]})
    else:
        for name, state, note in found:
            print(f"{state:8} {name}{f': {note}' if note else ''}")
        n_damaged = sum(one.state == "damaged" for one in found)
        print(f"{len(found) - n_damaged} of {len(found)} are whole or cannot be compared")
    return 2 if any(one.state == "damaged" for one in found) else 0
