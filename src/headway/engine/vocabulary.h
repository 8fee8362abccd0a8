/* The product with the vocabulary, a chunk of columns at a time: what is wanted of a row, its
   log-sum-exp and its best tokens, is gathered while the chunk is near, and no row of logits is
   ever whole. */
#ifndef HEADWAY_VOCABULARY_H
#define HEADWAY_VOCABULARY_H

#include "passes.h"

/* Put `value` among the `n` best, highest first; among equals the earlier token stays first. */
INLINE void keep(candidate *best, int64_t n, float value, int32_t token) {
    int64_t place = n - 1;
    for (; place > 0 && value > best[place - 1].value; place--) best[place] = best[place - 1];
    best[place] = (candidate){value, token};
}

INLINE float chunk_maximum(const float *logits, int64_t n) {
    vec most = load(logits);
    for (int64_t i = WIDTH; i < n; i += WIDTH) most = larger(most, load(logits + i));
    return largest_of(most);
}

/* Logits of some tokens for one row, in the order of their ids: of those from `first` on, or of
   `tokens`. */
typedef struct {
    const int32_t *tokens; /* none: all from `first` on */
    int64_t first, n;
} some_tokens;

INLINE int32_t token_at(const some_tokens *some, int64_t i) {
    return some->tokens ? some->tokens[i] : (int32_t)(some->first + i);
}

/* Where a token stands among them; -1 where it does not. */
INLINE int64_t place_of(const some_tokens *some, int32_t token) {
    if (!some->n || token < token_at(some, 0) || token > token_at(some, some->n - 1)) return -1;
    if (!some->tokens) return token - some->first;
    int64_t i = 0;
    while (some->tokens[i] < token) i++;
    return some->tokens[i] == token ? i : -1;
}

/* `logits` go on up to a multiple of WIDTH with numbers that can never be chosen. */
static void gather(const job *j, workspace *w, int64_t r, float *logits, const some_tokens *some) {
    float highest = chunk_maximum(logits, some->n);
    if (j->want_scores) {
        if (highest > w->most[r]) {
            w->sum[r] *= expf(w->most[r] - highest); /* at first 0 */
            w->most[r] = highest;
        }
        const float most = w->most[r] > -INFINITY ? w->most[r] : 0.0f;
        vec sums = {0};
        for (int64_t i = 0; i < some->n; i += WIDTH) sums += exponential(load(logits + i) - most);
        w->sum[r] += sum_of(sums);
    }
    candidate *best = w->best + r * j->beam;
    const int64_t n_written = w->slots[w->row_slot[r]].n_written;
    if (n_written < j->n_beginning) { /* the next token is given */
        const int64_t given = place_of(some, j->beginning[n_written]);
        if (given >= 0) *best = (candidate){logits[given], j->beginning[n_written]};
        return;
    }
    const int64_t end = place_of(some, (int32_t)j->end);
    if (end >= 0) w->end_logit[r] = logits[end];
    int hidden = 0;
    for (int64_t f = 0; f < j->n_forbidden; f++) {
        const int64_t place = place_of(some, j->forbidden[f]);
        if (place < 0) continue;
        logits[place] = -INFINITY;
        hidden = 1;
    }
    if (hidden) highest = chunk_maximum(logits, some->n);
    if (highest > best[j->beam - 1].value)
        for (int64_t i = 0; i < some->n; i++)
            if (logits[i] > best[j->beam - 1].value)
                keep(best, j->beam, logits[i], token_at(some, i));
}

/* The same, with the tokens that the sentence of a slot may have: its live hypotheses are the rows
   from `first` on, and each token's weights are read for all of them while they are near. */
static void read_shortlist(const model *m, const job *j, workspace *w, int64_t number,
                           int64_t first, const float *features) {
    const slot *s = w->slots + number;
    const int32_t *tokens = j->allowed + j->allowed_first[s->sentence];
    const int64_t n_tokens = j->allowed_first[s->sentence + 1] - j->allowed_first[s->sentence];
    for (int64_t n = 0; n < n_tokens; n += CHUNK) {
        const some_tokens some = {tokens + n, 0, n_tokens - n < CHUNK ? n_tokens - n : CHUNK};
        for (int64_t i = 0; i < some.n; i += WIDTH) {
            const float *weights[WIDTH];
            float bias[WIDTH] __attribute__((aligned(4 * WIDTH)));
            for (int k = 0; k < WIDTH; k++) {
                const int there = i + k < some.n;
                const int64_t token = some.tokens[there ? i + k : some.n - 1];
                weights[k] = m->output_rows + token * m->width;
                bias[k] = there ? m->vocabulary.bias[token] : -INFINITY;
            }
            for (int k = 0; k < WIDTH && i + WIDTH + k < some.n; k++)
                fetch(m->output_rows + some.tokens[i + WIDTH + k] * m->width, m->width);
            for (int64_t r = first; r < first + s->n_live; r++) {
                const float *x = features + r * m->width;
                vec products[WIDTH] = {{0}};
                for (int64_t d = 0; d < m->width; d += WIDTH) {
                    const vec one = load(x + d);
#pragma GCC unroll 16
                    for (int k = 0; k < WIDTH; k++) products[k] += one * load(weights[k] + d);
                }
                store(w->logits + r * CHUNK + i, sums_of(products) + load(bias));
            }
        }
        for (int64_t r = first; r < first + s->n_live; r++)
            gather(j, w, r, w->logits + r * CHUNK, &some);
    }
}

/* Of `rows` rows of features the best tokens that may be written, by logit; `most` and `sum` make
   the logarithm of the sum of all exponentials. */
static void read_vocabulary(const model *m, const job *j, workspace *w, int64_t rows,
                            const float *features) {
    const matrix *v = &m->vocabulary;
    for (int64_t r = 0; r < rows; r++) {
        w->most[r] = -INFINITY;
        w->sum[r] = 0;
        for (int64_t i = 0; i < j->beam; i++) w->best[r * j->beam + i] = (candidate){-INFINITY, -1};
    }
    if (j->allowed) {
        for (int64_t r = 0; r < rows; r += w->slots[w->row_slot[r]].n_live)
            read_shortlist(m, j, w, w->row_slot[r], r, features);
        return;
    }
    const operand read = operand_for(v, rows, features, m->width, &w->rounded);
    for (int64_t n = 0; n < v->outputs; n += CHUNK) {
        const int64_t columns = v->outputs - n < CHUNK ? v->outputs - n : CHUNK;
        const some_tokens some = {0, n, columns};
        for (int64_t p = 0; p < columns; p += PANEL)
            panel_product(v, n + p, &read, rows, w->logits + p, CHUNK);
        for (int64_t r = 0; r < rows; r++) gather(j, w, r, w->logits + r * CHUNK, &some);
    }
}

#endif
