"""Greedy search; beam search (Graves 2012; Sutskever et al. 2014) with GNMT's length penalty."""

from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.core.hypothesis import Hypothesis, Rules, penalty, ranked, scored
from headway.core.interfaces import State, StepDecoder

Chosen = tuple[Float[Tensor, "sentences count"], Int[Tensor, "sentences count"]]
Choose = Callable[[Tensor, Tensor, int], Chosen]
"""`best`, or what gives just the same."""


def best(
    scores: Float[Tensor, "rows tokens"], before: Float[Tensor, "sentences width"], count: int
) -> Chosen:
    """The `count` highest sums of what a row had before and a token's score, highest first.

    With each goes its place among the `width` * `tokens` of its sentence; among equals the earlier
    place comes first. There are fewer where there are fewer places.
    """
    return first_best((before.view(-1, 1) + scores).view(len(before), -1), count)


def first_best(scores: Float[Tensor, "rows places"], count: int) -> Chosen:
    """By top-k, and where there are equals, whose order that leaves open, by a stable sort."""
    values, places = scores.topk(min(count + 1, scores.shape[1]), dim=1)
    if (values[:, 1:] == values[:, :-1]).any():
        values, places = scores.sort(dim=1, descending=True, stable=True)
    return values[:, :count], places[:, :count]


def normalize_(logits: Float[Tensor, "rows vocabulary"]) -> None:
    """Make log-probabilities of them, in place; on a CPU a few rows at a time, for its cache."""
    for piece in [logits] if logits.is_cuda else logits.split(16):
        piece.sub_(piece.logsumexp(1, keepdim=True))


def worth_leaving(n_going_on: int, n_rows: int) -> bool:
    """Whether those that are done should leave the batch: to move the others costs time too, so
    until an eighth is done all are carried along, and what the done ones write is not looked at."""
    return 8 * (n_rows - n_going_on) >= n_rows


def permit_(
    logits: Float[Tensor, "rows vocabulary"],
    rules: Rules,
    limits: Int[Tensor, " rows"],
    n_written: int,
) -> None:
    """Set to -inf, in place, whatever may not follow `n_written` tokens: what is never written, and
    for a row that reaches its limit everything but the end marker.

    That keeps the log-probability that the model gives to it: nothing is renormalized.
    """
    if (must_end := limits <= n_written).any():
        end_logits = logits[:, rules.end].clone()
        logits.masked_fill_(must_end.unsqueeze(1), -torch.inf)
        logits[:, rules.end] = end_logits
    for token in rules.forbidden:
        logits[:, token] = -torch.inf


class Choices(NamedTuple):
    """Those of one step."""

    parents: Int[Tensor, " choices"]
    """The choice of the step before that each continues; at the first step they mean nothing."""
    tokens: Int[Tensor, " choices"]
    log_probs: Float[Tensor, " choices"]
    attention: Float[Tensor, "choices source"] | None


