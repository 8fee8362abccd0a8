/* What Python hands over: a Transformer's parameters, and pairs of sentences to learn from; and the
   memory of one thread. `learner.py` has the same fields in the same order.

   Rows are real tokens, one sentence behind another: there is no padding. Columns have zeros up to
   multiples of PANEL, behind each head up to multiples of WIDTH; they stay zeros. */
#pragma once

#include "../layers.h"

/* `n` blocks of `size` numbers, each with zeros behind it up to `padded`. */
typedef struct {
    int64_t n, size, padded;
} blocks;

/* A parameter, [rows][columns] as the model has it. With zeros between it is a part of all the
   numbers that are learned: of what a thread adds up as their gradients. */
typedef struct {
    const float *values;
    float *gradient;
    float *padded; /* a copy of a vector with its zeros; of matrices: none */
    blocks rows, columns;
    int64_t at, stride; /* among all numbers: its first, and from row to row */
    float scale;        /* of what is computed with */
} parameter;

/* The weights of a product, [outputs][inputs]: some parameters one below another. */
typedef struct {
    int64_t first, n; /* parameters */
    int64_t at, bias; /* among all numbers; no bias: -1 */
    int64_t chunk;    /* outputs of one matrix of `backward` */
    matrix forward;   /* y = x W^T + b */
    matrix backward;  /* dx = dy W, for `chunk` outputs at a time, one such matrix behind another */
} weight;

typedef struct {
    const float *gain, *shift;
    int64_t gain_at, shift_at; /* among all numbers */
} learned_norm;

typedef struct {
    weight self_projections, self_output, cross_query, cross_memory, cross_output, inner, outer;
    learned_norm around_self, around_cross, around_feed_forward;
} learned_layer;

/* Embeddings and what is added by position: as the model has them, and among all numbers. */
typedef struct {
    const float *embedding, *table; /* [tokens][d_model], [positions][d_model]; no table: none */
    int64_t embedding_at, table_at; /* a table that is not learned: -1 */
} learned_input;

typedef struct {
    int64_t d_model, width, heads, key, value, keys, values, inner; /* as in `model` */
    int64_t activation, norm_first, encoder_layers, decoder_layers, n_tokens, kind;
    int64_t padding;      /* a token whose embedding is not learned where it is read */
    int64_t n_numbers;    /* that are learned, with zeros between them */
    int64_t n_parameters;
    float embedding_scale, epsilon;
    const parameter *parameters;
    const float *ones; /* [width]: 1, behind d_model 0 */
    const learned_layer *encoder, *decoder;
    learned_norm encoder_norm, decoder_norm; /* of stacks that norm first */
    learned_input source, target;
    weight vocabulary;
} learner;

typedef struct {
    const int32_t *read, *fed, *expected; /* ids, one sentence behind another */
    const int64_t *source_first, *target_first; /* [n + 1]: where each sentence begins */
    const int64_t *numbers; /* [n]: what tells it from others, whatever their order */
    uint64_t seed;          /* of dropout */
    float dropout, attention_dropout, activation_dropout, smoothing;
    int64_t wants_gradients;
} pairs;

/* -- the memory of one thread, for some sentences at a time -- */

typedef struct {
    float *normal, *rate, *out; /* what is normed, by what it was divided, with gain and shift */
} kept_norm;

/* What the backward of a layer needs of its forward. */
typedef struct {
    float *self_projected, *self_weights, *self_context;
    float *cross_query, *cross_memory, *cross_weights, *cross_context;
    float *inner, *active; /* the same array where the activation is relu */
    kept_norm around_self, around_cross, around_feed_forward;
} kept_layer;

/* The rows of one side of the sentences. */
typedef struct {
    int64_t rows;
    const int32_t *ids;
    const int64_t *first; /* [n + 1], of all pairs */
    uint64_t *keys;       /* [rows]: of dropout */
} side;

typedef struct {
    int64_t n;    /* sentences */
    side source, target;
    float *encoded, *decoded;   /* what stacks begin with; pre-norm: what they add to */
    kept_layer *encoder, *decoder;
    kept_norm encoder_norm, decoder_norm;
    float *result;               /* of a sub-layer; in the backward what goes back to what it read */
    float *error, *memory_error; /* gradients: of rows, of what the encoder gave */
    float *wide_error, *inner_error, *query_error;
    float *turned, *dropped, *weight_errors; /* of one head of one sentence */
    int32_t *row_panels, *error_panels;      /* for gradients of weights */
    float *logits;
    rounded rounded;
    float *gradient; /* [n_numbers] */
} work;

#define COLUMNS 544      /* of the vocabulary in one matrix of its backward: 17 or 34 panels */
#define LOGITS (1 << 21) /* at a time, about */

static int64_t logit_rows(const learner *m, int64_t rows) {
    int64_t most = LOGITS / m->vocabulary.forward.outputs;
    most = most < 64 ? 64 : most;
    return rows < most ? rows : most;
}

static int64_t in_pieces(int64_t n, int64_t size) { return (n + size - 1) / size * size; }

/* Numbers from row to row of logits: not many rows at the same place of a cache. */
static int64_t logit_stride(const learner *m) {
    const int64_t n = m->vocabulary.forward.outputs;
    return n % 512 ? n : n + PANEL;
}

