/* Matrix products with packed weights: in float32, in bfloat16 with sums in float32, or in int8 with
   sums in int32. A matrix of [outputs, inputs] is cut into panels of PANEL outputs, each stored unit
   of inputs by unit, so that a product reads it once from front to back. A unit has 32 bits: one
   float, two bfloat16, or four bytes. So one tile serves all three; only what is added differs.

   Every output is one sum over the inputs in their order, however many rows there are, and every
   row is rounded for itself: what it gives does not depend on its batch-mates, to the last bit. */
#pragma once

#include "vectors.h"

typedef struct {
    const void *weights; /* [outputs / PANEL][inputs / inputs of a unit][PANEL] units */
    const float *bias;   /* [outputs] */
    const int32_t *totals; /* of int8: the sum of an output's weights, .. */
    const float *steps;    /* .. and what one step of them is worth */
    int64_t kind, inputs, outputs; /* multiples of PANEL; what was added is zeros */
} matrix;

/* Rows as a product reads them; `scales` are those of rows in int8. */
typedef struct {
    const int32_t *units;
    const scale *scales;
    int64_t stride; /* units from row to row */
} operand;

/* Units of a row for one of weights. */
INLINE int64_t parts_of(int64_t kind) { return kind == bfloat16_kind ? bfloat16_parts : 1; }

/* Rows of floats as `w` needs them, rounded into `room` if need be. */
static operand operand_for(const matrix *w, int64_t rows, const float *x, int64_t x_stride,
                           rounded *room) {
    if (w->kind == float32_kind) return (operand){(const int32_t *)x, 0, x_stride};
    const int64_t stride = w->inputs / per_unit(w->kind) * parts_of(w->kind);
    for (int64_t r = 0; r < rows; r++)
        if (w->kind == bfloat16_kind)
            round_to_bfloat16(w->inputs, x + r * x_stride, room->units + r * stride);
        else
            room->scales[r] =
                round_to_int8(w->inputs, x + r * x_stride, (uint8_t *)(room->units + r * stride));
    return (operand){room->units, room->scales, stride};
}

INLINE vec float32_result(const matrix *w, const operand *x, int64_t row, int64_t n, vec sums) {
    (void)w, (void)x, (void)row, (void)n;
    return sums;
}
#define bfloat16_result float32_result

/* Of sums of steps times steps, less what the row's bytes are more. */
INLINE vec int8_result(const matrix *w, const operand *x, int64_t row, int64_t n, ivec sums) {
    const scale of_row = x->scales[row];
    const vec worth = of_row.step * load(w->steps + n);
    sums -= of_row.more * *(const ivec *)(w->totals + n);
    return __builtin_convertvector(sums, vec) * worth + load(w->bias + n);
}

typedef vec float32_sums, bfloat16_sums;
typedef ivec int8_sums;
#define float32_start(bias) load(bias)
#define bfloat16_start(bias) load(bias)
#define int8_start(bias) ((ivec){0})
enum { float32_rows = TILE_ROWS, bfloat16_rows = TILE_ROWS - LESS_ROWS, int8_rows = TILE_ROWS };
#define JOINED(kind, name) kind##name
#define EXPANDED(kind, name) JOINED(kind, name)
#define OF(name) EXPANDED(KIND, name)

#define KIND float32
#include "tile.h"
#define KIND bfloat16
#include "tile.h"
#define KIND int8
#include "tile.h"
#include "instructions/blocks.h"

/* `rows` rows times the panel of `w` that begins at column `n`. */
static void panel_product(const matrix *w, int64_t n, const operand *x, int64_t rows, float *y,
                          int64_t y_stride) {
    if (w->kind == float32_kind)
        float32_tiles(w, n, x, rows, y, y_stride);
    else if (w->kind == bfloat16_kind)
        bfloat16_tiles(w, n, x, rows, y, y_stride);
    else if (!int8_blocks(w, n, x, rows, y, y_stride))
        int8_tiles(w, n, x, rows, y, y_stride);
}

/* y = x W^T + bias, for `rows` rows. */
static void product(const matrix *w, int64_t rows, const float *x, int64_t x_stride, float *y,
                    int64_t y_stride, rounded *room) {
    const operand read = operand_for(w, rows, x, x_stride, room);
    for (int64_t n = 0; n < w->outputs; n += PANEL)
        panel_product(w, n, &read, rows, y + n, y_stride);
}
