/* Matrix products with packed weights. A matrix of [outputs, inputs] is cut into panels of PANEL
   outputs, each stored input by input, so that a product reads it once from front to back.

   Every output is one sum over the inputs in their order, however many rows there are: what a row
   gives does not depend on its batch-mates, to the last bit. */
#ifndef HEADWAY_PRODUCT_H
#define HEADWAY_PRODUCT_H

#include "vectors.h"

typedef struct {
    const float *weights; /* [outputs / PANEL][inputs][PANEL] */
    const float *bias;    /* [outputs] */
    int64_t inputs, outputs; /* multiples of PANEL; what was added is zeros */
} matrix;

/* `rows` (a constant wherever this is called) rows times one panel. */
INLINE void tile(const int rows, const float *x, int64_t x_stride, const float *panel,
                 const float *bias, int64_t inputs, float *y, int64_t y_stride) {
    vec sums[TILE_ROWS][TILE_VECTORS];
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 16
        for (int v = 0; v < TILE_VECTORS; v++) sums[r][v] = load(bias + v * WIDTH);
    for (int64_t k = 0; k < inputs; k++) {
        vec column[TILE_VECTORS];
#pragma GCC unroll 16
        for (int v = 0; v < TILE_VECTORS; v++) column[v] = load(panel + k * PANEL + v * WIDTH);
#pragma GCC unroll 16
        for (int r = 0; r < rows; r++) {
            vec one = all(x[r * x_stride + k]);
#pragma GCC unroll 16
            for (int v = 0; v < TILE_VECTORS; v++) sums[r][v] += one * column[v];
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 16
        for (int v = 0; v < TILE_VECTORS; v++) store(y + r * y_stride + v * WIDTH, sums[r][v]);
}

static void panel_product(int64_t rows, const float *x, int64_t x_stride, const float *panel,
                          const float *bias, int64_t inputs, float *y, int64_t y_stride) {
    for (int64_t done = 0; done < rows;) {
        int64_t tiles = (rows - done + TILE_ROWS - 1) / TILE_ROWS; /* of like heights */
        int64_t height = (rows - done + tiles - 1) / tiles;
        const float *from = x + done * x_stride;
        float *to = y + done * y_stride;
        switch (height) {
#define HEIGHT(n) case n: tile(n, from, x_stride, panel, bias, inputs, to, y_stride); break;
            HEIGHT(1) HEIGHT(2) HEIGHT(3)
#if TILE_ROWS > 3
            HEIGHT(4) HEIGHT(5) HEIGHT(6)
#endif
#if TILE_ROWS > 6
            HEIGHT(7) HEIGHT(8) HEIGHT(9) HEIGHT(10) HEIGHT(11) HEIGHT(12) HEIGHT(13) HEIGHT(14)
#endif
#undef HEIGHT
        }
        done += height;
    }
}

/* y = x W^T + bias, for `rows` rows. */
static void product(const matrix *w, int64_t rows, const float *x, int64_t x_stride, float *y,
                    int64_t y_stride) {
    for (int64_t n = 0; n < w->outputs; n += PANEL)
        panel_product(rows, x, x_stride, w->weights + n * w->inputs, w->bias + n, w->inputs, y + n,
                      y_stride);
}

#endif
