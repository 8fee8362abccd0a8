/* A training step of a Transformer (`headway/core/transformer.py`): weights are packed, each thread
   makes the gradients of its sentences, and these are added up. */
#include "gradients.h"

/* Each dropout has a place of its own: that of embeddings, and four of each layer. */
enum { EMBEDDED, SELF, CROSS, FEED_FORWARD, INNER, PLACES };

/* -- inputs -- */

static void embed_forward(const learner *m, const pairs *p, const learned_input *by, const side *of,
                          int64_t n, float *x) {
    for (int64_t s = 0, r = 0; s < n; s++)
        for (int64_t i = 0; i < of->first[s + 1] - of->first[s]; i++, r++) {
            const float *embedding = by->embedding + of->ids[r] * m->d_model;
            float *to = x + r * m->width;
            for (int64_t k = 0; k < m->d_model; k++) to[k] = embedding[k] * m->embedding_scale;
            for (int64_t k = 0; by->table && k < m->d_model; k++)
                to[k] += by->table[i * m->d_model + k];
            for (int64_t k = m->d_model; k < m->width; k++) to[k] = 0;
        }
    drop_rows(p->dropout, of, EMBEDDED, x, m->width);
}

static void embed_backward(const learner *m, const pairs *p, work *w, const learned_input *by,
                           const side *of, float *error) {
    drop_rows(p->dropout, of, EMBEDDED, error, m->width);
    for (int64_t s = 0, r = 0; s < w->n; s++)
        for (int64_t i = 0; i < of->first[s + 1] - of->first[s]; i++, r++) {
            const float *from = error + r * m->width;
            float *token = w->gradient + by->embedding_at + of->ids[r] * m->width;
            for (int64_t k = 0; of->ids[r] != m->padding && k < m->width; k += WIDTH)
                store(token + k, load(token + k) + load(from + k) * m->embedding_scale);
            if (by->table_at >= 0) add(m->width, w->gradient + by->table_at + i * m->width, from);
        }
}

/* -- around every sub-layer: norm, residual connection and dropout -- */

/* What it reads: x, or its norm. */
static const float *read_forward(const learner *m, const learned_norm *by, int64_t rows,
                                 const float *x, kept_norm *kept) {
    if (!m->norm_first) return x;
    norm_forward(m, by, rows, x, 0, kept);
    return kept->out;
}

/* x with what the sub-layer gave. */
static float *write_forward(const learner *m, const pairs *p, work *w, const learned_norm *by,
                            const side *of, int64_t place, float *x, kept_norm *kept) {
    drop_rows(p->dropout, of, place, w->result, m->width);
    if (!m->norm_first) {
        norm_forward(m, by, of->rows, x, w->result, kept);
        return kept->out;
    }
    add(of->rows * m->width, x, w->result);
    return x;
}

/* From `error`, that of x behind the sub-layer: in `result` the error of what the sub-layer gave. */
static void write_backward(const learner *m, const pairs *p, work *w, const learned_norm *by,
                           const side *of, int64_t place, const kept_norm *kept) {
    if (!m->norm_first) norm_backward(m, w, by, of->rows, kept, w->error);
    memcpy(w->result, w->error, (size_t)(of->rows * m->width) * sizeof(float));
    drop_rows(p->dropout, of, place, w->result, m->width);
}

/* In `result` is the error of what the sub-layer read: `error` becomes that of x before it. */
static void read_backward(const learner *m, work *w, const learned_norm *by, int64_t rows,
                          const kept_norm *kept) {
    if (m->norm_first) norm_backward(m, w, by, rows, kept, w->result);
    add(rows * m->width, w->error, w->result);
}

/* -- sub-layers -- */

/* Zeros behind the heads of each row. */
static void clear_behind(int64_t rows, int64_t heads, int64_t columns, int64_t stride, float *x) {
    for (int64_t r = 0; heads < columns && r < rows; r++)
        memset(x + r * stride + heads, 0, (size_t)(columns - heads) * sizeof(float));
}

