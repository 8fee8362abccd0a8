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

/* e^x for x of at most 0 or a little more, within two units of the last place; below -87 it is
   about 1e-38 instead of less. x = n ln 2 + r with |r| <= ln 2 / 2, e^r by its Taylor series. */
INLINE vec exponential(vec x) {
    x = larger(x, all(-87.0f));
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
