/* The parts of a layer that are no matrix product. */
#ifndef HEADWAY_LAYERS_H
#define HEADWAY_LAYERS_H

#include "model.h"

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

static void add(const model *m, int64_t rows, float *x, const float *y) {
    for (int64_t i = 0; i < rows * m->width; i += WIDTH) store(x + i, load(x + i) + load(y + i));
}

/* (1 + erf(x / sqrt 2)) / 2 within 1e-7 (Abramowitz and Stegun 1964, 7.1.26). */
INLINE vec normal_share(vec x) {
    const vec z = x * 0.70710678118654752f;
    const vec size = larger(z, -z);
    const vec t = 1.0f / (1.0f + 0.3275911f * size);
    vec p = all(1.061405429f);
    p = p * t - 1.453152027f;
    p = p * t + 1.421413741f;
    p = p * t - 0.284496736f;
    p = p * t + 0.254829592f;
    const vec tail = 0.5f * p * t * exponential(-size * size); /* on the far side of |z| */
    const ivec negative = z < all(0.0f);
    const vec other = 1.0f - tail;
    return (vec)((negative & (ivec)tail) | (~negative & (ivec)other));
}

/* In place, on `rows` rows of inner layers; a gated one has its gate behind it. */
static void activate(const model *m, int64_t rows, float *x) {
    const int64_t inner = m->inner, stride = m->activation == SWIGLU ? 2 * inner : inner;
    for (int64_t r = 0; r < rows; r++, x += stride)
        for (int64_t i = 0; i < inner; i += WIDTH) {
            const vec one = load(x + i);
            if (m->activation == RELU)
                store(x + i, larger(all(0.0f), one));
            else if (m->activation == GELU)
                store(x + i, one * normal_share(one));
            else {
                vec swish = one / (1.0f + exponential(-one));
                if (m->activation == SWIGLU)
                    swish *= load(x + inner + i);
                store(x + i, swish);
            }
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
#pragma GCC unroll 16
            for (int k = 0; k < WIDTH; k++) {
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
#pragma GCC unroll 4
                for (int k = 0; k < 4; k++)
                    mixed[k] += weights[j + k] * load(seen[j + k] + m->keys + i);
            for (; j < n; j++) mixed[0] += weights[j] * load(seen[j] + m->keys + i);
            store(context + i, ((mixed[0] + mixed[1]) + (mixed[2] + mixed[3])) * share);
        }
    }
}

#endif