static attention self_attention(const learner *m, const pairs *p, const side *of, kept_layer *k,
                                int causal, int64_t place) {
    const int64_t stride = 2 * m->keys + m->values;
    return (attention){causal, p->attention_dropout, place + SELF, of, of, k->self_projected,
                       k->self_projected + m->keys, stride, stride, k->self_weights};
}

static float *self_forward(const learner *m, const pairs *p, work *w, const learned_layer *l,
                           const side *of, kept_layer *k, int causal, int64_t place, float *x) {
    const attention a = self_attention(m, p, of, k, causal, place);
    const float *read = read_forward(m, &l->around_self, of->rows, x, &k->around_self);
    multiply(&l->self_projections.forward, of->rows, read, k->self_projected, &w->rounded);
    clear_behind(of->rows, m->heads * m->value, m->values, m->values, k->self_context);
    attend_forward(m, w, &a, k->self_context);
    multiply(&l->self_output.forward, of->rows, k->self_context, w->result, &w->rounded);
    return write_forward(m, p, w, &l->around_self, of, place + SELF, x, &k->around_self);
}

static void self_backward(const learner *m, const pairs *p, work *w, const learned_layer *l,
                          const side *of, kept_layer *k, int causal, int64_t place,
                          const float *read) {
    const attention a = self_attention(m, p, of, k, causal, place);
    float *error = w->wide_error;
    write_backward(m, p, w, &l->around_self, of, place + SELF, &k->around_self);
    multiply_backward(m, w, &l->self_output, of->rows, k->self_context, w->result, w->inner_error);
    clear_behind(of->rows, m->heads * m->key, m->keys, a.query_stride, error);
    clear_behind(of->rows, m->heads * m->key, m->keys, a.query_stride, error + m->keys);
    clear_behind(of->rows, m->heads * m->value, m->values, a.query_stride, error + 2 * m->keys);
    attend_backward(m, w, &a, w->inner_error, error, error + m->keys);
    multiply_backward(m, w, &l->self_projections, of->rows, read, error, w->result);
    read_backward(m, w, &l->around_self, of->rows, &k->around_self);
}

static attention cross_attention(const learner *m, const pairs *p, work *w, kept_layer *k,
                                 int64_t place) {
    return (attention){0, p->attention_dropout, place + CROSS, &w->target, &w->source,
                       k->cross_query, k->cross_memory, m->keys, m->keys + m->values,
                       k->cross_weights};
}

static float *cross_forward(const learner *m, const pairs *p, work *w, const learned_layer *l,
                            kept_layer *k, int64_t place, const float *memory, float *x) {
    const attention a = cross_attention(m, p, w, k, place);
    const int64_t rows = w->target.rows;
    const float *read = read_forward(m, &l->around_cross, rows, x, &k->around_cross);
    multiply(&l->cross_query.forward, rows, read, k->cross_query, &w->rounded);
    multiply(&l->cross_memory.forward, w->source.rows, memory, k->cross_memory, &w->rounded);
    clear_behind(rows, m->heads * m->value, m->values, m->values, k->cross_context);
    attend_forward(m, w, &a, k->cross_context);
    multiply(&l->cross_output.forward, rows, k->cross_context, w->result, &w->rounded);
    return write_forward(m, p, w, &l->around_cross, &w->target, place + CROSS, x, &k->around_cross);
}

