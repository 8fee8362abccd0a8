"""What a flow asks of a run's checks."""

from headway.text.accelerators import bare, unmarked
from headway.text.checks.checker import Checker
from headway.text.checks.signs import Reading
from headway.text.formats.branches import is_choice
from headway.text.units import Outcome
from headway.workflow.interfaces import Judgement
from headway.workflow.ranking import chosen


class RunChecks:
    """Checks of a run, for the outcomes of a flow: a `headway.workflow.interfaces.Checks`.

    Coverage is looked at where the translator was asked for alignments.
    """

    def __init__(self, checker: Checker) -> None:
        self.checker = checker

    def judge(self, outcome: Outcome) -> Judgement:
        """Flags of any translation; a confidence of what the model wrote."""
        if outcome.segment is None:
            return Judgement((), None)
        readings = [
            Reading(part.source_tokens, best.token_log_probs, best.attended)
            for piece in outcome.evidence
            for part in piece.translated.parts
            for best in part.n_best[piece.picked :][:1]
        ]
        sign = outcome.unit.accelerator
        source = bare(outcome.unit.source, sign).segment.text
        target = unmarked(outcome.segment, sign).text
        if outcome.evidence and is_choice(outcome.unit.source):  # names and keywords are no copies
            source = " ".join(piece.source.text for piece in outcome.evidence)
            target = " ".join(chosen(piece).text for piece in outcome.evidence)
        return Judgement(*self.checker.look(source, target, readings))
