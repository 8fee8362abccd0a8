/* Vectors of floats as wide as the processor's, in the language extension that gcc and clang share:
   one source for AVX-512, AVX2, SSE and NEON; only a few lines know which it is. */
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define WIDTH 16   /* floats in a vector */
#define TILE_ROWS 14 /* rows of a tile of a product: 14 x 2 sums fill the 32 registers */
#define TILE_VECTORS 2
#elif defined(__AVX2__)
#define WIDTH 8
#define TILE_ROWS 6
#define TILE_VECTORS 2
#elif defined(__aarch64__)
#define WIDTH 4
#define TILE_ROWS 6
#define TILE_VECTORS 4
#else
#define WIDTH 4
#define TILE_ROWS 3
#define TILE_VECTORS 4
#endif
#define PANEL (WIDTH * TILE_VECTORS) /* columns of a packed panel; every size is padded to it */

typedef float vec __attribute__((vector_size(4 * WIDTH), may_alias));
typedef int32_t ivec __attribute__((vector_size(4 * WIDTH), may_alias));
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16") /* all of a loop of known length */

INLINE vec load(const float *p) { return *(const vec *)p; } /* aligned to a vector */
INLINE void store(float *p, vec x) { *(vec *)p = x; }
INLINE vec all(float x) { return x - (vec){0}; }

/* Of each pair; the second where one of both is no number. */
INLINE vec larger(vec x, vec y) {
#if defined(__AVX512F__)
    return (vec)_mm512_max_ps((__m512)x, (__m512)y);
#elif defined(__AVX2__)
    return (vec)_mm256_max_ps((__m256)x, (__m256)y);
#else
    ivec first = x > y;
    return (vec)((first & (ivec)x) | (~first & (ivec)y));
#endif
}

INLINE float sum_of(vec x) {
#if defined(__AVX512F__)
    return _mm512_reduce_add_ps((__m512)x);
#else
    float sum = 0;
    for (int i = 0; i < WIDTH; i++) sum += x[i];
    return sum;
#endif
}

INLINE float largest_of(vec x) {
#if defined(__AVX512F__)
    return _mm512_reduce_max_ps((__m512)x);
#else
    float most = x[0];
    for (int i = 1; i < WIDTH; i++) most = x[i] > most ? x[i] : most;
    return most;
#endif
}

/* The sum of each of WIDTH vectors: together they cost a third of one by one. */
INLINE vec sums_of(const vec *x) {
#if defined(__AVX512F__)
    __m512 pairs[8], fours[4], lanes[2];
    UNROLL for (int i = 0; i < 8; i++) {
        const __m512 a = (__m512)x[2 * i], b = (__m512)x[2 * i + 1];
        pairs[i] = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    }
    UNROLL for (int i = 0; i < 4; i++) {
        const __m512d a = (__m512d)pairs[2 * i], b = (__m512d)pairs[2 * i + 1];
        fours[i] = _mm512_add_ps((__m512)_mm512_unpacklo_pd(a, b), (__m512)_mm512_unpackhi_pd(a, b));
    }
    UNROLL for (int i = 0; i < 2; i++) {
        const __m512 a = fours[2 * i], b = fours[2 * i + 1];
        lanes[i] = _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
    }
    const __m512 a = lanes[0], b = lanes[1];
    return (vec)_mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
#else
    vec sums;
    for (int i = 0; i < WIDTH; i++) sums[i] = sum_of(x[i]);
    return sums;
#endif
}

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

/* `n` floats to whole numbers of steps from -127 to 127, stored with 128 more; gives the step: 0 of a
   row of zeros, and no finite number of a row that holds something that is none. */
static float round_to_int8(int64_t n, const float *x, uint8_t *to) {
    vec sizes = {0}, zeros = {0}; /* times what is no finite number zero is none */
    for (int64_t i = 0; i < n; i += WIDTH) {
        const vec one = load(x + i);
        sizes = larger(sizes, larger(one, -one));
        zeros += one * 0.0f;
    }
    const float largest = largest_of(sizes) + sum_of(zeros);
    const float rate = largest > 0 ? 127.0f / largest : 0.0f;
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