class Trace:
    """Every choice of a search, step by step; hypotheses are read from it backwards, at the end."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.choices: list[Choices] = []

    def read(
        self, steps: Int[Tensor, " found"], choices: Int[Tensor, " found"]
    ) -> list[Hypothesis]:
        """The hypotheses whose end markers are these `choices` of these `steps` (from 0).

        Raises `HeadwayError` if one has no finite log-probability.
        """
        if not steps.numel():
            return []
        tokens, log_probs, attention = [], [], []
        for step in reversed(range(int(steps.max()) + 1)):
            made = self.choices[step]
            here = torch.where(steps >= step, choices, 0)  # 0: anything, it is cut off below
            tokens.append(made.tokens[here])
            log_probs.append(made.log_probs[here])
            if made.attention is not None:
                attention.append(made.attention[here])
            choices = torch.where(steps >= step, made.parents[here], choices)
        all_tokens = torch.stack(tokens[::-1], 1).tolist()
        all_log_probs = torch.stack(log_probs[::-1], 1).tolist()
        maps = torch.stack(attention[::-1], 1).float().cpu() if attention else None
        found = []
        for i, last in enumerate(steps.tolist()):
            weights = None if maps is None else maps[i, : last + 1].clone()
            ids, token_log_probs = all_tokens[i][:last], all_log_probs[i][: last + 1]
            found.append(scored(ids, token_log_probs, self.rules, weights))
        return found


def greedy(
    decoder: StepDecoder,
    state: State,
    last: Int[Tensor, " batch"],
    rules: Rules,
    choose: Choose = best,
) -> list[list[Hypothesis]]:
    """One hypothesis for each sentence: always the most likely next token, as a beam of 1 would.

    Among equals it is the one with the lowest id.
    """

    def most_likely(scores: Tensor) -> Tensor:
        return choose(scores, scores.new_zeros(len(scores), 1), 1)[1].squeeze(1)

    return [[one] for one in roll_out(decoder, state, last, rules, most_likely)]


@torch.no_grad()
def roll_out(
    decoder: StepDecoder,
    state: State,
    last: Int[Tensor, " rows"],
    rules: Rules,
    choose: Callable[[Float[Tensor, "rows vocabulary"]], Int[Tensor, " rows"]],
) -> list[Hypothesis]:
    """A hypothesis for each row; those that have ended leave the batch.

    `choose` picks each row's next token from scores that are -inf where a token may not come.
    """
    if not len(last):
        return []
    written = torch.arange(len(last), device=last.device)  # the hypothesis that each row writes
    last_step = torch.full_like(written, -1)  # for each hypothesis: where its end marker is
    last_choice = torch.zeros_like(written)
    parents, trace, n_written = written, Trace(rules), 0
    while True:
        scores, state, attention = decoder.step(state, last, rules.want_attention)
        if rules.want_scores:
            normalize_(scores)
        permit_(scores, rules, rules.max_lengths[written], n_written)
        last = choose(scores)
        log_probs = scores.gather(1, last.unsqueeze(1)).squeeze(1)
        trace.choices.append(Choices(parents, last, log_probs, attention))

        ending = ((last == rules.end) & (last_step[written] < 0)).nonzero().squeeze(1)
        last_step[written[ending]] = n_written
        last_choice[written[ending]] = ending
        going_on = (last_step[written] < 0).nonzero().squeeze(1)
        if not len(going_on):
            return trace.read(last_step, last_choice)
        parents = torch.arange(len(written), device=written.device)
        if worth_leaving(len(going_on), len(written)):
            state, parents = state.select(going_on), going_on
            last, written = last[going_on], written[going_on]
        n_written += 1


@torch.no_grad()
def beam_search(
    decoder: StepDecoder,
    state: State,
    last: Int[Tensor, " batch"],
    rules: Rules,
    choose: Choose = best,
) -> list[list[Hypothesis]]:
    """The `n_best` hypotheses of highest score for each sentence, best first.

    At every step the `beam` most likely continuations of a sentence's live hypotheses are kept;
    those that end in the end marker are finished, the others live on. A sentence is done when no
    live hypothesis can still beat its `n_best`-th finished one. Among equally likely continuations
    that of the better hypothesis comes first, and of one hypothesis that with the lower id.
    """
    max_lengths, settings = rules.max_lengths, rules.settings
    n_sentences, device = max_lengths.numel(), max_lengths.device
    if not n_sentences:
        return []
    trace, finished = Trace(rules), Finished(n_sentences, settings.n_best, device)
    divisor = partial(penalty, alpha=settings.length_penalty)

    sentence = torch.arange(n_sentences, device=device)  # [live]: the sentences not yet done
    total = torch.zeros(n_sentences, 1, device=device)  # [live, width]: log-probabilities
    parents = sentence  # [live * width] = [rows]: the choice of the step before it continues
    n_written = 0
    while True:
        width = total.size(1)
        limits = max_lengths[sentence]
        scores, after, attention = decoder.step(state, last, rules.want_attention)
        normalize_(scores)
        permit_(scores, rules, limits.repeat_interleave(width), n_written)
        total, place = choose(scores, total, settings.beam)  # all of [live, new width]
        first_row = torch.arange(len(total), device=device).unsqueeze(1) * width
        row, token = first_row + place // scores.size(1), place % scores.size(1)
        looked = None if attention is None else attention[row.flatten()]
        log_probs = scores[row, token].flatten()
        trace.choices.append(Choices(parents[row.flatten()], token.flatten(), log_probs, looked))
        n_written += 1

        ended = token == rules.end
        final = (total / divisor(n_written)).masked_fill(~ended, -torch.inf)
        finished.add(sentence, final, step=n_written - 1)
        total = total.masked_fill(ended, -torch.inf)
        # Log-probabilities only fall, and the penalty is largest at the limit (+ end marker).
        reachable = total.amax(dim=1) / divisor(limits + 1)
        going_on = (reachable > finished.worst(sentence)).nonzero().squeeze(1)
        if not len(going_on):
            return finished.read(trace)

        choices = torch.arange(token.numel(), device=device).view_as(token)
        if worth_leaving(len(going_on), len(sentence)):
            sentence, total = sentence[going_on], total[going_on]
            row, token, choices = row[going_on], token[going_on], choices[going_on]
        unmoved = row.numel() == len(parents) and bool((row.flatten().diff() == 1).all())
        state = after if unmoved else after.select(row.flatten())
        parents, last = choices.flatten(), token.flatten()


class Finished:
    """The `n_best` finished hypotheses of each sentence so far, as places in the trace."""

    def __init__(self, n_sentences: int, n_best: int, device: torch.device):
        places = torch.zeros(n_sentences, n_best, dtype=torch.long, device=device)
        self.scores = torch.full((n_sentences, n_best), -torch.inf, device=device)
        self.steps, self.choices = places, places.clone()

    def add(
        self, sentence: Int[Tensor, " live"], scores: Float[Tensor, "live width"], step: int
    ) -> None:
        """Offer the choices of one step; those that did not end have score -inf."""
        choices = torch.arange(scores.numel(), device=scores.device).view_as(scores)
        kept = (self.scores, self.steps, self.choices)
        offered = (scores, torch.full_like(choices, step), choices)
        both = [torch.cat([a[sentence], b], dim=1) for a, b in zip(kept, offered, strict=True)]
        # A stable sort: among equals the one found first stays ahead.
        order = both[0].sort(dim=1, descending=True, stable=True).indices[:, : kept[0].size(1)]
        for old, new in zip(kept, both, strict=True):
            old[sentence] = new.gather(1, order)

    def worst(self, sentence: Int[Tensor, " live"]) -> Float[Tensor, " live"]:
        """The `n_best`-th score of these sentences; -inf while there are fewer."""
        return self.scores[sentence, -1]

    def read(self, trace: Trace) -> list[list[Hypothesis]]:
        """For each sentence its hypotheses, best first."""
        exists = self.scores > -torch.inf
        found = iter(trace.read(self.steps[exists], self.choices[exists]))
        return [ranked(islice(found, n)) for n in exists.sum(dim=1).tolist()]
