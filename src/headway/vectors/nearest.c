/* Which rows may be among the nearest to a query: one pass over vectors rounded to bytes.

   A row u of length 1 is steps[r] times the bytes, up to a rest no longer than errors[r]; the query
   likewise. So a cosine is known up to a bound, and a row can be left out where even the upper end
   is below the lower ends of enough other rows. */
#include <stdint.h>

enum { BLOCK = 64 };

/* The rows lie end to end: what is read behind one is multiplied by zeros. */
static int32_t product(const int8_t *restrict row, const int16_t *restrict query, int64_t blocks) {
    int32_t sum = 0;
    for (int64_t k = 0; k < BLOCK * blocks; k++) sum += (int32_t)row[k] * query[k];
    return sum;
}

/* Put `value` in the place of the least of a heap, whose first it is. */
static void replace_least(float *heap, int64_t n, float value) {
    int64_t at = 0;
    for (int64_t below; (below = 2 * at + 1) < n; at = below) {
        below += below + 1 < n && heap[below + 1] < heap[below];
        if (heap[below] >= value) break;
        heap[at] = heap[below];
    }
    heap[at] = value;
}

/* Rows `begin` to `end` of `size` bytes; `query` has zeros up to a whole block. `lowest` [wanted]
   begins with what is below every cosine, and becomes the largest lower ends. `found` and `upper`
   have room for every row; how many are found is returned. */
int64_t headway_candidates(const int8_t *rows, int64_t begin, int64_t end, int64_t size,
                           const float *steps, const float *errors, const int16_t *query,
                           float query_step, float query_error, int64_t wanted, float *lowest,
                           int64_t *found, float *upper) {
    const int64_t blocks = (size + BLOCK - 1) / BLOCK;
    int64_t n = 0;
    for (int64_t row = begin; row < end; row++) {
        const int32_t sum = product(rows + row * size, query, blocks);
        const float cosine = (float)sum * (steps[row] * query_step);
        const float error = errors[row] + (1 + errors[row]) * query_error;
        if (cosine + error < lowest[0]) continue;
        found[n] = row;
        upper[n++] = cosine + error;
        if (cosine - error > lowest[0]) replace_least(lowest, wanted, cosine - error);
    }
    return n;
}
