/* The pieces of a layer, each with its backward: products, norm, dropout, activations, attention. */
#pragma once

#include "learner.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

/* -- products -- */

#define KIND float32
#include "gradient_tile.h"
#define KIND bfloat16
#include "gradient_tile.h"

/* A line of a panel: PANEL units of one row, or of two in bfloat16. */
INLINE void put_line(int64_t kind, const float *one, const float *other, int32_t *to) {
    for (int64_t i = 0; i < PANEL; i += WIDTH) {
        if (kind == float32_kind) {
            store((float *)(to + i), load(one + i));
            continue;
        }
        const ivec low = rounded_up(load(one + i)) >> 16 & 65535;
        *(ivec *)(to + i) = low | (rounded_up(load(other + i)) & -65536);
    }
}

/* Columns of rows in panels: [columns / PANEL][units of rows][PANEL]. */
static void panels_of(int64_t kind, int64_t rows, const float *x, int64_t stride, int64_t columns,
                      int32_t *to) {
    static const float nothing[PANEL] __attribute__((aligned(64)));
    const int64_t step = per_unit(kind), n_units = (rows + step - 1) / step;
    for (int64_t r = 0; r < rows; r += step)
        for (int64_t c = 0; c < columns; c += PANEL) {
            const float *one = x + r * stride + c, *other = r + 1 < rows ? one + stride : nothing;
            put_line(kind, one, other, to + c * n_units + r / step * PANEL);
        }
}

/* W's gradient grows by dy^T x, both in panels of `rows` rows; b's by the sums of dy's columns. */
static void add_products(int64_t kind, int64_t rows, const int32_t *dy, int64_t outputs,
                         const int32_t *x, int64_t inputs, float *to) {
    const int64_t n_units = (rows + per_unit(kind) - 1) / per_unit(kind);
    for (int64_t i = 0; i < inputs; i += PANEL)
        for (int64_t o = 0; o < outputs; o += PANEL) {
            float *here = to + o * inputs + i;
            if (kind == float32_kind)
                float32_gradient_panel(n_units, dy + o * n_units, x + i * n_units, here, inputs);
            else
                bfloat16_gradient_panel(n_units, dy + o * n_units, x + i * n_units, here, inputs);
        }
}

static void add_columns(int64_t rows, const float *dy, int64_t stride, int64_t columns, float *to) {
    for (int64_t r = 0; r < rows; r++) add(columns, to, dy + r * stride);
}

#define ROWS_AT_ONCE 112 /* so that they stay near while weights pass by */

/* y = x W^T + b. */
static void multiply(const matrix *w, int64_t rows, const float *x, float *y, rounded *room) {
    for (int64_t r = 0; r < rows; r += ROWS_AT_ONCE)
        product(w, rows - r < ROWS_AT_ONCE ? rows - r : ROWS_AT_ONCE, x + r * w->inputs, w->inputs,
                y + r * w->outputs, w->outputs, room);
}

/* dx = dy W; and the gradients of W and b grow. */
static void multiply_backward(const learner *m, work *w, const weight *by, int64_t rows,
                              const float *x, const float *dy, float *dx) {
    const int64_t inputs = by->forward.inputs, outputs = by->forward.outputs;
    panels_of(m->kind, rows, x, inputs, inputs, w->row_panels);
    panels_of(m->kind, rows, dy, outputs, outputs, w->error_panels);
    add_products(m->kind, rows, w->error_panels, outputs, w->row_panels, inputs, w->gradient + by->at);
    add_columns(rows, dy, outputs, outputs, w->gradient + by->bias);
    multiply(&by->backward, rows, dy, dx, &w->rounded);
}

/* -- dropout: what is dropped depends on a key and the column alone, so the backward drops alike -- */

typedef uint32_t uvec __attribute__((vector_size(4 * WIDTH), may_alias));

/* A number that looks random (the finalizer of SplitMix64, Steele et al. 2014). */
INLINE uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

INLINE uint64_t key_of(uint64_t key, int64_t number) {
    return mixed(key + ((uint64_t)number + 1) * 0x9e3779b97f4a7c15u);
}

