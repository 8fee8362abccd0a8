/* Numbers of fewer bits: rows rounded to them, and products of them added up. */
#ifndef HEADWAY_ROUNDING_H
#define HEADWAY_ROUNDING_H

#include "vectors.h"

enum { FLOAT32, BFLOAT16, INT8 };
#define PER_UNIT(kind) ((kind) == FLOAT32 ? 1 : (kind) == BFLOAT16 ? 2 : 4) /* in 32 bits */

/* Whether this processor has instructions for such products. */
#if defined(__AVX512BF16__)
#define HAS_BFLOAT16 1
#else
#define HAS_BFLOAT16 0
#endif
#if defined(__AVX512VNNI__) || (defined(__AVXVNNI__) && defined(__AVX2__))
#define HAS_INT8 1
#else
#define HAS_INT8 0
#endif

typedef float real __attribute__((may_alias));
typedef uint16_t halves __attribute__((vector_size(2 * WIDTH), may_alias));
typedef uint8_t bytes __attribute__((vector_size(WIDTH), may_alias));

/* Room for rows that are rounded: of the longest inputs, for any kind. */
typedef struct {
    int32_t *units;
    float *steps; /* [rows] */
} rounded;

/* `n` floats, each to the nearest bfloat16, of two that are as near to the even one. */
static void round_to_bfloat16(int64_t n, const float *x, uint16_t *to) {
    for (int64_t i = 0; i < n; i += WIDTH) {
        const ivec bits = (ivec)load(x + i);
        const ivec up = bits + 0x7fff + ((bits >> 16) & 1);
        *(halves *)(to + i) = __builtin_convertvector(up >> 16, halves);
    }
}

/* Sizes of floats as their bits: in order, infinity and what is no number above all others. */
INLINE ivec larger_sizes(ivec sizes, vec x) {
    const ivec others = (ivec)x & 0x7fffffff;
#if defined(__AVX512F__)
    return (ivec)_mm512_max_epi32((__m512i)sizes, (__m512i)others);
#else
    const ivec first = sizes > others;
    return (first & sizes) | (~first & others);
#endif
}

INLINE float largest_size(ivec sizes) {
    int32_t most = 0;
    float found;
#if defined(__AVX512F__)
    most = _mm512_reduce_max_epi32((__m512i)sizes);
#else
    for (int i = 0; i < WIDTH; i++) most = sizes[i] > most ? sizes[i] : most;
#endif
    memcpy(&found, &most, sizeof found);
    return found;
}

/* `n` floats to whole numbers of steps from -127 to 127, stored with 128 more; gives the step: 0 of a
   row of zeros, and no finite number of a row that holds something that is none. */
static float round_to_int8(int64_t n, const float *x, uint8_t *to) {
    ivec sizes = {0};
    for (int64_t i = 0; i < n; i += WIDTH) sizes = larger_sizes(sizes, load(x + i));
    const float largest = largest_size(sizes), rate = largest > 0 ? 127.0f / largest : 0.0f;
    const vec magic = all(12582912.0f + 128.0f); /* 1.5 * 2^23: its last bits are the number */
    for (int64_t i = 0; i < n; i += WIDTH)
        *(bytes *)(to + i) = __builtin_convertvector((ivec)(load(x + i) * rate + magic), bytes);
    return largest / 127.0f;
}

/* `sums` and the product of the float in `unit` with each unit of weights. */
INLINE vec float32_added(vec sums, const int32_t *unit, vec weights) {
    return sums + all(*(const real *)unit) * weights;
}

/* The same for two bfloat16. */
INLINE vec bfloat16_added(vec sums, const int32_t *unit, vec weights) {
    const ivec one = *unit - (ivec){0}, other = (ivec)weights;
#if HAS_BFLOAT16
    return (vec)_mm512_dpbf16_ps((__m512)sums, (__m512bh)one, (__m512bh)other);
#else
    sums += (vec)(one << 16) * (vec)(other << 16);
    return sums + (vec)(one & -65536) * (vec)(other & -65536);
#endif
}

/* And for four bytes: in `unit` from 0 to 255, in weights from -127 to 127. */
INLINE ivec int8_added(ivec sums, const int32_t *unit, ivec weights) {
    const ivec one = *unit - (ivec){0};
#if defined(__AVX512VNNI__)
    return (ivec)_mm512_dpbusd_epi32((__m512i)sums, (__m512i)one, (__m512i)weights);
#elif HAS_INT8
    return (ivec)_mm256_dpbusd_avx_epi32((__m256i)sums, (__m256i)one, (__m256i)weights);
#else
    for (int part = 0; part < 32; part += 8)
        sums += (one >> part & 255) * (weights << (24 - part) >> 24);
    return sums;
#endif
}

#endif
