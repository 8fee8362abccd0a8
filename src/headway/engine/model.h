/* What Python hands over: a Transformer's packed weights, and sentences to translate.
   `building.py` has the same fields in the same order. */
#pragma once

#include "product.h"

typedef struct {
    const float *gain, *shift; /* [width] */
} norm;

typedef struct {
    matrix self_projections; /* queries, keys and values side by side */
    matrix self_output;
    matrix cross_query, cross_memory, cross_output; /* of a decoder; memory: keys and values */
    matrix inner, outer;                            /* inner with its gate behind it, if it has one */
    norm around_self, around_cross, around_feed_forward;
} layer;

enum { RELU, GELU, SWIGLU, SWISH, GELU_TANH };

typedef struct model {
    int64_t d_model, width;    /* numbers of a position; with zeros up to a multiple of PANEL */
    int64_t heads, key, value; /* sizes of one head, padded to a multiple of WIDTH */
    int64_t keys, values;      /* of all heads, padded to a multiple of PANEL */
    int64_t inner;             /* of the feed-forward, padded to a multiple of PANEL */
    int64_t activation, norm_first, encoder_layers, decoder_layers, alignment_layer;
    int64_t n_tokens;        /* vocabulary */
    int64_t source_positions; /* rows of the tables of positions; no table: any position */
    int64_t target_positions;
    float embedding_scale, epsilon;
    const float *source_embedding, *target_embedding; /* [n_tokens][width] */
    const float *source_table, *target_table;         /* [positions][width], or none */
    const float *output_rows;                         /* the vocabulary's weights, [n_tokens][width] */
    const struct model *next;                         /* of an ensemble, which shares n_tokens */
    const layer *encoder, *decoder;
    norm encoder_norm, decoder_norm; /* at the end of a stack that norms first */
    matrix vocabulary;
} model;

typedef struct {
    /* Of a job that is fed while it runs: how many there were so far. They lie in entries, which
       are used again; the n-th is in entry turns[n % n_entries]. */
    int64_t n_sentences;
    int64_t n_entries;
    int32_t *turns;        /* [n_entries]; none: the n-th sentence is in entry n */
    const int32_t *ids;    /* sources, their end markers included */
    const int64_t *first;  /* [n_entries]: where each begins */
    const int64_t *n_read; /* [n_entries]: how long each is */
    const int64_t *limits; /* [n_entries]: tokens before the end marker */
    const int32_t *allowed;       /* what each may write, in the order of ids; none: anything */
    const int64_t *allowed_first; /* [n_entries + 1]: where each one's begin */
    const int32_t *beginning; /* what outputs begin with, each within its limit */
    const int64_t *beginning_first; /* [n_entries + 1]: where each one's begin; none: no output's */
    const int32_t *forbidden;
    int64_t n_forbidden, begin, end, beam, n_best, want_scores;
    double length_penalty;
    int64_t slots;        /* sentences that a thread has in work at a time */
    int64_t encoded_rows; /* source tokens that it reads at a time, at least the longest source */
    int64_t longest_source, longest_output; /* end markers included */
    /* Results: of hypothesis h of entry i the tokens, its end marker's among them, from
       (results[i] + h * (limits[i] + 1)) on; lengths[i * n_best + h] is 0 where there is none. */
    const int64_t *results;
    int32_t *lengths, *tokens;
    float *log_probs;
    /* Where wanted: of token t of that hypothesis, from (looks[i] + (h * (limits[i] + 1) + t) *
       its source's length) on, the weights on the source; `alignment_layer`'s, mean over heads. */
    const int64_t *looks;
    float *looked; /* none: not wanted */
    /* Where it is told that sentences are done, one `news` each; -1: nowhere. */
    int64_t pipe, number;
    /* Shared by threads. `leave` asks one of them to go and do something else. */
    int64_t next, done, stop, leave;
} job;

/* Of job `number` the sentence in an entry is done. */
typedef struct {
    int32_t number, entry;
} news;

/* The memory of one thread: laid out by the sizes of model and job, and allocated by the caller.
   Nothing else here allocates. */

#define CHUNK 128 /* columns of the vocabulary at a time: a multiple of every PANEL */
#define MOST_BEAM 64
#define NEWS_AT_ONCE 64 /* what any pipe takes whole */

typedef struct {
    int64_t sentence; /* its entry; -1: free */
    int64_t n_read, limit, n_written, n_live, n_finished;
    float total[MOST_BEAM];   /* log-probability of each live hypothesis */
    int32_t last[MOST_BEAM];  /* its last token */
    uint8_t choice[MOST_BEAM]; /* its place in the last step of the trace */
    struct {
        float score;
        int32_t step, choice;
    } finished[MOST_BEAM]; /* best first */
} slot;

typedef struct {
    float value;
    int32_t token;
} candidate;

typedef struct workspace {
    struct workspace *next; /* of an ensemble's next member */
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
    int64_t *admitted;                    /* [slots]: those whose sources are read next */
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

/* `n` times `times` things of `size` bytes, on a line of the cache. */
static void *taken(arena *a, int64_t size, int64_t n, int64_t times) {
    void *place = a->base ? a->base + a->used : 0;
    a->used += (size * n * times + 63) & ~(int64_t)63;
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

/* Bytes. */
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
    w->rounded.units = taken(&a, sizeof(int32_t), rows, longest_inputs(m));
    w->rounded.scales = taken(&a, sizeof(scale), rows, 1);
    w->weights = taken(&a, sizeof(float), longest + WIDTH, 1);
    w->seen = taken(&a, sizeof(float *), longest, 1);
    w->seen_next = taken(&a, sizeof(float *), longest, 1);
    w->logits = taken(&a, sizeof(float), live, CHUNK);
    w->most = taken(&a, sizeof(float), live, 1);
    w->sum = taken(&a, sizeof(float), live, 1);
    w->end_logit = taken(&a, sizeof(float), live, 1);
    w->best = taken(&a, sizeof(candidate), live, j->beam);
    w->slots = taken(&a, sizeof(slot), j->slots, 1);
    w->admitted = taken(&a, sizeof(int64_t), j->slots, 1);
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