static void cross_backward(const learner *m, const pairs *p, work *w, const learned_layer *l,
                           kept_layer *k, int64_t place, const float *memory, const float *read) {
    const attention a = cross_attention(m, p, w, k, place);
    const int64_t rows = w->target.rows, sources = w->source.rows;
    write_backward(m, p, w, &l->around_cross, &w->target, place + CROSS, &k->around_cross);
    multiply_backward(m, w, &l->cross_output, rows, k->cross_context, w->result, w->inner_error);
    clear_behind(rows, m->heads * m->key, m->keys, a.query_stride, w->query_error);
    clear_behind(sources, m->heads * m->key, m->keys, a.key_stride, w->wide_error);
    clear_behind(sources, m->heads * m->value, m->values, a.key_stride, w->wide_error + m->keys);
    attend_backward(m, w, &a, w->inner_error, w->query_error, w->wide_error);
    multiply_backward(m, w, &l->cross_memory, sources, memory, w->wide_error, w->result);
    add(sources * m->width, w->memory_error, w->result);
    multiply_backward(m, w, &l->cross_query, rows, read, w->query_error, w->result);
    read_backward(m, w, &l->around_cross, rows, &k->around_cross);
}

static float *feed_forward_forward(const learner *m, const pairs *p, work *w, const learned_layer *l,
                                   const side *of, kept_layer *k, int64_t place, float *x) {
    const float *read = read_forward(m, &l->around_feed_forward, of->rows, x, &k->around_feed_forward);
    multiply(&l->inner.forward, of->rows, read, k->inner, &w->rounded);
    activate_forward(m, of->rows, k->inner, k->active);
    drop_rows(p->activation_dropout, of, place + INNER, k->active, m->inner);
    multiply(&l->outer.forward, of->rows, k->active, w->result, &w->rounded);
    return write_forward(m, p, w, &l->around_feed_forward, of, place + FEED_FORWARD, x,
                         &k->around_feed_forward);
}

static void feed_forward_backward(const learner *m, const pairs *p, work *w, const learned_layer *l,
                                  const side *of, kept_layer *k, int64_t place, const float *read) {
    write_backward(m, p, w, &l->around_feed_forward, of, place + FEED_FORWARD,
                   &k->around_feed_forward);
    multiply_backward(m, w, &l->outer, of->rows, k->active, w->result, w->inner_error);
    drop_rows(p->activation_dropout, of, place + INNER, w->inner_error, m->inner);
    activate_backward(m, of->rows, k->inner, w->inner_error, w->wide_error);
    multiply_backward(m, w, &l->inner, of->rows, read, w->wide_error, w->result);
    read_backward(m, w, &l->around_feed_forward, of->rows, &k->around_feed_forward);
}

/* What a layer's sub-layers read: their own norm, or the last one before. */
static const float *reads(const learner *m, const kept_norm *own, const float *before) {
    return m->norm_first ? own->out : before;
}

/* -- the vocabulary: logits of some rows at a time, turned into their gradient at once -- */

/* One row of logits: its loss; in their place comes softmax - (1 - smoothing) at the truth -
   smoothing / n, the loss's gradient. */
static double lose(int64_t n, int64_t padded, float *logits, int64_t truth, float smoothing) {
    const float logit = logits[truth], even = smoothing / (float)n;
    for (int64_t i = n; i < padded; i++) logits[i] = logits[0];
    vec most = load(logits), sums = {0}, exponentials = {0};
    for (int64_t i = 0; i < padded; i += WIDTH) {
        most = larger(most, load(logits + i));
        sums += load(logits + i);
    }
    const float highest = largest_of(most), sum = sum_of(sums) - (float)(padded - n) * logits[0];
    for (int64_t i = n; i < padded; i++) logits[i] = -INFINITY;
    for (int64_t i = 0; i < padded; i += WIDTH) {
        const vec one = exponential(load(logits + i) - highest);
        store(logits + i, one);
        exponentials += one;
    }
    const float total = sum_of(exponentials), share = 1.0f / total;
    for (int64_t i = 0; i < padded; i += WIDTH) store(logits + i, load(logits + i) * share - even);
    logits[truth] -= 1.0f - smoothing;
    return log(total) + highest - (1.0 - smoothing) * logit - even * (double)sum;
}

