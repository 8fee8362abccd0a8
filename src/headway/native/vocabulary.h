/* The product with the vocabulary, a chunk of columns at a time: what is wanted of a row, its
   log-sum-exp and its best tokens, is gathered while the chunk is near, and no row of logits is
   ever whole. */
#ifndef HEADWAY_VOCABULARY_H
#define HEADWAY_VOCABULARY_H

#include "workspace.h"

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

/* Of `rows` rows of features the best tokens that may be written, by logit; `most` and `sum` make
   the logarithm of the sum of all exponentials. */
static void read_vocabulary(const model *m, const job *j, workspace *w, int64_t rows,
                            const float *features) {
    const matrix *v = &m->vocabulary;
    const operand read = operand_for(v, rows, features, m->width, &w->rounded);
    for (int64_t r = 0; r < rows; r++) {
        w->most[r] = -INFINITY;
        w->sum[r] = 0;
        for (int64_t i = 0; i < j->beam; i++) w->best[r * j->beam + i] = (candidate){-INFINITY, -1};
    }
    for (int64_t n = 0; n < v->outputs; n += CHUNK) {
        const int64_t columns = v->outputs - n < CHUNK ? v->outputs - n : CHUNK;
        for (int64_t p = 0; p < columns; p += PANEL)
            panel_product(v, n + p, &read, rows, w->logits + p, CHUNK);
        for (int64_t r = 0; r < rows; r++) {
            float *logits = w->logits + r * CHUNK, highest = chunk_maximum(logits, columns);
            if (j->want_scores) {
                if (highest > w->most[r]) {
                    w->sum[r] *= expf(w->most[r] - highest); /* at first 0 */
                    w->most[r] = highest;
                }
                const float most = w->most[r];
                vec sums = {0};
                for (int64_t i = 0; i < columns; i += WIDTH)
                    sums += exponential(load(logits + i) - most);
                w->sum[r] += sum_of(sums);
            }
            if (j->end >= n && j->end < n + columns) w->end_logit[r] = logits[j->end - n];
            int hidden = 0;
            for (int64_t f = 0; f < j->n_forbidden; f++)
                if (j->forbidden[f] >= n && j->forbidden[f] < n + columns) {
                    logits[j->forbidden[f] - n] = -INFINITY;
                    hidden = 1;
                }
            if (hidden) highest = chunk_maximum(logits, columns);
            candidate *best = w->best + r * j->beam;
            if (highest > best[j->beam - 1].value)
                for (int64_t i = 0; i < columns; i++)
                    if (logits[i] > best[j->beam - 1].value)
                        keep(best, j->beam, logits[i], (int32_t)(n + i));
        }
    }
}

#endif
