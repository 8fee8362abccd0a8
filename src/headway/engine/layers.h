/* The layers: what in them is no matrix product, the encoder over whole sources, and one step of the
   decoder for every live hypothesis. */
#pragma once

#include "model.h"
#include "variants/activations.h"

/* LayerNorm of each row of x + y into z (which may be x or y); without y, of x alone. */
static void add_and_norm(const model *m, const norm *by, int64_t rows, const float *x,
                         const float *y, float *z) {
    const int64_t d = m->d_model, whole = d / WIDTH * WIDTH;
    for (int64_t r = 0; r < rows; r++, x += m->width, z += m->width) {
        vec sums = {0};
        float sum = 0;
        for (int64_t i = 0; i < m->width; i += WIDTH) {
            vec one = load(x + i);
            if (y) one += load(y + r * m->width + i);
            store(z + i, one);
            if (i < whole) sums += one;
        }
        for (int64_t i = whole; i < d; i++) sum += z[i];
        const float mean = (sum_of(sums) + sum) / (float)d;
        vec squares = {0};
        sum = 0;
        for (int64_t i = 0; i < whole; i += WIDTH) {
            vec off = load(z + i) - mean;
            squares += off * off;
        }
        for (int64_t i = whole; i < d; i++) sum += (z[i] - mean) * (z[i] - mean);
        const float rate = 1.0f / sqrtf((sum_of(squares) + sum) / (float)d + m->epsilon);
        for (int64_t i = 0; i < m->width; i += WIDTH) /* behind d_model gain and shift are zeros */
            store(z + i, (load(z + i) - mean) * rate * load(by->gain + i) + load(by->shift + i));
    }
}

INLINE void add(int64_t n, float *x, const float *y) { /* n is a multiple of WIDTH */
    for (int64_t i = 0; i < n; i += WIDTH) store(x + i, load(x + i) + load(y + i));
}

/* In place, on `rows` rows of inner layers; a gated one has its gate behind it. */
static void activate(const model *m, int64_t rows, float *x) {
    const int64_t n = m->inner, gated = m->activation == SWIGLU ? n : 0;
    for (int64_t r = 0; r < rows; r++, x += n + gated)
        for (int64_t i = 0; i < n; i += WIDTH) {
            vec one = activated(m->activation, load(x + i));
            if (gated) one *= load(x + n + i);
            store(x + i, one);
        }
}

/* softmax(q k) v for one row, every head: `seen` points at each key, with its value
   `m->keys` numbers behind. Queries are already divided by sqrt(d_k). Where `looked` is wanted it
   gets the weights on the keys, mean over heads. */
static void attend(const model *m, const float *query, const float *const *seen, int64_t n,
                   float *weights, float *context, float *looked) {
    const int64_t even = (n + WIDTH - 1) / WIDTH * WIDTH;
    for (int64_t h = 0; h < m->heads; h++) {
        const float *q = query + h * m->key;
        vec most = all(-INFINITY);
        for (int64_t j = 0; j < even; j += WIDTH) {
            vec products[WIDTH];
            UNROLL for (int k = 0; k < WIDTH; k++) {
                const float *key = seen[j + k < n ? j + k : n - 1] + h * m->key;
                products[k] = load(q) * load(key);
                for (int64_t i = WIDTH; i < m->key; i += WIDTH)
                    products[k] += load(q + i) * load(key + i);
            }
            store(weights + j, sums_of(products));
            for (int64_t k = n; k < j + WIDTH; k++) weights[k] = -INFINITY;
            most = larger(most, load(weights + j));
        }
        const float highest = largest_of(most);
        vec sums = {0};
        for (int64_t j = 0; j < even; j += WIDTH) {
            const vec one = exponential(load(weights + j) - highest);
            store(weights + j, one);
            sums += one;
        }
        const float share = 1.0f / sum_of(sums);
        for (int64_t j = 0; looked && j < even; j += WIDTH) {
            const vec before = h ? load(looked + j) : (vec){0};
            store(looked + j, before + load(weights + j) * (share / (float)m->heads));
        }
        for (int64_t i = h * m->value; i < (h + 1) * m->value; i += WIDTH) {
            vec mixed[4] = {{0}}; /* four sums at a time: one would wait for itself */
            int64_t j = 0;
            for (; j + 4 <= n; j += 4)
                UNROLL for (int k = 0; k < 4; k++)
                    mixed[k] += weights[j + k] * load(seen[j + k] + m->keys + i);
            for (; j < n; j++) mixed[0] += weights[j] * load(seen[j] + m->keys + i);
            store(context + i, ((mixed[0] + mixed[1]) + (mixed[2] + mixed[3])) * share);
        }
    }
}