/* The matrix of `backward` for outputs from `from` on. */
static matrix backward_from(const weight *by, int64_t from) {
    matrix found = by->backward;
    const int64_t left = by->forward.outputs - from;
    found.weights = (const int32_t *)found.weights + from * found.outputs / per_unit(found.kind);
    found.inputs = left < by->chunk ? left : by->chunk;
    return found;
}

/* The loss of `rows` rows of features, each before its truth; `error` becomes their gradient. */
static double learn_vocabulary(const learner *m, const pairs *p, work *w, int64_t rows,
                               const float *features, const int32_t *truth, float *error) {
    const weight *v = &m->vocabulary;
    const int64_t padded = v->forward.outputs, stride = logit_stride(m), width = m->width;
    const operand read = operand_for(&v->forward, rows, features, width, &w->rounded);
    for (int64_t n = 0; n < padded; n += PANEL)
        panel_product(&v->forward, n, &read, rows, w->logits + n, stride);
    double loss = 0;
    for (int64_t r = 0; r < rows; r++)
        loss += lose(m->n_tokens, padded, w->logits + r * stride, truth[r], p->smoothing);
    if (!p->wants_gradients) return loss;
    panels_of(m->kind, rows, features, width, width, w->row_panels);
    memset(error, 0, (size_t)(rows * width) * sizeof(float));
    for (int64_t n = 0; n < padded; n += v->chunk) {
        const matrix back = backward_from(v, n);
        panels_of(m->kind, rows, w->logits + n, stride, back.inputs, w->error_panels);
        add_products(m->kind, rows, w->error_panels, back.inputs, w->row_panels, width,
                     w->gradient + v->at + n * width);
        if (v->bias >= 0)
            add_columns(rows, w->logits + n, stride, back.inputs, w->gradient + v->bias + n);
        product(&back, rows, w->logits + n, stride, w->result, width, &w->rounded);
        add(rows * width, error, w->result);
    }
    return loss;
}

/* -- whole stacks -- */

static void name_rows(const pairs *p, int64_t first, int64_t n, int64_t which, side *of) {
    for (int64_t s = 0, r = 0; s < n; s++) {
        const uint64_t key = key_of(key_of(p->seed, p->numbers[first + s]), which);
        for (int64_t i = 0; i < of->first[s + 1] - of->first[s]; i++, r++) of->keys[r] = key_of(key, i);
    }
}

