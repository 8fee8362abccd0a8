/* One tile of a product; included once for each kind, with TILE, KIND, SUMS, ADDED and RESULT of it.
   The type of the sums is written out because compilers copy registers that change theirs.

   `rows` (a constant wherever this is called) rows times the panel of `w` that begins at column `n`. */
INLINE void TILE(const int rows, const matrix *w, int64_t n, const operand *x, int64_t row, float *y,
                 int64_t y_stride) {
    const int64_t n_units = w->inputs / PER_UNIT(KIND), stride = x->stride;
    const SUMS *panel = (const SUMS *)((const int32_t *)w->weights + n * n_units);
    const int32_t *units = x->units + row * stride;
    SUMS sums[TILE_ROWS][TILE_VECTORS];
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 16
        for (int v = 0; v < TILE_VECTORS; v++)
            sums[r][v] = ((const SUMS *)((const int32_t *)w->starts + n))[v];
    for (int64_t k = 0; k < n_units; k++) {
        for (int v = 0; rows > 1 && v < TILE_VECTORS; v++) /* the next panel comes near */
            __builtin_prefetch(panel + (n_units + k) * TILE_VECTORS + v);
        SUMS column[TILE_VECTORS];
#pragma GCC unroll 16
        for (int v = 0; v < TILE_VECTORS; v++) column[v] = panel[k * TILE_VECTORS + v];
#pragma GCC unroll 16
        for (int r = 0; r < rows; r++)
#pragma GCC unroll 16
            for (int v = 0; v < TILE_VECTORS; v++)
                sums[r][v] = ADDED(sums[r][v], units + r * stride + k, column[v]);
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 16
        for (int v = 0; v < TILE_VECTORS; v++)
            store(y + r * y_stride + v * WIDTH, RESULT(w, x, row + r, n + v * WIDTH, sums[r][v]));
}

INLINE void TILES(const matrix *w, int64_t n, const operand *x, int64_t rows, float *y,
                  int64_t y_stride) {
    for (int64_t done = 0; done < rows;) {
        const int64_t left = (rows - done + TILE_ROWS - 1) / TILE_ROWS; /* tiles of like heights */
        const int64_t height = (rows - done + left - 1) / left;
        float *to = y + done * y_stride;
        switch (height) {
#define HEIGHT(n_rows) case n_rows: TILE(n_rows, w, n, x, done, to, y_stride); break;
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

#undef TILE
#undef TILES
#undef KIND
#undef SUMS
#undef ADDED
#undef RESULT
