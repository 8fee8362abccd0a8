/* Which continuations of a sentence's hypotheses live on: the likeliest, and where its output must
   hold something, those that lead there. The second is `headway/decoding/constrained.py` again. */
#ifndef HEADWAY_STEERING_H
#define HEADWAY_STEERING_H

#include "constraints.h"
#include "vocabulary.h"

#define UNLIKELIER 2.0 /* as in `headway/decoding/candidates.py` */

typedef struct {
    float total, log_prob;
    int32_t token;
    int64_t row; /* among the live hypotheses of the sentence */
} continuation;

/* The beam's best continuations of the live hypotheses of a slot, whose rows begin at `first`. */
static int64_t best_continuations(const job *j, const workspace *w, const slot *s, int64_t first,
                                  continuation *best) {
    int64_t n = 0;
    for (int64_t row = 0; row < s->n_live; row++) {
        const int64_t r = first + row;
        const float scale = j->want_scores ? w->most[r] + logf(w->sum[r]) : 0.0f;
        const candidate end = {w->end_logit[r], (int32_t)j->end};
        const int must_end = s->n_written >= s->limit;
        const candidate *from = must_end ? &end : w->best + r * j->beam;
        for (int64_t c = 0; c < (must_end ? 1 : j->beam); c++) {
            const float log_prob = from[c].value - scale, total = s->total[row] + log_prob;
            if (!(total > -INFINITY) || from[c].token < 0) break;
            if (n == j->beam && !(total > best[n - 1].total)) break; /* the next ones are less */
            int64_t place = n < j->beam ? n++ : n - 1;
            for (; place > 0 && total > best[place - 1].total; place--) best[place] = best[place - 1];
            best[place] = (continuation){total, log_prob, from[c].token, row};
        }
    }
    return n;
}

static written *written_of(const job *j, const workspace *w, int64_t number, int64_t row) {
    return w->written + number * j->beam + row;
}

/* A new sentence has written nothing. */
static void ask(const job *j, workspace *w, int64_t number) {
    int64_t n;
    const asked *some = asked_of(j, w->slots[number].sentence, &n);
    written *h = written_of(j, w, number, 0);
    h->begun.n = 0;
    for (int64_t i = 0; i < n; i++) h->things[i] = (progress){0, some[i].times};
    h->n_missing = missing(j, some, n, h, w->ways);
}

static void add_onward(const job *j, workspace *w, int64_t r, int32_t token) {
    int32_t *tokens = w->onward + r * j->most_onward;
    int32_t n = w->n_onward[r];
    for (int32_t i = 0; i < n; i++)
        if (tokens[i] == token) return;
    w->onward_logits[r * j->most_onward + n] = -INFINITY;
    tokens[n] = token;
    w->n_onward[r]++;
}

/* Of each live hypothesis of a slot: whether it may end, and the tokens that begin, or go on with,
   something that it lacks. */
static void wish(const job *j, workspace *w, int64_t number, int64_t first) {
    int64_t n;
    const asked *some = asked_of(j, w->slots[number].sentence, &n);
    for (int64_t row = 0; row < w->slots[number].n_live; row++) {
        const written *h = written_of(j, w, number, row);
        w->n_onward[first + row] = 0;
        w->closed[first + row] = n && h->n_missing;
        const int64_t n_ways = n ? ways_on(j, some, n, h, w->ways) : 0;
        for (int64_t k = 0; k < n_ways; k++) {
            const thing *t = j->things + some[w->ways[k].number].thing;
            const int32_t place = w->ways[k].place;
            for (int32_t i = t->first_token[place]; i < t->first_token[place + 1]; i++)
                add_onward(j, w, first + row, t->tokens[i]);
        }
    }
}

/* What a live hypothesis of a slot may be continued with, leaving room for what it lacks. */
static int64_t offers_of(const job *j, workspace *w, int64_t number, int64_t first, int64_t row,
                         offer *offers) {
    const slot *s = w->slots + number;
    int64_t n, n_offers = 0;
    const asked *some = asked_of(j, s->sentence, &n);
    const written *before = written_of(j, w, number, row);
    written *after = w->chosen;
    const int64_t r = first + row, n_onward = w->n_onward[r];
    const float scale = w->most[r] + logf(w->sum[r]);
    const candidate *best = w->best + r * j->beam;
    for (int64_t c = 0; c < j->beam + n_onward + 1; c++) {
        candidate one = {w->end_logit[r], (int32_t)j->end};
        if (c < j->beam)
            one = best[c];
        else if (c < j->beam + n_onward)
            one = (candidate){w->onward_logits[r * j->most_onward + c - j->beam],
                              w->onward[r * j->most_onward + c - j->beam]};
        else if (before->n_missing)
            break; /* it may not end */
        int known = !(one.value > -INFINITY) || one.token < 0;
        for (int64_t b = 0; c >= j->beam && b < j->beam; b++) known |= best[b].token == one.token;
        if (known) continue;
        offer *o = offers + n_offers;
        *o = (offer){.log_prob = one.value - scale, .token = one.token, .row = row};
        o->total = (double)s->total[row] + o->log_prob;
        if (!(o->total > -INFINITY)) continue; /* by what is no number nothing can be ordered */
        if (one.token != j->end) {
            read_token(j, some, n, one.token, before, after, w->points);
            o->n_missing = missing(j, some, n, after, w->ways);
            if (o->n_missing >= s->limit - s->n_written) continue;
        }
        n_offers++;
    }
    return n_offers;
}