/* Both stacks over some sentences, there and back; gives the loss. */
static double learn_sentences(const learner *m, const pairs *p, work *w) {
    const int64_t n_read = w->source.rows, n_written = w->target.rows;
    float *x = w->encoded, *y = w->decoded;
    embed_forward(m, p, &m->source, &w->source, w->n, x);
    for (int64_t i = 0, place = PLACES; i < m->encoder_layers; i++, place += PLACES) {
        const learned_layer *l = m->encoder + i;
        x = self_forward(m, p, w, l, &w->source, w->encoder + i, 0, place, x);
        x = feed_forward_forward(m, p, w, l, &w->source, w->encoder + i, place, x);
    }
    const float *memory = read_forward(m, &m->encoder_norm, n_read, x, &w->encoder_norm);
    embed_forward(m, p, &m->target, &w->target, w->n, y);
    for (int64_t i = 0, place = PLACES; i < m->decoder_layers; i++, place += PLACES) {
        const learned_layer *l = m->decoder + i;
        y = self_forward(m, p, w, l, &w->target, w->decoder + i, 1, place, y);
        y = cross_forward(m, p, w, l, w->decoder + i, place, memory, y);
        y = feed_forward_forward(m, p, w, l, &w->target, w->decoder + i, place, y);
    }
    const float *features = read_forward(m, &m->decoder_norm, n_written, y, &w->decoder_norm);
    const int32_t *truth = p->expected + w->target.first[0];
    double loss = 0;
    for (int64_t r = 0, most = logit_rows(m, n_written); r < n_written; r += most)
        loss += learn_vocabulary(m, p, w, n_written - r < most ? n_written - r : most,
                                 features + r * m->width, truth + r, w->error + r * m->width);
    if (!p->wants_gradients) return loss;

    if (m->norm_first)
        norm_backward(m, w, &m->decoder_norm, n_written, &w->decoder_norm, w->error);
    memset(w->memory_error, 0, (size_t)(n_read * m->width) * sizeof(float));
    for (int64_t i = m->decoder_layers - 1, place = (i + 1) * PLACES; i >= 0; i--, place -= PLACES) {
        const learned_layer *l = m->decoder + i;
        kept_layer *k = w->decoder + i;
        const float *before = i ? k[-1].around_feed_forward.out : w->decoded;
        feed_forward_backward(m, p, w, l, &w->target, k, place,
                              reads(m, &k->around_feed_forward, k->around_cross.out));
        cross_backward(m, p, w, l, k, place, memory,
                       reads(m, &k->around_cross, k->around_self.out));
        self_backward(m, p, w, l, &w->target, k, 1, place, reads(m, &k->around_self, before));
    }
    embed_backward(m, p, w, &m->target, &w->target, w->error);
    memcpy(w->error, w->memory_error, (size_t)(n_read * m->width) * sizeof(float));
    if (m->norm_first) norm_backward(m, w, &m->encoder_norm, n_read, &w->encoder_norm, w->error);
    for (int64_t i = m->encoder_layers - 1, place = (i + 1) * PLACES; i >= 0; i--, place -= PLACES) {
        const learned_layer *l = m->encoder + i;
        kept_layer *k = w->encoder + i;
        const float *before = i ? k[-1].around_feed_forward.out : w->encoded;
        feed_forward_backward(m, p, w, l, &w->source, k, place,
                              reads(m, &k->around_feed_forward, k->around_self.out));
        self_backward(m, p, w, l, &w->source, k, 0, place, reads(m, &k->around_self, before));
    }
    embed_backward(m, p, w, &m->source, &w->source, w->error);
    return loss;
}

/* -- packing, and adding up -- */

/* Which of all numbers in blocks one is, counted with the zeros; none: -1. */
static int64_t real_place(const blocks *b, int64_t place) {
    if (place < 0 || place >= b->n * b->padded || place % b->padded >= b->size) return -1;
    return place / b->padded * b->size + place % b->padded;
}

/* A row of a parameter with zeros between its blocks: only what is no zero is written. */
static void put_row(const parameter *p, int64_t row, float *to) {
    const float *from = p->values + row * p->columns.n * p->columns.size;
    for (int64_t b = 0; b < p->columns.n; b++, from += p->columns.size, to += p->columns.padded)
        for (int64_t i = 0; i < p->columns.size; i++) to[i] = from[i] * p->scale;
}

/* The panel of outputs from `n` on, for both ways; `rows` has room for it: [PANEL][inputs]. */
static void pack_panel(const learner *m, const weight *w, int64_t n, float *rows) {
    const int64_t inputs = w->forward.inputs, per = per_unit(m->kind);
    memset(rows, 0, (size_t)(PANEL * inputs) * sizeof(float));
    for (const parameter *p = m->parameters + w->first; p < m->parameters + w->first + w->n; p++)
        for (int64_t o = 0; o < PANEL; o++) {
            const int64_t row = real_place(&p->rows, n + o - (p->at - w->at) / inputs);
            if (row >= 0) put_row(p, row, rows + o * inputs);
        }
    int32_t *to = (int32_t *)w->forward.weights + n * (inputs / per);
    for (int64_t k = 0; k < inputs; k += per, to += PANEL) {
        float columns[2][PANEL] __attribute__((aligned(64)));
        for (int64_t i = 0; i < per; i++)
            for (int64_t o = 0; o < PANEL; o++) columns[i][o] = rows[o * inputs + k + i];
        put_line(m->kind, columns[0], columns[1], to);
    }
    for (int64_t o = 0; o < PANEL; o += per) {
        const int64_t from = (n + o) / w->chunk * w->chunk;
        const matrix back = backward_from(w, from);
        int32_t *line = (int32_t *)back.weights + (n + o - from) / per * PANEL;
        for (int64_t i = 0; i < inputs; i += PANEL, line += back.inputs / per * PANEL)
            put_line(m->kind, rows + o * inputs + i, rows + (o + 1) * inputs + i, line);
    }
}

