"""Last stage: what was read, kept and dropped over all units, what a sample of the pairs shows."""

import json
import shlex
import shutil
from dataclasses import asdict, replace
from typing import Any

from headway.core.cleaning import Report, refuse_unusable
from headway.core.disk import digest, write_text
from headway.corpora.cache import read_sealed
from headway.corpora.cleaned import CleanedCorpus
from headway.corpora.corpus import directions, languages
from headway.corpora.pieces import add_report, move_to_dropped, report_from
from headway.corpora.sharded import PREPARED
from headway.doctor.examination import Tools, examine
from headway.doctor.findings import dropped, mended
from headway.doctor.report import report_lines
from headway.languages.detection import detect
from headway.large_corpora.learn_subwords import learned, sampled
from headway.large_corpora.plan import ShardPlan


def finish(plan: ShardPlan) -> None:
    """Write report.json, report.txt and prepared.json, with which training begins; remove the work.

    Raises:
        DataError: too little is left to train on.
    """
    cleaned, report, shards, sums = sampled(plan), Report(), [], {}
    for unit in plan.units:
        content = read_sealed(plan.shard(unit.number), only=())
        sample = read_sealed(plan.place("sample", unit.number), only=())
        of_unit = report_from(sample["report"])
        move_to_dropped(of_unit, report_from(content["dropped"]))
        add_report(report, of_unit)
        sums.update(plan.known(unit.number)["sha256"])
        told = {key: content[key] for key in ("n_rows", "n_tokens", "longest", "unknown")}
        file = plan.corpus.parts[unit.part].name
        shards.append({**told, "file": file, "digest": digest(content)})
    refuse_unusable(report)
    valid = read_sealed(plan.directory / "valid", only=())
    valid_report = cleaned.reports["valid"]
    move_to_dropped(valid_report, report_from(valid["dropped"]))
    texts = learned(plan)
    source, target = languages(plan.corpus)
    known = {
        "format": PREPARED,
        "source_language": source,
        "target_language": target,
        "languages": directions(plan.corpus),
        "codes": texts.codes,
        "text": {**asdict(plan.text), "vocabulary_size": len(texts.subwords)},
        "data": json.loads((plan.directory / "plan.json").read_text("utf-8"))["data"],
        "tokenizer": texts.subwords.fingerprint(),
        "valid": digest(valid),
        "shards": shards,
        "report": report.as_dict(),
        "valid_report": valid_report.as_dict(),
        "sha256": sums,
    }
    found = {**report.as_dict(), **_found_in_sample(cleaned, report, known)}
    command = f"headway train --prepared {shlex.quote(str(plan.directory))} --out RUN"
    found |= {"valid": known["valid_report"], "next": f"Next: {command}"}
    write_text(plan.directory / "report.txt", in_words(found))
    write_text(plan.directory / "report.json", json.dumps(found, ensure_ascii=False))
    write_text(plan.finished, json.dumps(known, ensure_ascii=False))
    plan.sweep()
    shutil.rmtree(plan.work, ignore_errors=True)


def _found_in_sample(
    cleaned: CleanedCorpus, report: Report, known: dict[str, Any]
) -> dict[str, Any]:
    """What the doctor finds in the pairs that sub-words are learned from."""
    n_sampled = sum(piece.n_kept for piece in cleaned.pieces["train"])
    alone = replace(cleaned, reports={**cleaned.reports, "train": Report(n_sampled, n_sampled)})
    named = known["source_language"], known["target_language"]
    examination = examine(alone, *named, Tools(detect=detect), directions=known["languages"])
    findings = [*examination.findings, *dropped(report), *mended(report)]
    return {
        "source_language": named[0],
        "target_language": named[1],
        "problems": [],
        "serious": [one.title for one in findings if one.serious],
        "findings": [finding.as_dict() for finding in findings],
        "lengths": examination.sizes.summary(),
        "scripts": examination.scripts,
        "languages": examination.languages,
        "n_sampled": examination.n_sampled,
        "n_examined": n_sampled,
    }


def in_words(found: dict[str, Any]) -> str:
    """The report for people."""
    lines = list(report_lines(found))
    if found["n_examined"] < found["kept"]:
        lines.insert(
            1,
            f"what is told of texts below was found in a fair sample of {found['n_examined']:,} "
            "pairs; what was dropped and mended was counted in all",
        )
    return "\n".join(lines) + "\n"
