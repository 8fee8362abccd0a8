/* The memory of one thread: laid out by the sizes of model and job, and allocated by the caller.
   Nothing else here allocates. */
#ifndef HEADWAY_WORKSPACE_H
#define HEADWAY_WORKSPACE_H

#include "model.h"

#define CHUNK 128 /* columns of the vocabulary at a time: a multiple of every PANEL */
#define MOST_BEAM 64

typedef struct {
    int64_t sentence; /* -1: free */
    int64_t n_read, limit, n_written, n_live, n_finished;
    float total[MOST_BEAM];   /* log-probability of each live hypothesis */
    int32_t last[MOST_BEAM];  /* its last token */
    uint8_t choice[MOST_BEAM]; /* its place in the last step of the trace */
    float finished[MOST_BEAM]; /* scores, best first */
    int32_t finished_step[MOST_BEAM];
    uint8_t finished_choice[MOST_BEAM];
} slot;

typedef struct {
    float value;
    int32_t token;
} candidate;

typedef struct {
    float *x, *normed, *projected, *context, *inner, *result; /* [rows][..] */
    float *weights;                                           /* of one row's attention */
    const float **seen, **seen_next;
    rounded rounded;                      /* what a product reads, in fewer bits */
    float *logits;                        /* [rows][CHUNK] */
    float *most, *sum, *end_logit;        /* [rows] */
    candidate *best;                      /* [rows][beam] */
    float *cross;                         /* [slots][layers][source][keys, values] */
    float *past;                          /* [slots][layers][output][beam][keys, values] */
    slot *slots;
    int32_t *trace_tokens;                /* [slots][output][beam] */
    float *trace_log_probs;
    uint8_t *trace_parents, *trace_rows;  /* the choice that it continues; of which live row */
    float *looks;                         /* [slots][output][beam][look_size], where wanted */
    uint8_t *ancestors;                   /* [slots][2][beam][output]: where each token's key is */
    int32_t *row_slot, *row_place;        /* [rows]: which of a slot's live hypotheses it is */
    float *penalties;                     /* [output + 1] */
} workspace;

typedef struct {
    char *base; /* none: only count */
    int64_t used;
} arena;

/* `n` things of `size` bytes, on a line of the cache; the arena is -1 once it is too large. */
static void *taken(arena *a, int64_t size, int64_t n, int64_t times) {
    int64_t bytes;
    void *place = a->base ? a->base + a->used : 0;
    if (a->used < 0 || __builtin_mul_overflow(n, times, &bytes) ||
        __builtin_mul_overflow(bytes, size, &bytes) ||
        __builtin_add_overflow(bytes, 63, &bytes) ||
        __builtin_add_overflow(a->used, bytes & ~(int64_t)63, &bytes))
        a->used = -1;
    else
        a->used = bytes;
    return place;
}

static int64_t cross_size(const model *m, const job *j) {
    return m->decoder_layers * j->longest_source * (m->keys + m->values);
}

static int64_t past_size(const model *m, const job *j) {
    return m->decoder_layers * j->longest_output * j->beam * (m->keys + m->values);
}

/* Numbers of one look at the source, padded to a line. */
static int64_t look_size(const job *j) { return (j->longest_source + 15) & ~(int64_t)15; }

/* Of any product. */
static int64_t longest_inputs(const model *m) {
    const int64_t most = m->width > m->values ? m->width : m->values;
    return m->inner > most ? m->inner : most;
}

/* Bytes; -1 where they are beyond all numbers. */
static int64_t lay_out(const model *m, const job *j, workspace *w, char *base) {
    const int64_t live = j->slots * j->beam;
    const int64_t rows = live > j->encoded_rows ? live : j->encoded_rows;
    const int64_t longest =
        j->longest_source > j->longest_output ? j->longest_source : j->longest_output;
    const int64_t steps = j->slots * j->longest_output;
    const int64_t gates = m->activation == SWIGLU ? 2 : 1;
    arena a = {base, 0};
    w->x = taken(&a, sizeof(float), rows, m->width);
    w->normed = taken(&a, sizeof(float), rows, m->width);
    w->projected = taken(&a, sizeof(float), rows, 2 * m->keys + m->values);
    w->context = taken(&a, sizeof(float), rows, m->values);
    w->inner = taken(&a, sizeof(float), rows, gates * m->inner);
    w->result = taken(&a, sizeof(float), rows, m->width);
    w->rounded.units = taken(&a, sizeof(int32_t), rows, longest_inputs(m) / 2);
    w->rounded.steps = taken(&a, sizeof(float), rows, 1);
    w->weights = taken(&a, sizeof(float), longest + WIDTH, 1);
    w->seen = taken(&a, sizeof(float *), longest, 1);
    w->seen_next = taken(&a, sizeof(float *), longest, 1);
    w->logits = taken(&a, sizeof(float), live, CHUNK);
    w->most = taken(&a, sizeof(float), live, 1);
    w->sum = taken(&a, sizeof(float), live, 1);
    w->end_logit = taken(&a, sizeof(float), live, 1);
    w->best = taken(&a, sizeof(candidate), live, j->beam);
    w->slots = taken(&a, sizeof(slot), j->slots, 1);
    w->trace_tokens = taken(&a, sizeof(int32_t), steps, j->beam);
    w->trace_log_probs = taken(&a, sizeof(float), steps, j->beam);
    w->trace_parents = taken(&a, 1, steps, j->beam);
    w->trace_rows = taken(&a, 1, steps, j->beam);
    w->ancestors = taken(&a, 1, steps, 2 * j->beam);
    w->row_place = taken(&a, sizeof(int32_t), live, 1);
    w->row_slot = taken(&a, sizeof(int32_t), live, 1);
    w->penalties = taken(&a, sizeof(float), j->longest_output + 1, 1);
    w->cross = taken(&a, sizeof(float), j->slots, cross_size(m, j));
    w->past = taken(&a, sizeof(float), j->slots, past_size(m, j));
    if (j->looked) w->looks = taken(&a, sizeof(float), steps * j->beam, look_size(j));
    return a.used;
}

#endif