/* Zero each of `n` numbers with a probability, scale the others by 1 / (1 - probability). */
static void drop(float probability, uint64_t key, int64_t n, const float *x, float *to) {
    static const int32_t lanes[16] __attribute__((aligned(64))) = {0, 1, 2,  3,  4,  5,  6,  7,
                                                                   8, 9, 10, 11, 12, 13, 14, 15};
    const uint32_t least = (uint32_t)(probability * 4294967296.0);
    const float scale = 1.0f / (1.0f - probability);
    uvec column = *(const uvec *)lanes * 0x9e3779b9u + (uint32_t)key;
    for (int64_t i = 0; i < n; i += WIDTH, column += 0x9e3779b9u * WIDTH) {
        uvec draw = (column ^ column >> 16) * 0x21f0aaadu;
        draw = (draw ^ draw >> 15 ^ (uint32_t)(key >> 32)) * 0x735a2d97u;
        const ivec kept = (draw ^ draw >> 15) >= least;
        store(to + i, (vec)(kept & (ivec)(load(x + i) * scale)));
    }
}

/* Of rows, in place; `place` tells where in the model. */
static void drop_rows(float probability, const side *of, int64_t place, float *x, int64_t columns) {
    for (int64_t r = 0; probability > 0 && r < of->rows; r++)
        drop(probability, key_of(of->keys[r], place), columns, x + r * columns, x + r * columns);
}

/* -- norm -- */

/* LayerNorm of each row of x + y; without y, of x alone. */
static void norm_forward(const learner *m, const learned_norm *by, int64_t rows, const float *x,
                         const float *y, kept_norm *kept) {
    const int64_t width = m->width;
    const float *gain = by->gain, *shift = by->shift, n = (float)m->d_model;
    for (int64_t r = 0; r < rows; r++, x += width) {
        float *normal = kept->normal + r * width, *out = kept->out + r * width;
        vec sums = {0}, squares = {0};
        for (int64_t i = 0; i < width; i += WIDTH) {
            vec one = load(x + i);
            if (y) one += load(y + r * width + i);
            store(normal + i, one);
            sums += one;
        }
        const float mean = sum_of(sums) / n;
        for (int64_t i = 0; i < width; i += WIDTH) {
            const vec off = (load(normal + i) - mean) * load(m->ones + i);
            store(normal + i, off);
            squares += off * off;
        }
        const float rate = kept->rate[r] = 1.0f / sqrtf(sum_of(squares) / n + m->epsilon);
        for (int64_t i = 0; i < width; i += WIDTH) {
            const vec one = load(normal + i) * rate;
            store(normal + i, one);
            store(out + i, one * load(gain + i) + load(shift + i));
        }
    }
}

/* From the gradient of what came out to that of what went in, in place. With g = dy * gain and the
   normed n: dx = rate (g - mean(g) - n mean(g n)). */
static void norm_backward(const learner *m, work *w, const learned_norm *by, int64_t rows,
                          const kept_norm *kept, float *error) {
    const int64_t width = m->width;
    const float *gain = by->gain;
    float *gain_error = w->gradient + by->gain_at, *shift_error = w->gradient + by->shift_at;
    for (int64_t r = 0; r < rows; r++, error += width) {
        const float *normal = kept->normal + r * width, rate = kept->rate[r];
        vec sums = {0}, products = {0};
        for (int64_t i = 0; i < width; i += WIDTH) {
            const vec dy = load(error + i), one = load(normal + i), g = dy * load(gain + i);
            store(gain_error + i, load(gain_error + i) + dy * one);
            store(shift_error + i, load(shift_error + i) + dy);
            store(error + i, g);
            sums += g;
            products += g * one;
        }
        const float mean = sum_of(sums) / (float)m->d_model;
        const float along = sum_of(products) / (float)m->d_model;
        for (int64_t i = 0; i < width; i += WIDTH) {
            const vec g = load(error + i) - load(normal + i) * along - load(m->ones + i) * mean;
            store(error + i, g * rate);
        }
    }
}

/* -- activations -- */

INLINE vec positive(vec x) { return (vec)((x > all(0.0f)) & (ivec)all(1.0f)); }

/* Its derivative; of relu, of what came out as of what went in. */
INLINE vec slope(int64_t activation, vec x) {
    if (activation == RELU) return positive(x);
    if (activation == GELU) /* + x times the normal density */
        return normal_share(x) + x * 0.3989422804f * exponential(-0.5f * x * x);
    const vec share = sigmoid(activation == GELU_TANH ? cubic(x) : x);
    vec inner = x * share * (1.0f - share);
    if (activation == GELU_TANH) inner *= 1.5957691216f * (1.0f + 0.134145f * x * x);
    return share + inner;
}

/* A gated layer has its gate behind it. */
static void activate_forward(const learner *m, int64_t rows, const float *inner, float *active) {
    const int64_t n = m->inner, gated = m->activation == SWIGLU ? n : 0;
    for (int64_t r = 0; r < rows; r++, inner += n + gated, active += n)
        for (int64_t i = 0; i < n; i += WIDTH) {
            vec one = activated(m->activation, load(inner + i));
            if (gated) one *= load(inner + n + i);
            store(active + i, one);
        }
}