static int64_t pack_weight(const learner *m, const weight *w, int64_t n, int64_t thread,
                           int64_t threads, float *rows) {
    for (int64_t o = 0; w->n && o < w->forward.outputs; o += PANEL, n++)
        if (n % threads == thread) pack_panel(m, w, o, rows);
    return n;
}

/* -- what Python calls -- */

/* As `TrainingLibrary` of `learner.py` has them. */
const int64_t headway_training_sizes[] = {WIDTH, PANEL, COLUMNS, HAS_BFLOAT16};

/* A thread's share of all weights into panels. `rows` has room for PANEL rows of any weight. */
void headway_training_pack(const learner *m, int64_t thread, int64_t threads, float *rows) {
    for (const parameter *p = m->parameters; p < m->parameters + m->n_parameters; p++)
        if (p->padded && thread == 0) put_row(p, 0, p->padded);
    int64_t n = pack_weight(m, &m->vocabulary, 0, thread, threads, rows);
    for (int64_t i = 0; i < m->encoder_layers + m->decoder_layers; i++) {
        const learned_layer *l =
            i < m->encoder_layers ? m->encoder + i : m->decoder + i - m->encoder_layers;
        n = pack_weight(m, &l->self_projections, n, thread, threads, rows);
        n = pack_weight(m, &l->self_output, n, thread, threads, rows);
        n = pack_weight(m, &l->cross_query, n, thread, threads, rows);
        n = pack_weight(m, &l->cross_memory, n, thread, threads, rows);
        n = pack_weight(m, &l->cross_output, n, thread, threads, rows);
        n = pack_weight(m, &l->inner, n, thread, threads, rows);
        n = pack_weight(m, &l->outer, n, thread, threads, rows);
    }
}

/* Bytes that the sentences from `first` to before `last` need at once, from a line on. */
int64_t headway_training_room(const learner *m, const pairs *p, int64_t first, int64_t last) {
    work w;
    return lay_out_work(m, p, first, last, &w, 0);
}

/* The loss of the sentences from `first` to before `last`; their gradients are added to `gradient`,
   [n_numbers], where they are wanted. */
double headway_training_learn(const learner *m, const pairs *p, int64_t first, int64_t last,
                              char *memory, float *gradient) {
    work w;
    lay_out_work(m, p, first, last, &w, memory);
    w.gradient = gradient;
    name_rows(p, first, w.n, 0, &w.source);
    name_rows(p, first, w.n, 1, &w.target);
    return learn_sentences(m, p, &w);
}

/* A thread's share of all gradients, `factor` times the sum of those of `n` threads, into the
   model's own. */
void headway_training_sum(const learner *m, float *const *gradients, int64_t n, float factor,
                          int64_t thread, int64_t threads) {
    int64_t number = 0;
    for (const parameter *p = m->parameters; p < m->parameters + m->n_parameters; p++)
        for (int64_t row = 0; row < p->rows.n * p->rows.size; row++) {
            if (number++ / 64 % threads != thread) continue;
            const int64_t place = row / p->rows.size * p->rows.padded + row % p->rows.size;
            float *to = p->gradient + row * p->columns.n * p->columns.size;
            for (int64_t b = 0; b < p->columns.n; b++, to += p->columns.size) {
                const int64_t from = p->at + place * p->stride + b * p->columns.padded;
                for (int64_t t = 0; t < n; t++)
                    for (int64_t i = 0; i < p->columns.size; i++)
                        to[i] += gradients[t][from + i] * (p->scale * factor);
            }
        }
}