/* The higher total first; of equals the better hypothesis, then the lower token. */
static int by_total(const void *one, const void *other) {
    const offer *a = one, *b = other;
    if (a->total != b->total) return a->total > b->total ? -1 : 1;
    if (a->row != b->row) return a->row < b->row ? -1 : 1;
    return a->token < b->token ? -1 : a->token > b->token;
}

/* At most `count` of sorted offers: as many of each number of missing tokens as can be; where there
   are more numbers than places, those with the best prospects. */
static int64_t shared_out(offer *offers, int64_t n, int64_t count, continuation *best) {
    for (int64_t c = 0; c < n; c++) { /* how many that lack as much are better? */
        offers[c].depth = 0;
        for (int64_t d = 0; d < c; d++) offers[c].depth += offers[d].n_missing == offers[c].n_missing;
    }
    for (int64_t c = 0; c < n; c++) {
        int64_t lead = 0, rank = 0;
        while (offers[lead].n_missing != offers[c].n_missing) lead++;
        const double ours = UNLIKELIER * (double)offers[lead].n_missing - offers[lead].total;
        for (int64_t d = 0; d < n; d++) {
            if (offers[d].depth) continue;
            const double theirs = UNLIKELIER * (double)offers[d].n_missing - offers[d].total;
            rank += theirs < ours || (theirs == ours && d < lead);
        }
        offers[c].turn = offers[c].depth * n + rank;
    }
    int64_t n_kept = 0;
    for (int64_t c = 0; c < n && n_kept < count; c++) {
        int64_t before = 0;
        for (int64_t d = 0; d < n; d++) before += offers[d].turn < offers[c].turn;
        if (before < count)
            best[n_kept++] = (continuation){(float)offers[c].total, offers[c].log_prob,
                                            offers[c].token, offers[c].row};
    }
    return n_kept;
}

/* Whether hypotheses that lack nothing go on to lack nothing: then there is nothing to steer. */
static int stays_complete(const job *j, workspace *w, int64_t number, const continuation *best,
                          int64_t n_best) {
    int64_t n;
    const asked *some = asked_of(j, w->slots[number].sentence, &n);
    for (int64_t row = 0; row < w->slots[number].n_live; row++)
        if (written_of(j, w, number, row)->n_missing) return 0;
    for (int64_t c = 0; c < n_best; c++) {
        if (best[c].token == j->end) continue;
        const written *before = written_of(j, w, number, best[c].row);
        read_token(j, some, n, best[c].token, before, w->chosen, w->points);
        if (missing(j, some, n, w->chosen, w->ways)) return 0;
    }
    return 1;
}

/* The continuations that live on, best first. */
static int64_t continued(const job *j, workspace *w, int64_t number, int64_t first,
                         continuation *best) {
    const slot *s = w->slots + number;
    int64_t n_asked, n_offers = 0;
    asked_of(j, s->sentence, &n_asked);
    const int64_t n = best_continuations(j, w, s, first, best);
    if (!n_asked || s->n_written >= s->limit || stays_complete(j, w, number, best, n)) return n;
    for (int64_t row = 0; row < s->n_live; row++)
        n_offers += offers_of(j, w, number, first, row, w->offers + n_offers);
    qsort(w->offers, (size_t)n_offers, sizeof(offer), by_total);
    return shared_out(w->offers, n_offers, j->beam, best);
}

/* The hypothesis in a row goes on with a token, as the live one at `place` of the next step. */
static void go_on(const job *j, workspace *w, int64_t number, int64_t row, int32_t token,
                  int64_t place) {
    int64_t n;
    const asked *some = asked_of(j, w->slots[number].sentence, &n);
    if (!n) return;
    written *after = w->chosen + place;
    read_token(j, some, n, token, written_of(j, w, number, row), after, w->points);
    after->n_missing = missing(j, some, n, after, w->ways);
}

/* What was chosen takes the place of what was before. */
static void take_over(const job *j, workspace *w, int64_t number, int64_t n_live) {
    for (int64_t place = 0; j->things && place < n_live; place++) {
        written *old = written_of(j, w, number, place), kept = *old;
        *old = w->chosen[place];
        w->chosen[place] = kept;
    }
}

#endif