static void activate_backward(const learner *m, int64_t rows, const float *inner, const float *error,
                              float *inner_error) {
    const int64_t n = m->inner, gated = m->activation == SWIGLU ? n : 0;
    for (int64_t r = 0; r < rows; r++, inner += n + gated, inner_error += n + gated, error += n)
        for (int64_t i = 0; i < n; i += WIDTH) {
            const vec one = load(inner + i);
            vec dy = load(error + i);
            if (gated) {
                store(inner_error + n + i, dy * activated(m->activation, one));
                dy *= load(inner + n + i);
            }
            store(inner_error + i, dy * slope(m->activation, one));
        }
}

/* -- attention: of one sentence's queries to its keys, each with its value behind it -- */

/* c = a b, small: a(r, k) is a[r * a_row + k * a_inner]; columns are a multiple of WIDTH. */
INLINE void small_tile(const int rows, const int vectors, int64_t inner, const float *a,
                       int64_t a_row, int64_t a_inner, const float *b, int64_t b_row, float *c,
                       int64_t c_row) {
    vec sums[6][2] = {{{0}}};
    for (int64_t k = 0; k < inner; k++, a += a_inner, b += b_row)
        UNROLL for (int v = 0; v < vectors; v++) {
            const vec line = load(b + v * WIDTH);
            UNROLL for (int r = 0; r < rows; r++) sums[r][v] += a[r * a_row] * line;
        }
    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int v = 0; v < vectors; v++) store(c + r * c_row + v * WIDTH, sums[r][v]);
}

static void small_product(int64_t rows, int64_t columns, int64_t inner, const float *a, int64_t a_row,
                          int64_t a_inner, const float *b, int64_t b_row, float *c, int64_t c_row) {
    for (int64_t n = 0; n < columns; n += 2 * WIDTH)
        for (int64_t r = 0; r < rows; r += 6) {
            const float *from = a + r * a_row;
            float *to = c + r * c_row + n;
            const int two = columns - n > WIDTH;
            switch (rows - r < 6 ? rows - r : 6) {
#define HEIGHT(h)                                                                                  \
    case h:                                                                                        \
        if (two)                                                                                   \
            small_tile(h, 2, inner, from, a_row, a_inner, b + n, b_row, to, c_row);                \
        else                                                                                       \
            small_tile(h, 1, inner, from, a_row, a_inner, b + n, b_row, to, c_row);                \
        break;
                HEIGHT(1) HEIGHT(2) HEIGHT(3) HEIGHT(4) HEIGHT(5) HEIGHT(6)
#undef HEIGHT
            }
        }
}

/* Four rows of four numbers as columns. */
INLINE void turn_four(const float *x, int64_t stride, float *to, int64_t even) {
#if defined(__SSE__)
    __m128 a = _mm_load_ps(x), b = _mm_load_ps(x + stride);
    __m128 c = _mm_load_ps(x + 2 * stride), d = _mm_load_ps(x + 3 * stride);
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_store_ps(to, a), _mm_store_ps(to + even, b);
    _mm_store_ps(to + 2 * even, c), _mm_store_ps(to + 3 * even, d);
#else
    for (int i = 0; i < 4; i++)
        for (int r = 0; r < 4; r++) to[i * even + r] = x[r * stride + i];
#endif
}

/* `rows` rows of n numbers, a multiple of WIDTH, as n rows of `even`, with zeros behind. */
static void turn(int64_t rows, int64_t n, const float *x, int64_t stride, int64_t even, float *to) {
    for (int64_t i = 0; i < n; i += 4) {
        int64_t r = 0;
        for (; r + 4 <= rows; r += 4) turn_four(x + r * stride + i, stride, to + i * even + r, even);
        for (int64_t k = i; k < i + 4; k++)
            for (int64_t j = r; j < even; j++) to[k * even + j] = j < rows ? x[j * stride + k] : 0;
    }
}

/* In place, of the first `n` of a row; those behind become zeros. */
static void softmax(int64_t n, int64_t even, float *x) {
    for (int64_t j = n; j < even; j++) x[j] = -INFINITY;
    vec most = load(x), sums = {0};
    for (int64_t j = WIDTH; j < even; j += WIDTH) most = larger(most, load(x + j));
    const float highest = largest_of(most);
    for (int64_t j = 0; j < even; j += WIDTH) {
        const vec one = exponential(load(x + j) - highest);
        store(x + j, one);
        sums += one;
    }
    const float share = 1.0f / sum_of(sums);
    for (int64_t j = 0; j < even; j += WIDTH) store(x + j, load(x + j) * share);
    for (int64_t j = n; j < even; j++) x[j] = 0;
}

