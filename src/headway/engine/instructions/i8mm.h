/* i8mm: an instruction multiplies eight inputs of two rows with those of two outputs. Two units of four
   outputs, as panels have them side by side, are two such pairs once they are zipped. */
#pragma once

/* `pairs` (a constant) of rows, the last of them a row twice where there is none after it. */
INLINE void int8_pairs(const int pairs, const matrix *w, int64_t n, const operand *x, int64_t row,
                       int64_t rows, float *y, int64_t y_stride) {
    const int64_t n_units = w->inputs / per_unit(int8_kind);
    const int32_t *panel = (const int32_t *)w->weights + n * n_units, *units[TILE_ROWS];
    int32x4_t sums[TILE_ROWS / 2][TILE_VECTORS][2];
    UNROLL for (int p = 0; p < pairs; p++) {
        for (int i = 0; i < 2; i++) {
            const int64_t r = row + 2 * p + i;
            units[2 * p + i] = x->units + (r < rows ? r : rows - 1) * x->stride;
        }
        UNROLL for (int v = 0; v < TILE_VECTORS; v++)
            sums[p][v][0] = sums[p][v][1] = vdupq_n_s32(0);
    }
    for (int64_t k = 0; k < n_units; k += 2) {
        int8x16_t two[TILE_ROWS / 2];
        UNROLL for (int p = 0; p < pairs; p++)
            two[p] = vreinterpretq_s8_s32(
                vcombine_s32(vld1_s32(units[2 * p] + k), vld1_s32(units[2 * p + 1] + k)));
        UNROLL for (int v = 0; v < TILE_VECTORS; v++) {
            const int32_t *column = panel + k * PANEL + v * WIDTH;
            const int32x4_t one = vld1q_s32(column), other = vld1q_s32(column + PANEL);
            const int8x16_t low = vreinterpretq_s8_s32(vzip1q_s32(one, other));
            const int8x16_t high = vreinterpretq_s8_s32(vzip2q_s32(one, other));
            UNROLL for (int p = 0; p < pairs; p++) {
                sums[p][v][0] = vmmlaq_s32(sums[p][v][0], two[p], low);
                sums[p][v][1] = vmmlaq_s32(sums[p][v][1], two[p], high);
            }
        }
    }
    UNROLL for (int p = 0; p < pairs; p++)
        for (int i = 0; i < 2 && row + 2 * p + i < rows; i++)
            UNROLL for (int v = 0; v < TILE_VECTORS; v++) {
                const int64x2_t low = vreinterpretq_s64_s32(sums[p][v][0]);
                const int64x2_t high = vreinterpretq_s64_s32(sums[p][v][1]);
                const ivec of_row = (ivec)(i ? vzip2q_s64(low, high) : vzip1q_s64(low, high));
                const int64_t r = row + 2 * p + i;
                store(y + r * y_stride + v * WIDTH, int8_result(w, x, r, n + v * WIDTH, of_row));
            }
}

/* Of more than one row: alone the tile is as quick, without zips. */
INLINE int int8_blocks(const matrix *w, int64_t n, const operand *x, int64_t rows, float *y,
                       int64_t y_stride) {
    if (rows < 2) return 0;
    for (int64_t row = 0; row < rows;) {
        const int64_t pairs = (rows - row + 1) / 2, left = (pairs + 2) / 3; /* of like heights */
        const int64_t height = (pairs + left - 1) / left;
        if (height == 3)
            int8_pairs(3, w, n, x, row, rows, y, y_stride);
        else if (height == 2)
            int8_pairs(2, w, n, x, row, rows, y, y_stride);
        else
            int8_pairs(1, w, n, x, row, rows, y, y_stride);
        row += 2 * height;
    }
    return 1;
}