static void embed(const model *m, const float *embedding, const float *table, int64_t token,
                  int64_t position, float *x) {
    const float *from = embedding + token * m->width;
    for (int64_t i = 0; i < m->width; i += WIDTH) {
        vec one = load(from + i) * m->embedding_scale;
        if (table) one += load(table + position * m->width + i);
        store(x + i, one);
    }
}

/* What a sub-layer reads: x, or its norm. */
static const float *read_by(const model *m, const norm *by, int64_t rows, workspace *w) {
    if (!m->norm_first) return w->x;
    add_and_norm(m, by, rows, w->x, 0, w->normed);
    return w->normed;
}

/* x gets what the sub-layer gave: `w->result`. */
static void written_by(const model *m, const norm *by, int64_t rows, workspace *w) {
    if (m->norm_first)
        add(rows * m->width, w->x, w->result);
    else
        add_and_norm(m, by, rows, w->x, w->result, w->x);
}

static void feed_forward(const model *m, const layer *l, int64_t rows, workspace *w) {
    const float *x = read_by(m, &l->around_feed_forward, rows, w);
    product(&l->inner, rows, x, m->width, w->inner, l->inner.outputs, &w->rounded);
    activate(m, rows, w->inner);
    product(&l->outer, rows, w->inner, l->inner.outputs, w->result, m->width, &w->rounded);
    written_by(m, &l->around_feed_forward, rows, w);
}

static float *cross_of(const model *m, const job *j, const workspace *w, int64_t slot, int64_t layer) {
    return w->cross + slot * cross_size(m, j) +
           layer * j->longest_source * (m->keys + m->values);
}

static float *past_of(const model *m, const job *j, const workspace *w, int64_t slot, int64_t layer) {
    return w->past + slot * past_size(m, j) +
           layer * j->longest_output * j->beam * (m->keys + m->values);
}

/* Read the sources of `n` admitted slots: their cross-attention's keys and values, of every layer. */
static void encode(const model *m, const job *j, workspace *w, int64_t n) {
    const int64_t stride = 2 * m->keys + m->values, memory = m->keys + m->values;
    int64_t rows = 0;
    for (int64_t s = 0; s < n; s++) {
        const slot *one = w->slots + w->admitted[s];
        const int32_t *ids = j->ids + j->first[one->sentence];
        for (int64_t i = 0; i < one->n_read; i++, rows++)
            embed(m, m->source_embedding, m->source_table, ids[i], i, w->x + rows * m->width);
    }
    for (const layer *l = m->encoder; l < m->encoder + m->encoder_layers; l++) {
        const float *x = read_by(m, &l->around_self, rows, w);
        product(&l->self_projections, rows, x, m->width, w->projected, stride, &w->rounded);
        int64_t from = 0;
        for (int64_t s = 0; s < n; s++) {
            const int64_t length = w->slots[w->admitted[s]].n_read;
            for (int64_t i = 0; i < length; i++)
                w->seen[i] = w->projected + (from + i) * stride + m->keys;
            for (int64_t i = from; i < from + length; i++)
                attend(m, w->projected + i * stride, w->seen, length, w->weights,
                       w->context + i * m->values, 0);
            from += length;
        }
        product(&l->self_output, rows, w->context, m->values, w->result, m->width, &w->rounded);
        written_by(m, &l->around_self, rows, w);
        feed_forward(m, l, rows, w);
    }
    if (m->norm_first) add_and_norm(m, &m->encoder_norm, rows, w->x, 0, w->x);
    for (int64_t n_layer = 0; n_layer < m->decoder_layers; n_layer++) {
        product(&m->decoder[n_layer].cross_memory, rows, w->x, m->width, w->projected, memory,
                &w->rounded);
        const float *from = w->projected;
        for (int64_t s = 0; s < n; s++) {
            const int64_t size = w->slots[w->admitted[s]].n_read * memory;
            memcpy(cross_of(m, j, w, w->admitted[s], n_layer), from, (size_t)size * sizeof(float));
            from += size;
        }
    }
}

/* Have what is read next brought near while something else is computed. */
INLINE void fetch(const float *from, int64_t n) {
    for (int64_t i = 0; i < n; i += 16) __builtin_prefetch(from + i);
}

