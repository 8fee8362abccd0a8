/* AMX: tiles of 16 rows of 64 bytes; an instruction multiplies 64 inputs of 16 rows with those of 16
   outputs, in the units of which a panel has them, and adds them to the sums. Compiled for every
   processor with AVX-512 VNNI, taken where `amx_chosen` found it right. */
#pragma once

#include <cpuid.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define AMX_ROWS 16
static int amx_is_taken;

/* Of a thread's tiles: 0 and 1 are sums of both vectors of a panel; 2 is of rows, 3 and 4 of weights;
   5 to 7 are the same for 32 inputs, as many as may be left. */
static const struct {
    uint8_t palette, start, none[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} amx_shapes = {1, 0, {0}, {64, 64, 64, 64, 64, 32, 64, 64}, {16, 16, 16, 16, 16, 16, 8, 8}};

/* AMX_ROWS rows or more. The last tile begins so early that it is full; rows that it shares with the
   one before get the same again. */
static __attribute__((noinline, target("amx-tile,amx-int8"))) void amx_panel(
    const matrix *w, int64_t n, const operand *x, int64_t rows, float *y, int64_t y_stride) {
    const int64_t n_units = w->inputs / per_unit(int8_kind), stride = x->stride * 4;
    ivec sums[AMX_ROWS][TILE_VECTORS];
    __asm__ volatile("" : : : "memory"); /* gcc does not know that tiles are loaded from memory */
    _tile_loadconfig(&amx_shapes); /* each time: others in this thread have their own shapes */
    for (int64_t done = 0; done < rows; done += AMX_ROWS) {
        const int64_t row = done + AMX_ROWS < rows ? done : rows - AMX_ROWS;
        const int32_t *units = x->units + row * x->stride;
        const int32_t *panel = (const int32_t *)w->weights + n * n_units;
        const int32_t *end = panel + n_units / 16 * 16 * PANEL;
        _tile_zero(0);
        _tile_zero(1);
        for (; panel < end; panel += 16 * PANEL, units += 16) {
            _tile_loadd(2, units, stride);
            _tile_loadd(3, panel, 4 * PANEL);
            _tile_loadd(4, panel + WIDTH, 4 * PANEL);
            _tile_dpbusd(0, 2, 3);
            _tile_dpbusd(1, 2, 4);
        }
        if (n_units % 16) {
            _tile_loadd(5, units, stride);
            _tile_loadd(6, panel, 4 * PANEL);
            _tile_loadd(7, panel + WIDTH, 4 * PANEL);
            _tile_dpbusd(0, 5, 6);
            _tile_dpbusd(1, 5, 7);
        }
        _tile_stored(0, sums, 4 * PANEL);
        _tile_stored(1, &sums[0][1], 4 * PANEL);
        for (int64_t r = 0; r < AMX_ROWS; r++)
            UNROLL for (int v = 0; v < TILE_VECTORS; v++)
                store(y + (row + r) * y_stride + v * WIDTH,
                      int8_result(w, x, row + r, n + v * WIDTH, sums[r][v]));
    }
    _tile_release();
}

INLINE int int8_blocks(const matrix *w, int64_t n, const operand *x, int64_t rows, float *y,
                       int64_t y_stride) {
    const int is_taken = amx_is_taken && rows >= AMX_ROWS;
    if (is_taken) amx_panel(w, n, x, rows, y, y_stride);
    return is_taken;
}

/* Whether the processor has tiles of bytes, and Linux lets this process use them: asked for once, that
   holds for all its threads. No level that is named for a lesser processor has them. */
INLINE int has_amx(void) {
    const char *level = getenv("HEADWAY_ENGINE_LEVEL");
    if (level && *level && strcmp(level, "native")) return 0;
    unsigned a, b, c, d = 0;
    const unsigned needed = 3u << 24; /* AMX-TILE, AMX-INT8 */
    const long request = 0x1023, tile_data = 18; /* ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA */
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & needed) == needed &&
           !syscall(SYS_arch_prctl, request, tile_data);
}

INLINE int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

enum { TRIED_ROWS = 2 * AMX_ROWS - 1, TRIED_INPUTS = 9 * PANEL, TRIED_OUTPUTS = 4 * PANEL };
typedef struct {
    float bias[TRIED_OUTPUTS], steps[TRIED_OUTPUTS], found[2][TRIED_ROWS * TRIED_OUTPUTS];
    int32_t totals[TRIED_OUTPUTS];
    int8_t weights[TRIED_OUTPUTS * TRIED_INPUTS];
    uint8_t units[TRIED_ROWS * TRIED_INPUTS];
    scale scales[TRIED_ROWS];
} amx_trial;

/* Takes it where a product of drawn numbers is the same to the last bit as without it, and is there
   sooner, at the best of some rounds; says whether. To be asked before anything is multiplied. */
INLINE int amx_chosen(void) {
    amx_trial t __attribute__((aligned(64)));
    int64_t least[2] = {INT64_MAX, INT64_MAX};
    uint32_t state = 1;
    if (!has_amx()) return 0;
    for (int i = 0; i < TRIED_OUTPUTS; i++) t.totals[i] = i * i, t.bias[i] = (float)i, t.steps[i] = 1;
    for (int i = 0; i < TRIED_ROWS; i++) t.scales[i] = (scale){1, i};
    for (uint8_t *p = (uint8_t *)t.weights; p < (uint8_t *)t.scales; p++)
        *p = (uint8_t)((state = state * 1664525u + 1013904223u) >> 24);
    const matrix w = {t.weights, t.bias, t.totals, t.steps, int8_kind, TRIED_INPUTS, TRIED_OUTPUTS};
    const operand x = {(const int32_t *)t.units, t.scales, TRIED_INPUTS / 4};
    for (int round = 0; round < 18; round++) {
        const int by_amx = round % 2;
        const int64_t begun = nanoseconds();
        for (int64_t n = 0; n < TRIED_OUTPUTS; n += PANEL)
            (by_amx ? amx_panel : int8_tiles)(&w, n, &x, TRIED_ROWS, t.found[by_amx] + n,
                                              TRIED_OUTPUTS);
        const int64_t took = nanoseconds() - begun;
        if (took < least[by_amx]) least[by_amx] = took;
    }
    const int is_same = !memcmp(t.found[0], t.found[1], sizeof *t.found);
    return amx_is_taken = is_same && least[1] < least[0];
}
