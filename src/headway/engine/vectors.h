/* Vectors of floats as wide as the processor's, in the language extension that gcc and clang share:
   one source for AVX-512, AVX2, SSE and NEON; only a few lines know which it is. */
#ifndef HEADWAY_VECTORS_H
#define HEADWAY_VECTORS_H

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

INLINE vec smaller(vec x, vec y) {
#if defined(__AVX512F__)
    return (vec)_mm512_min_ps((__m512)x, (__m512)y);
#elif defined(__AVX2__)
    return (vec)_mm256_min_ps((__m256)x, (__m256)y);
#else
    ivec first = x < y;
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
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        const __m512 a = (__m512)x[2 * i], b = (__m512)x[2 * i + 1];
        pairs[i] = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const __m512d a = (__m512d)pairs[2 * i], b = (__m512d)pairs[2 * i + 1];
        fours[i] = _mm512_add_ps((__m512)_mm512_unpacklo_pd(a, b), (__m512)_mm512_unpackhi_pd(a, b));
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
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

/* e^x within two units of the last place, for x from -87 to 88; beyond, that of the nearer end; of
   what is no number none.
   x = n ln 2 + r with |r| <= ln 2 / 2, e^r by its Taylor series. */
INLINE vec exponential(vec x) {
    x = smaller(all(88.0f), larger(all(-87.0f), x));
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

#endif