static int64_t longest_of(const int64_t *first, int64_t n) {
    int64_t most = 0;
    for (int64_t s = 0; s < n; s++)
        if (first[s + 1] - first[s] > most) most = first[s + 1] - first[s];
    return most;
}

/* Numbers of attention weights of all heads: queries times keys, these up to a multiple of WIDTH. */
static int64_t n_weights(const learner *m, const int64_t *queries, const int64_t *keys, int64_t n) {
    int64_t sum = 0;
    for (int64_t s = 0; s < n; s++)
        sum += (queries[s + 1] - queries[s]) * in_pieces(keys[s + 1] - keys[s], WIDTH);
    return sum * m->heads;
}

static float *floats(arena *a, int64_t rows, int64_t columns) {
    return taken(a, sizeof(float), rows, columns);
}

static kept_norm norm_room(const learner *m, arena *a, int64_t rows) {
    float *normal = floats(a, rows, m->width), *rate = floats(a, rows, 1);
    return (kept_norm){normal, rate, floats(a, rows, m->width)};
}

static void lay_out_layer(const learner *m, arena *a, kept_layer *k, int64_t rows, int64_t n_self,
                          int64_t memory_rows, int64_t n_cross) {
    const int64_t gated = m->inner * (m->activation == SWIGLU ? 2 : 1);
    k->self_projected = floats(a, rows, 2 * m->keys + m->values);
    k->self_weights = floats(a, n_self, 1);
    k->self_context = floats(a, rows, m->values);
    k->around_self = norm_room(m, a, rows);
    if (n_cross) {
        k->cross_query = floats(a, rows, m->keys);
        k->cross_memory = floats(a, memory_rows, m->keys + m->values);
        k->cross_weights = floats(a, n_cross, 1);
        k->cross_context = floats(a, rows, m->values);
        k->around_cross = norm_room(m, a, rows);
    }
    k->inner = floats(a, rows, gated);
    k->active = m->activation == RELU ? k->inner : floats(a, rows, m->inner);
    k->around_feed_forward = norm_room(m, a, rows);
}

/* Bytes, for the sentences from `first` to before `last`. */
static int64_t lay_out_work(const learner *m, const pairs *p, int64_t first, int64_t last, work *w,
                            char *base) {
    const int64_t *s = p->source_first + first, *t = p->target_first + first, n = last - first;
    const int64_t sources = s[n] - s[0], targets = t[n] - t[0];
    const int64_t rows = sources > targets ? sources : targets;
    const int64_t projections = 2 * m->keys + m->values;
    const int64_t gated = m->inner * (m->activation == SWIGLU ? 2 : 1);
    int64_t widest = gated > projections ? gated : projections;
    widest = widest > m->width ? widest : m->width;
    widest = widest > COLUMNS ? widest : COLUMNS;
    arena a = {base, 0};
    w->n = n;
    w->source = (side){sources, p->read + s[0], s, taken(&a, sizeof(uint64_t), sources, 1)};
    w->target = (side){targets, p->fed + t[0], t, taken(&a, sizeof(uint64_t), targets, 1)};
    w->encoded = floats(&a, sources, m->width);
    w->decoded = floats(&a, targets, m->width);
    w->encoder = taken(&a, sizeof(kept_layer), m->encoder_layers, 1);
    w->decoder = taken(&a, sizeof(kept_layer), m->decoder_layers, 1);
    kept_layer unused;
    for (int64_t i = 0; i < m->encoder_layers; i++)
        lay_out_layer(m, &a, base ? w->encoder + i : &unused, sources, n_weights(m, s, s, n), 0, 0);
    for (int64_t i = 0; i < m->decoder_layers; i++)
        lay_out_layer(m, &a, base ? w->decoder + i : &unused, targets, n_weights(m, t, t, n), sources,
                      n_weights(m, t, s, n));
    w->encoder_norm = norm_room(m, &a, m->norm_first ? sources : 0);
    w->decoder_norm = norm_room(m, &a, m->norm_first ? targets : 0);
    w->result = floats(&a, rows, m->width);
    w->error = floats(&a, rows, m->width);
    w->memory_error = floats(&a, sources, m->width);
    w->wide_error = floats(&a, rows, gated > projections ? gated : projections);
    w->inner_error = floats(&a, rows, m->inner > m->values ? m->inner : m->values);
    w->query_error = floats(&a, targets, m->keys);
    const int64_t source = longest_of(s, n), target = longest_of(t, n);
    const int64_t longest = source > target ? source : target;
    const int64_t even = in_pieces(longest, WIDTH);
    w->turned = floats(&a, m->key > m->value ? m->key : m->value, even);
    w->dropped = floats(&a, longest, even);
    w->weight_errors = floats(&a, longest, even);
    w->row_panels = taken(&a, sizeof(int32_t), rows, widest);
    w->error_panels = taken(&a, sizeof(int32_t), rows, widest);
    w->logits = floats(&a, logit_rows(m, targets), logit_stride(m));
    w->rounded.units = taken(&a, sizeof(int32_t), rows, widest);
    return a.used;
}
