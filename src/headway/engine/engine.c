/* Translation of many sentences by one thread: those that are done leave, others take their place.

   The search is that of `headway/core/beam.py`, step by step; greedy search is a beam of 1. */
#include "vocabulary.h"

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
    if (s->n_finished == n_best && !(score > s->finished[n_best - 1])) return;
    int64_t place = s->n_finished < n_best ? s->n_finished++ : n_best - 1;
    for (; place > 0 && score > s->finished[place - 1]; place--) {
        s->finished[place] = s->finished[place - 1];
        s->finished_step[place] = s->finished_step[place - 1];
        s->finished_choice[place] = s->finished_choice[place - 1];
    }
    s->finished[place] = score;
    s->finished_step[place] = (int32_t)step;
    s->finished_choice[place] = (uint8_t)choice;
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
    const float worst = s->n_finished < j->n_best ? -INFINITY : s->finished[j->n_best - 1];
    return n_live && highest / w->penalties[s->limit + 1] > worst;
}

/* Read the finished hypotheses of a slot backwards from their end markers. */
static void write_results(const job *j, const workspace *w, int64_t number) {
    const slot *s = w->slots + number;
    for (int64_t h = 0; h < s->n_finished; h++) {
        const int64_t to = j->results[s->sentence] + h * (s->limit + 1);
        int64_t choice = s->finished_choice[h];
        j->lengths[s->sentence * j->n_best + h] = s->finished_step[h] + 1;
        for (int64_t t = s->finished_step[h]; t >= 0; t--) {
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

/* Give free slots the next sentences and read their sources; false when none is left. */
static int admit(const model *m, job *j, workspace *w, int64_t *taken_slots) {
    int64_t n = 0, rows = 0, number = 0;
    for (;;) {
        while (number < j->slots && w->slots[number].sentence >= 0) number++;
        if (number == j->slots) break;
        int64_t next = __atomic_load_n(&j->next, __ATOMIC_RELAXED), n_read;
        do {
            if (next >= j->n_sentences) break;
            n_read = j->first[next + 1] - j->first[next];
            if (rows + n_read > j->encoded_rows) break;
        } while (!__atomic_compare_exchange_n(&j->next, &next, next + 1, 0, __ATOMIC_RELAXED,
                                              __ATOMIC_RELAXED));
        if (next >= j->n_sentences || rows + n_read > j->encoded_rows) break;
        slot *s = w->slots + number;
        *s = (slot){.sentence = next, .n_read = n_read, .limit = j->limits[next], .n_live = 1};
        s->last[0] = (int32_t)j->begin;
        rows += n_read;
        taken_slots[n++] = number;
    }
    if (n) encode(m, j, w, taken_slots, n);
    return n > 0;
}

int64_t headway_panel(void) { return PANEL; }
int64_t headway_width(void) { return WIDTH; }
int64_t headway_most_beam(void) { return MOST_BEAM; }
int64_t headway_has_bfloat16(void) { return HAS_BFLOAT16; }
int64_t headway_has_int8(void) { return HAS_INT8; }

/* One product alone: for those who want to know what it gives. `room` has four bytes for each input
   of each row, and `steps` four for each row. */
void headway_product(const matrix *w, int64_t rows, const float *x, float *y, int32_t *room,
                     float *steps) {
    rounded rounded = {room, steps};
    product(w, rows, x, w->inputs, y, w->outputs, &rounded);
}

/* Bytes that `headway_translate` needs, at a multiple of 64; -1 where they cannot be counted. */
int64_t headway_workspace(const model *m, const job *j) {
    workspace w;
    const int64_t bytes = lay_out(m, j, &w, 0);
    return bytes < 0 ? -1 : bytes + j->slots * (int64_t)sizeof(int64_t);
}

/* Translate sentences of the job until none is left, or until the caller sets `stop`. */
void headway_translate(const model *m, job *j, char *memory) {
    workspace w;
    int64_t *taken_slots = (int64_t *)(memory + lay_out(m, j, &w, memory));
    const int64_t live = j->slots * j->beam;
    const int64_t most_rows = live > j->encoded_rows ? live : j->encoded_rows;
    memset(w.context, 0, (size_t)(most_rows * m->values) * sizeof(float)); /* behind the last head */
    for (int64_t i = 0; i < j->slots; i++) w.slots[i].sentence = -1;
    for (int64_t i = 0; i <= j->longest_output; i++)
        w.penalties[i] = (float)pow((5.0 + (double)i) / 6.0, j->length_penalty);

    int64_t n_free = j->slots;
    int waiting = 1;
    while (!__atomic_load_n(&j->stop, __ATOMIC_RELAXED)) {
        if (waiting && 4 * n_free >= j->slots) waiting = admit(m, j, &w, taken_slots);
        int64_t rows = 0;
        n_free = 0;
        for (int64_t number = 0; number < j->slots; number++) {
            const slot *s = w.slots + number;
            n_free += s->sentence < 0;
            for (int64_t i = 0; s->sentence >= 0 && i < s->n_live; i++, rows++) {
                w.row_slot[rows] = (int32_t)number;
                w.row_place[rows] = (int32_t)i;
                embed(m, m->target_embedding, m->target_table, s->last[i], s->n_written,
                      w.x + rows * m->width);
            }
        }
        if (!rows) {
            if (waiting) continue;
            return;
        }
        decode(m, j, &w, rows);
        read_vocabulary(m, j, &w, rows, w.x);
        for (int64_t number = 0, first = 0; number < j->slots; number++) {
            if (w.slots[number].sentence < 0) continue;
            const int64_t next = first + w.slots[number].n_live;
            if (!advance(j, &w, number, first)) {
                write_results(j, &w, number);
                w.slots[number].sentence = -1;
                n_free++;
                __atomic_fetch_add(&j->done, 1, __ATOMIC_RELAXED);
            }
            first = next;
        }
    }
}
