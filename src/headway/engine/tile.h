/* One tile of a product; included once for each KIND, of which `OF(_sums)`, `OF(_added)`, .. are. The
   type of the sums is written out because compilers copy registers that change theirs.

   `rows` (a constant wherever this is called) rows times the panel of `w` that begins at column `n`. */
INLINE void OF(_tile)(const int rows, const matrix *w, int64_t n, const operand *x, int64_t row,
                      float *y, int64_t y_stride) {
    const int64_t n_units = w->inputs / per_unit(OF(_kind)), stride = x->stride;
    const OF(_sums) *panel = (const OF(_sums) *)((const int32_t *)w->weights + n * n_units);
    const int32_t *units = x->units + row * stride;
    OF(_sums) sums[TILE_ROWS][TILE_VECTORS];
    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int v = 0; v < TILE_VECTORS; v++)
            sums[r][v] = OF(_start)(w->bias + n + v * WIDTH);
    for (int64_t k = 0; k < n_units; k += OF(_units)) {
        for (int i = 0; rows > 1 && i < OF(_units) * PANEL; i += 16) /* the next panel comes near */
            __builtin_prefetch((const int32_t *)(panel + (n_units + k) * TILE_VECTORS) + i);
        UNROLL for (int part = 0; part < OF(_parts); part++) {
            const int32_t *unit = units + k * OF(_parts) + part;
            OF(_columns) column[TILE_VECTORS];
            UNROLL for (int v = 0; v < TILE_VECTORS; v++)
                column[v] = OF(_part)(panel + k * TILE_VECTORS + v, part);
            UNROLL for (int r = 0; r < rows; r++)
                UNROLL for (int v = 0; v < TILE_VECTORS; v++)
                    sums[r][v] = OF(_part_added)(sums[r][v], unit + r * stride, column[v]);
        }
    }
    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int v = 0; v < TILE_VECTORS; v++)
            store(y + r * y_stride + v * WIDTH,
                  OF(_result)(w, x, row + r, n + v * WIDTH, sums[r][v]));
}

INLINE void OF(_tiles)(const matrix *w, int64_t n, const operand *x, int64_t rows, float *y,
                       int64_t y_stride) {
    for (int64_t done = 0; done < rows;) {
        const int64_t left = (rows - done + OF(_rows) - 1) / OF(_rows); /* tiles of like heights */
        const int64_t height = (rows - done + left - 1) / left;
        float *to = y + done * y_stride;
        switch (height) {
#define HEIGHT(n_rows) case n_rows: OF(_tile)(n_rows, w, n, x, done, to, y_stride); break;
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

#undef KIND