/* Where the tokens that row `r` continues, and its own, have their keys and values. */
static int64_t found_past(const model *m, const job *j, const workspace *w, int64_t n, int64_t r,
                          const float **seen) {
    const int64_t number = w->row_slot[r], place = w->row_place[r], memory = m->keys + m->values;
    const int64_t t = w->slots[number].n_written;
    const float *past = past_of(m, j, w, number, n);
    const uint8_t *ancestors =
        w->ancestors + ((number * 2 + (t & 1)) * j->beam + place) * j->longest_output;
    for (int64_t i = 0; i < t; i++) seen[i] = past + (i * j->beam + ancestors[i]) * memory;
    seen[t] = past + (t * j->beam + place) * memory;
    return t;
}

/* Self-attention of layer `n` by every live hypothesis: its key and value join those of its slot;
   it sees those of the tokens that it continues. */
static void look_back(const model *m, const job *j, workspace *w, int64_t n, int64_t rows) {
    const int64_t stride = 2 * m->keys + m->values, memory = m->keys + m->values;
    int64_t t = found_past(m, j, w, n, 0, w->seen), next = 0;
    for (int64_t r = 0; r < rows; r++) {
        const float *projected = w->projected + r * stride;
        memcpy((float *)w->seen[t], projected + m->keys, (size_t)memory * sizeof(float));
        if (r + 1 < rows) {
            next = found_past(m, j, w, n, r + 1, w->seen_next);
            for (int64_t i = 0; i < next; i++) fetch(w->seen_next[i], memory);
        }
        attend(m, projected, w->seen, t + 1, w->weights, w->context + r * m->values, 0);
        const float **other = w->seen;
        w->seen = w->seen_next, w->seen_next = other;
        t = next;
    }
}

/* Where step `t` of a slot keeps what the row at a place looked at. */
static float *look_of(const job *j, const workspace *w, int64_t slot, int64_t t, int64_t place) {
    return w->looks + ((slot * j->longest_output + t) * j->beam + place) * look_size(j);
}

static void look_across(const model *m, const job *j, workspace *w, int64_t n, int64_t rows) {
    const int64_t memory = m->keys + m->values;
    const int kept = j->looked && n == m->alignment_layer;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t number = w->row_slot[r], n_read = w->slots[number].n_read;
        const float *cross = cross_of(m, j, w, number, n);
        if (!r || w->row_slot[r - 1] != number) {
            for (int64_t i = 0; i < n_read; i++) w->seen[i] = cross + i * memory;
            const int64_t next = r + w->slots[number].n_live;
            if (next < rows) {
                const int64_t other = w->row_slot[next];
                fetch(cross_of(m, j, w, other, n), w->slots[other].n_read * memory);
            }
        }
        float *looked =
            kept ? look_of(j, w, number, w->slots[number].n_written, w->row_place[r]) : 0;
        attend(m, w->projected + r * m->keys, w->seen, n_read, w->weights,
               w->context + r * m->values, looked);
    }
}

/* One more token of each of `rows` live hypotheses, up to what is multiplied with the vocabulary. */
static void decode(const model *m, const job *j, workspace *w, int64_t rows) {
    for (int64_t r = 0; r < rows; r++) {
        const slot *s = w->slots + w->row_slot[r];
        embed(m, m->target_embedding, m->target_table, s->last[w->row_place[r]], s->n_written,
              w->x + r * m->width);
    }
    for (int64_t n = 0; n < m->decoder_layers; n++) {
        const layer *l = m->decoder + n;
        const float *x = read_by(m, &l->around_self, rows, w);
        product(&l->self_projections, rows, x, m->width, w->projected, 2 * m->keys + m->values,
                &w->rounded);
        look_back(m, j, w, n, rows);
        product(&l->self_output, rows, w->context, m->values, w->result, m->width, &w->rounded);
        written_by(m, &l->around_self, rows, w);

        x = read_by(m, &l->around_cross, rows, w);
        product(&l->cross_query, rows, x, m->width, w->projected, m->keys, &w->rounded);
        look_across(m, j, w, n, rows);
        product(&l->cross_output, rows, w->context, m->values, w->result, m->width, &w->rounded);
        written_by(m, &l->around_cross, rows, w);

        feed_forward(m, l, rows, w);
    }
    if (m->norm_first) add_and_norm(m, &m->decoder_norm, rows, w->x, 0, w->x);
}
