/* One tile of the gradient of weights, dW += dy^T x; included once for each KIND.

   `dy` and `x` are panels of PANEL columns: units of one row (float32) or of two (bfloat16), line by
   line. `rows` (a constant wherever this is called) columns of `dy` from `first` on. */
INLINE void OF(_gradient_tile)(const int rows, int64_t n_units, const int32_t *dy, const int32_t *x,
                               float *to, int64_t stride) {
    vec sums[TILE_ROWS][TILE_VECTORS];
    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int v = 0; v < TILE_VECTORS; v++)
            sums[r][v] = load(to + r * stride + v * WIDTH);
    for (int64_t k = 0; k < n_units; k++, dy += PANEL, x += PANEL) {
        vec line[TILE_VECTORS];
        UNROLL for (int v = 0; v < TILE_VECTORS; v++) line[v] = ((const vec *)x)[v];
        UNROLL for (int r = 0; r < rows; r++)
            UNROLL for (int v = 0; v < TILE_VECTORS; v++)
                sums[r][v] = OF(_added)(sums[r][v], dy + r, line[v]);
    }
    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int v = 0; v < TILE_VECTORS; v++) store(to + r * stride + v * WIDTH, sums[r][v]);
}

/* All PANEL columns of `dy`, in tiles of like heights. */
static void OF(_gradient_panel)(int64_t n_units, const int32_t *dy, const int32_t *x, float *to,
                                int64_t stride) {
    for (int64_t done = 0; done < PANEL;) {
        const int64_t left = (PANEL - done + TILE_ROWS - 1) / TILE_ROWS;
        const int64_t height = (PANEL - done + left - 1) / left;
        float *here = to + done * stride;
        for (int64_t r = 0; r < height; r++) /* what the next panel adds to comes near */
            for (int64_t i = 0; i < PANEL; i += 16)
                __builtin_prefetch(here + (PANEL + r) * stride + i, 1);
        switch (height) {
#define HEIGHT(n) case n: OF(_gradient_tile)(n, n_units, dy + done, x, here, stride); break;
#if TILE_ROWS > 6
            HEIGHT(10) HEIGHT(11) /* 32 = 11 + 11 + 10 */
#elif TILE_ROWS > 3
            HEIGHT(5) HEIGHT(6) /* 16 = 6 + 5 + 5 */
#else
            HEIGHT(2) HEIGHT(3) /* 16 = 4 * 3 + 2 * 2 */
#endif
#undef HEIGHT
        }
        done += height;
    }
}

#undef KIND
