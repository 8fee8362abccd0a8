/* Translation of many sentences by one thread: those that are done leave, others take their place.

   The search is that of `headway/core/beam.py`, step by step; greedy search is a beam of 1. */
#include <errno.h>
#include <unistd.h>

#include "layers.h"

/* The product with the vocabulary, a chunk of columns at a time: what is wanted of a row, its
   log-sum-exp and its best tokens, is gathered while the chunk is near, and no row of logits is
   ever whole. */

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

/* More logits of a row, in its sum of exponentials. */
INLINE void weigh(workspace *w, int64_t r, float highest, const float *logits, int64_t n) {
    if (highest > w->most[r]) {
        w->sum[r] *= expf(w->most[r] - highest); /* at first 0 */
        w->most[r] = highest;
    }
    const float most = w->most[r] > -INFINITY ? w->most[r] : 0.0f;
    vec sums = {0};
    for (int64_t i = 0; i < n; i += WIDTH) sums += exponential(load(logits + i) - most);
    w->sum[r] += sum_of(sums);
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
    if (j->want_scores && !w->next) weigh(w, r, highest, logits, some->n);
    candidate *best = w->best + r * j->beam;
    const slot *s = w->slots + w->row_slot[r];
    const int64_t *first = j->beginning_first ? j->beginning_first + s->sentence : 0;
    if (first && s->n_written < first[1] - first[0]) { /* the next token is given */
        const int32_t token = j->beginning[first[0] + s->n_written];
        const int64_t given = place_of(some, token);
        if (given >= 0) *best = (candidate){logits[given], token};
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
                    UNROLL for (int k = 0; k < WIDTH; k++) products[k] += one * load(weights[k] + d);
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

#include "ensemble/members.h"

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

/* Finished hypotheses stay sorted, the earlier one first among equals. */
static void finish(slot *s, int64_t n_best, float score, int64_t step, int64_t choice) {
    if (!(score > -INFINITY)) return;
    if (s->n_finished == n_best && !(score > s->finished[n_best - 1].score)) return;
    int64_t place = s->n_finished < n_best ? s->n_finished++ : n_best - 1;
    for (; place > 0 && score > s->finished[place - 1].score; place--)
        s->finished[place] = s->finished[place - 1];
    s->finished[place].score = score;
    s->finished[place].step = (int32_t)step;
    s->finished[place].choice = (int32_t)choice;
}

/* One step of the search of slot `number`; false when the sentence is done. */
static int advance(const job *j, workspace *w, int64_t number, int64_t first) {
    slot *s = w->slots + number;
    continuation best[MOST_BEAM];
    const int64_t n = best_continuations(j, w, s, first, best);
    const int64_t t = s->n_written, step = (number * j->longest_output + t) * j->beam;
    const int64_t lines = j->beam * j->longest_output;
    const uint8_t *before = w->ancestors + (number * 2 + (t & 1)) * lines;
    uint8_t *after = w->ancestors + (number * 2 + (~t & 1)) * lines;
    uint8_t parents[MOST_BEAM];
    memcpy(parents, s->choice, sizeof parents);
    int64_t n_live = 0;
    float highest = -INFINITY;
    for (int64_t c = 0; c < n; c++) {
        w->trace_tokens[step + c] = best[c].token;
        w->trace_log_probs[step + c] = best[c].log_prob;
        w->trace_parents[step + c] = parents[best[c].row];
        w->trace_rows[step + c] = (uint8_t)best[c].row;
        if (best[c].token == j->end) {
            finish(s, j->n_best, best[c].total / w->penalties[t + 1], t, c);
            continue;
        }
        if (best[c].total > highest) highest = best[c].total;
        uint8_t *line = after + n_live * j->longest_output;
        memcpy(line, before + best[c].row * j->longest_output, (size_t)t);
        line[t] = (uint8_t)best[c].row;
        s->total[n_live] = best[c].total;
        s->last[n_live] = best[c].token;
        s->choice[n_live++] = (uint8_t)c;
    }
    s->n_live = n_live;
    s->n_written++;
    /* Log-probabilities only fall, and the penalty is largest at the limit (+ end marker). */
    const float worst = s->n_finished < j->n_best ? -INFINITY : s->finished[j->n_best - 1].score;
    return n_live && highest / w->penalties[s->limit + 1] > worst;
}

/* Read the finished hypotheses of a slot backwards from their end markers. */
static void write_results(const job *j, const workspace *w, int64_t number) {
    const slot *s = w->slots + number;
    for (int64_t h = 0; h < s->n_finished; h++) {
        const int64_t to = j->results[s->sentence] + h * (s->limit + 1);
        int64_t choice = s->finished[h].choice;
        j->lengths[s->sentence * j->n_best + h] = s->finished[h].step + 1;
        for (int64_t t = s->finished[h].step; t >= 0; t--) {
            const int64_t place = (number * j->longest_output + t) * j->beam + choice;
            j->tokens[to + t] = w->trace_tokens[place];
            j->log_probs[to + t] = w->trace_log_probs[place];
            if (j->looked)
                memcpy(j->looked + j->looks[s->sentence] + (to - j->results[s->sentence] + t) * s->n_read,
                       look_of(j, w, number, t, w->trace_rows[place]),
                       (size_t)s->n_read * sizeof(float));
            choice = w->trace_parents[place];
        }
    }
}

/* Give free slots the next sentences and read their sources. */
static void admit(const model *m, job *j, workspace *w) {
    int64_t n = 0, rows = 0, number = 0;
    for (;;) {
        while (number < j->slots && w->slots[number].sentence >= 0) number++;
        if (number == j->slots) break;
        int64_t next = __atomic_load_n(&j->next, __ATOMIC_RELAXED), entry = 0, n_read = 0;
        int is_taken = 0;
        while (!is_taken && next < __atomic_load_n(&j->n_sentences, __ATOMIC_ACQUIRE)) {
            entry = next;
            if (j->turns) entry = __atomic_load_n(&j->turns[next % j->n_entries], __ATOMIC_RELAXED);
            n_read = __atomic_load_n(&j->n_read[entry], __ATOMIC_RELAXED);
            if (rows + n_read > j->encoded_rows) break;
            /* Where another thread was quicker, `next` is its value now. */
            is_taken = __atomic_compare_exchange_n(&j->next, &next, next + 1, 0, __ATOMIC_RELAXED,
                                                   __ATOMIC_RELAXED);
        }
        if (!is_taken) break;
        slot *s = w->slots + number;
        *s = (slot){.sentence = entry, .n_read = n_read, .limit = j->limits[entry], .n_live = 1};
        s->last[0] = (int32_t)j->begin;
        rows += n_read;
        w->admitted[n++] = number;
    }
    for (; n && m; m = m->next, w = w->next) encode(m, j, w, n);
}

/* Tell which sentences are done. So few bytes are written at once or not at all. */
static void report(const job *j, const news *done, int64_t n) {
    const size_t size = (size_t)n * sizeof(news);
    while (n && write((int)j->pipe, done, size) < 0 && errno == EINTR) {}
}

/* As `building.py:EngineLibrary` has them. */
const int64_t headway_sizes[] = {WIDTH, PANEL, MOST_BEAM, HAS_BFLOAT16, HAS_INT8};
int64_t headway_amx(void) { return amx_chosen(); } /* as instructions/blocks.h has it */

/* One product alone: for those who want to know what it gives. `room` has four bytes for each input
   of each row, and `scales` eight for each row. */
void headway_product(const matrix *w, int64_t rows, const float *x, float *y, int32_t *room,
                     scale *scales) {
    rounded rounded = {room, scales};
    product(w, rows, x, w->inputs, y, w->outputs, &rounded);
}

/* Bytes that `headway_translate` needs, at a multiple of 64. */
int64_t headway_workspace(const model *m, const job *j) {
    workspace w;
    return lay_out_all(m, j, &w, 0);
}

/* Make that memory ready, once. */
void headway_prepare(const model *m, const job *j, char *memory) {
    workspace w;
    lay_out_all(m, j, &w, memory);
    const int64_t live = j->slots * j->beam;
    const int64_t most_rows = live > j->encoded_rows ? live : j->encoded_rows;
    for (workspace *one = &w; m; m = m->next, one = one->next) /* behind the last head */
        memset(one->context, 0, (size_t)(most_rows * m->values) * sizeof(float));
    for (int64_t i = 0; i < j->slots; i++) w.slots[i].sentence = -1;
    for (int64_t i = 0; i <= j->longest_output; i++)
        w.penalties[i] = (float)pow((5.0 + (double)i) / 6.0, j->length_penalty);
}

/* Give a job that is fed the sentence that was written into an entry. By one thread at a time. */
void headway_feed(job *j, int64_t entry) {
    const int64_t n = j->n_sentences;
    __atomic_store_n(&j->turns[n % j->n_entries], (int32_t)entry, __ATOMIC_RELAXED);
    __atomic_store_n(&j->n_sentences, n + 1, __ATOMIC_RELEASE);
}

/* Translate sentences of the job until there are none (1), until the caller sets `stop`, or for so
   many steps, or until one thread is asked to leave (0): what it has in work stays in its memory, and
   goes on with the next call. */
int64_t headway_translate(const model *m, job *j, char *memory, int64_t steps) {
    workspace w;
    lay_out_all(m, j, &w, memory);
    news done[NEWS_AT_ONCE];
    int64_t n_free = 0;
    for (int64_t i = 0; i < j->slots; i++) n_free += w.slots[i].sentence < 0;
    for (; !__atomic_load_n(&j->stop, __ATOMIC_RELAXED); steps--) {
        if (!steps) return 0;
        if (__atomic_load_n(&j->leave, __ATOMIC_RELAXED) &&
            __atomic_exchange_n(&j->leave, 0, __ATOMIC_RELAXED))
            return 0;
        if (4 * n_free >= j->slots) admit(m, j, &w);
        int64_t rows = 0, n_done = 0;
        n_free = 0;
        for (int64_t number = 0; number < j->slots; number++) {
            const slot *s = w.slots + number;
            n_free += s->sentence < 0;
            for (int64_t i = 0; s->sentence >= 0 && i < s->n_live; i++, rows++)
                w.row_slot[rows] = (int32_t)number, w.row_place[rows] = (int32_t)i;
        }
        if (!rows) return 1;
        if (m->next)
            decode_together(m, j, &w, rows);
        else
            decode(m, j, &w, rows), read_vocabulary(m, j, &w, rows, w.x);
        for (int64_t number = 0, first = 0; number < j->slots; number++) {
            if (w.slots[number].sentence < 0) continue;
            const int64_t next = first + w.slots[number].n_live;
            if (!advance(j, &w, number, first)) {
                write_results(j, &w, number);
                if (j->pipe >= 0) {
                    done[n_done++] = (news){(int32_t)j->number, (int32_t)w.slots[number].sentence};
                    if (n_done == NEWS_AT_ONCE) report(j, done, n_done), n_done = 0;
                }
                w.slots[number].sentence = -1;
                n_free++;
                __atomic_fetch_add(&j->done, 1, __ATOMIC_RELAXED);
            }
            first = next;
        }
        report(j, done, n_done);
    }
    return 0;
}
