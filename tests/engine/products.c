/* Products of whole numbers by the packed tile, against three plain loops: for processors on which no
   Python runs, and without a C library. The exit status says what was compiled (`levels.py` has the
   same), 32 where products in int8 are AMX's, and whether an output was wrong: 64. */
#include "product.h"

#define MOST_ROWS (2 * TILE_ROWS + 1)
#define MOST_INPUTS (3 * PANEL)
#define OUTPUTS (2 * PANEL)
typedef struct {
    float x[MOST_ROWS * MOST_INPUTS], y[MOST_ROWS * OUTPUTS], bias[OUTPUTS], steps[OUTPUTS];
    int32_t totals[OUTPUTS], units[MOST_ROWS * MOST_INPUTS], packed[OUTPUTS * MOST_INPUTS];
    int8_t held[OUTPUTS * MOST_INPUTS];
    scale scales[MOST_ROWS];
} numbers; /* each of so many that the next begins on a line of the cache */
static numbers all_numbers __attribute__((aligned(64)));

static uint32_t drawn(void) {
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/* Rows of whole numbers from -60 to 66 (none of them below 0 in every third row, up to 126), so that a
   step is 1 and nothing is rounded; in bfloat16 and float32 sums of such products are exact below
   2^24. */
static int wrong(int64_t kind, int64_t rows, int64_t inputs) {
    numbers *n = &all_numbers;
    for (int64_t i = 0; i < rows * inputs; i++) {
        const int least = i / inputs % 3 ? -60 : 0, at = (int)(i % inputs);
        n->x[i] = (float)(least + (at ? at > 1 ? (int)(drawn() % 127) : 126 : 0));
    }
    for (int64_t o = 0; o < OUTPUTS; o++) {
        n->steps[o] = 1.0f;
        n->totals[o] = 0;
        for (int64_t i = 0; i < inputs; i++) {
            const int8_t one = (int8_t)((int)(drawn() % 129) - 64);
            const int64_t per = per_unit(kind), unit = (o / PANEL * (inputs / per) + i / per) * PANEL;
            const int64_t place = (unit + o % PANEL) * per + i % per;
            const union {
                float value;
                uint32_t bits;
            } as = {one};
            n->held[o * inputs + i] = one;
            n->totals[o] += one;
            if (kind == float32_kind) ((float *)n->packed)[place] = as.value;
            if (kind == bfloat16_kind) ((uint16_t *)n->packed)[place] = (uint16_t)(as.bits >> 16);
            if (kind == int8_kind) ((int8_t *)n->packed)[place] = one;
        }
    }
    const matrix w = {n->packed, n->bias, n->totals, n->steps, kind, inputs, OUTPUTS};
    rounded room = {n->units, n->scales};
    product(&w, rows, n->x, inputs, n->y, OUTPUTS, &room);
    int is_wrong = 0;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t o = 0; o < OUTPUTS; o++) {
            int64_t sum = 0;
            for (int64_t i = 0; i < inputs; i++)
                sum += (int64_t)n->x[r * inputs + i] * n->held[o * inputs + i];
            is_wrong |= n->y[r * OUTPUTS + o] != (float)sum;
        }
    return is_wrong;
}

static int checked(void) {
    const int by_amx = amx_chosen();
    int is_wrong = 0;
    for (int64_t kind = float32_kind; kind <= int8_kind; kind++)
        for (int64_t rows = 1; rows <= MOST_ROWS; rows++)
            is_wrong |= wrong(kind, rows, PANEL * (1 + rows % 3));
    vec some[WIDTH];
    for (int i = 0; i < WIDTH * WIDTH; i++) some[i / WIDTH][i % WIDTH] = (float)(drawn() % 999);
    const vec sums = sums_of(some);
    for (int i = 0; i < WIDTH; i++) {
        float sum = 0, most = 0;
        for (int k = 0; k < WIDTH; k++) {
            sum += some[i][k];
            most = some[i][k] > most ? some[i][k] : most;
        }
        is_wrong |= sums[i] != sum || sum_of(some[i]) != sum || largest_of(some[i]) != most;
    }
    return 64 * is_wrong + 32 * by_amx + WIDTH + HAS_BFLOAT16 + 2 * HAS_INT8;
}

#if __STDC_HOSTED__
int main(void) { return checked(); }
#else /* Linux on aarch64, without a C library */
void *memcpy(void *to, const void *from, size_t n) {
    for (size_t i = 0; i < n; i++) ((char *)to)[i] = ((const char *)from)[i];
    return to;
}
void *memset(void *to, int value, size_t n) {
    for (size_t i = 0; i < n; i++) ((char *)to)[i] = (char)value;
    return to;
}
void _start(void) {
    register long status __asm__("x0") = checked();
    register long exit __asm__("x8") = 93;
    __asm__ volatile("svc 0" : : "r"(status), "r"(exit));
}
#endif
