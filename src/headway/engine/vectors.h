/* Vectors of floats as wide as the processor's, in the language extension that gcc and clang share:
   one source for AVX-512, AVX2, SSE and NEON. What only one of them can do lies in instructions/. */
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512BW__)
#define WIDTH 16   /* floats in a vector */
#define TILE_ROWS 14 /* rows of a tile of a product: 14 x 2 sums fill the 32 registers */
#define LESS_ROWS 0  /* of those in bfloat16, where a weight is held beside the sums */
#define TILE_VECTORS 2
#elif defined(__AVX2__)
#define WIDTH 8
#define TILE_ROWS 6
#define LESS_ROWS 1
#define TILE_VECTORS 2
#elif defined(__aarch64__)
#define WIDTH 4
#define TILE_ROWS 6
#define LESS_ROWS 0
#define TILE_VECTORS 4
#else
#define WIDTH 4
#define TILE_ROWS 3
#define LESS_ROWS 1
#define TILE_VECTORS 4
#endif
#define PANEL (WIDTH * TILE_VECTORS) /* columns of a packed panel; every size is padded to it */

typedef float vec __attribute__((vector_size(4 * WIDTH), may_alias));
typedef int32_t ivec __attribute__((vector_size(4 * WIDTH), may_alias));
typedef float real __attribute__((may_alias));
typedef uint16_t halves __attribute__((vector_size(2 * WIDTH), may_alias));
typedef uint8_t bytes __attribute__((vector_size(WIDTH), may_alias));
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16") /* all of a loop of known length */

/* Whether this processor has instructions for products of two bfloat16. */
#if (WIDTH == 16 && defined(__AVX512BF16__)) || defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
#define HAS_BFLOAT16 1
#else
#define HAS_BFLOAT16 0
#endif

INLINE vec load(const float *p) { return *(const vec *)p; } /* aligned to a vector */
INLINE void store(float *p, vec x) { *(vec *)p = x; }
INLINE vec all(float x) { return x - (vec){0}; }

/* Of any vectors, or of all numbers of one: `larger` of each pair, the second where one of both is no
   number; `larger_whole`; `sum_of`, `largest_of`, `largest_whole_of`; `sums_of` WIDTH vectors at once;
   `store_bytes`, the last of each number; and what adds up products of fewer bits. */
#include "instructions/columns.h"
#if WIDTH == 16
#include "instructions/avx512.h"
#elif WIDTH == 8
#include "instructions/avx2.h"
#else
#include "instructions/plain.h"
#endif

/* e^x within two units of the last place, for x from -87 to 88; below, e^-87; of what is no number
   none.
   x = n ln 2 + r with |r| <= ln 2 / 2, e^r by its Taylor series. */
INLINE vec exponential(vec x) {
    x = larger(all(-87.0f), x);
    const vec magic = all(12582912.0f); /* 1.5 * 2^23: adding it rounds to a whole number */
    vec shifted = x * 1.44269504088896341f + magic;
    vec n = shifted - magic;
    vec r = x - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
    vec p = all(1.0f / 5040);
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    ivec power = ((ivec)shifted - (ivec)magic + 127) << 23;
    return p * (vec)power;
}

/* -- numbers of fewer bits: rows rounded to them, and products of them added up -- */

enum { float32_kind, bfloat16_kind, int8_kind };
INLINE int64_t per_unit(int64_t kind) { return (int64_t)1 << kind; } /* in 32 bits */

/* Of a row in int8: what a step is worth, and how many steps its bytes are more than its numbers. */
typedef struct {
    float step;
    int32_t more;
} scale;

/* Room for rows that are rounded: of the longest inputs, for any kind. */
typedef struct {
    int32_t *units;
    scale *scales; /* [rows] */
} rounded;

/* Of `parts` of the kind one after the other a unit of weights is multiplied: in bfloat16 without
   instructions for it two, each a float of weights with a float of the row. */
enum { float32_parts = 1, bfloat16_parts = 2 - HAS_BFLOAT16, int8_parts = 1 };

/* Each to the nearest bfloat16, of two that are as near to the even one: its upper half. */
INLINE ivec rounded_up(vec x) {
    const ivec bits = (ivec)x;
    return bits + 0x7fff + ((bits >> 16) & 1);
}

/* `n` floats to bfloat16, or to floats of that value. */
static void round_to_bfloat16(int64_t n, const float *x, int32_t *to) {
    for (int64_t i = 0; i < n; i += WIDTH)
        if (HAS_BFLOAT16)
            *(halves *)((uint16_t *)to + i) =
                __builtin_convertvector(rounded_up(load(x + i)) >> 16, halves);
        else
            *(ivec *)(to + i) = rounded_up(load(x + i)) & -65536;
}

/* `n` floats to whole numbers of steps, 126 of them from the least to the greatest (or 0), stored from
   0 to 127: so 0 stays 0. The step is 0 of a row of zeros, and no finite number of a row that holds
   something that is none. */
static scale round_to_int8(int64_t n, const float *x, uint8_t *to) {
    ivec above = {0}, below = {0}; /* as whole numbers: what is no number is beyond all that are */
    for (int64_t i = 0; i < n; i += WIDTH) {
        above = larger_whole(above, (ivec)load(x + i));
        below = larger_whole(below, (ivec)-load(x + i));
    }
    const int32_t bits[] = {largest_whole_of(above), largest_whole_of(below)};
    const float least = *(const real *)(bits + 1), range = *(const real *)bits + least;
    const float rate = range > 1e-36f ? 126.0f / range : 0.0f; /* beyond that no finite one */
    const float magic = 12582912.0f; /* 1.5 * 2^23: its last bits are what is added to it */
    const float begin = rate > 0 ? least * rate + magic : magic; /* rounded as the least is below */
    for (int64_t i = 0; i < n; i += WIDTH) store_bytes(to + i, (ivec)(load(x + i) * rate + begin));
    return (scale){range / 126.0f, (int32_t)(begin - magic)};
}

/* `sums` and the product of the float in `unit` with each of the weights. */
INLINE vec float32_added(vec sums, const int32_t *unit, vec weights) {
    return sums + all(*(const real *)unit) * weights;
}

#if !HAS_BFLOAT16
/* The same for two bfloat16. */
INLINE vec bfloat16_added(vec sums, const int32_t *unit, vec weights) {
    const ivec one = *unit - (ivec){0}, other = (ivec)weights;
    sums += (vec)(one << 16) * (vec)(other << 16);
    return sums + (vec)(one & -65536) * (vec)(other & -65536);
}
#endif

/* What is multiplied of a unit of weights, part by part, and how. */
enum { float32_units = 1, bfloat16_units = 1 };
typedef vec float32_columns, bfloat16_columns;
#define float32_part(weights, part) (*(weights))
#define int8_part(weights, part) int8_columns_at(weights)
#define float32_part_added float32_added
#define int8_part_added int8_added
#if HAS_BFLOAT16
#define bfloat16_part(weights, part) (*(weights))
#define bfloat16_part_added bfloat16_added
#else
INLINE vec bfloat16_part(const vec *weights, int part) {
    return part ? (vec)((ivec)*weights & -65536) : (vec)((ivec)*weights << 16);
}
#define bfloat16_part_added float32_added
#endif