/* One attention, of all sentences. */
typedef struct {
    int causal; /* a query sees keys up to its own place */
    float dropout;
    int64_t place; /* in the model, for dropout */
    const side *queries, *keys;
    const float *query, *key; /* values are `keys` numbers behind their keys */
    int64_t query_stride, key_stride;
    float *weights;
} attention;

/* The weights of one head that values are added up with, `kept` or with some of them dropped. */
static float *dropped_weights(const attention *a, int64_t sentence, int64_t head, int64_t even,
                              float *kept, float *dropped) {
    if (!(a->dropout > 0)) return kept;
    const int64_t *first = a->queries->first + sentence;
    const uint64_t *keys = a->queries->keys + first[0] - a->queries->first[0];
    for (int64_t i = 0; i < first[1] - first[0]; i++)
        drop(a->dropout, key_of(key_of(keys[i], a->place), head), even, kept + i * even,
             dropped + i * even);
    return dropped;
}

static void attend_forward(const learner *m, work *w, const attention *a, float *context) {
    float *weights = a->weights;
    for (int64_t s = 0; s < w->n; s++) {
        const int64_t first = a->queries->first[s] - a->queries->first[0];
        const int64_t first_key = a->keys->first[s] - a->keys->first[0];
        const int64_t n = a->queries->first[s + 1] - a->queries->first[s];
        const int64_t n_keys = a->keys->first[s + 1] - a->keys->first[s];
        const int64_t even = in_pieces(n_keys, WIDTH);
        for (int64_t h = 0; h < m->heads; h++, weights += n * even) {
            const float *query = a->query + first * a->query_stride + h * m->key;
            const float *key = a->key + first_key * a->key_stride + h * m->key;
            const float *value = a->key + first_key * a->key_stride + m->keys + h * m->value;
            turn(n_keys, m->key, key, a->key_stride, even, w->turned);
            small_product(n, even, m->key, query, a->query_stride, 1, w->turned, even, weights, even);
            for (int64_t i = 0; i < n; i++)
                softmax(a->causal ? i + 1 : n_keys, even, weights + i * even);
            const float *used = dropped_weights(a, s, h, even, weights, w->dropped);
            small_product(n, m->value, n_keys, used, even, 1, value, a->key_stride,
                          context + first * m->values + h * m->value, m->values);
        }
    }
}

/* With the weights p and their gradient dp: those of scores are p (dp - sum of p dp). */
static void attend_backward(const learner *m, work *w, const attention *a, const float *error,
                            float *query_error, float *key_error) {
    float *weights = a->weights, *dp = w->weight_errors;
    for (int64_t s = 0; s < w->n; s++) {
        const int64_t first = a->queries->first[s] - a->queries->first[0];
        const int64_t first_key = a->keys->first[s] - a->keys->first[0];
        const int64_t n = a->queries->first[s + 1] - a->queries->first[s];
        const int64_t n_keys = a->keys->first[s + 1] - a->keys->first[s];
        const int64_t even = in_pieces(n_keys, WIDTH);
        const int64_t queries = first * a->query_stride, keys = first_key * a->key_stride;
        for (int64_t h = 0; h < m->heads; h++, weights += n * even) {
            const int64_t query = queries + h * m->key, key = keys + h * m->key;
            const int64_t value = keys + m->keys + h * m->value;
            const float *from = error + first * m->values + h * m->value;
            turn(n_keys, m->value, a->key + value, a->key_stride, even, w->turned);
            small_product(n, even, m->value, from, m->values, 1, w->turned, even, dp, even);
            const float *used = dropped_weights(a, s, h, even, weights, w->dropped);
            small_product(n_keys, m->value, n, used, 1, even, from, m->values, key_error + value,
                          a->key_stride);
            dropped_weights(a, s, h, even, dp, dp);
            for (int64_t i = 0; i < n; i++) {
                vec sums = {0};
                for (int64_t j = i * even; j < (i + 1) * even; j += WIDTH)
                    sums += load(weights + j) * load(dp + j);
                const float along = sum_of(sums);
                for (int64_t j = i * even; j < (i + 1) * even; j += WIDTH)
                    store(dp + j, load(weights + j) * (load(dp + j) - along));
            }
            small_product(n, m->key, n_keys, dp, even, 1, a->key + key, a->key_stride,
                          query_error + query, a->query_stride);
            small_product(n_keys, m->key, n, dp, 1, even, a->query + query, a->query_stride,
                          key_error + key, a->key_stride);
        }
    }
}
