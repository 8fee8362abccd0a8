/* AVX2, with AVX-VNNI where it is there. */
#include <immintrin.h>

#define HAS_INT8 1

INLINE vec larger(vec x, vec y) { return (vec)_mm256_max_ps((__m256)x, (__m256)y); }
INLINE ivec larger_whole(ivec x, ivec y) { return (ivec)_mm256_max_epi32((__m256i)x, (__m256i)y); }
INLINE vec turned(vec x) { return (vec)_mm256_permute2f128_ps((__m256)x, (__m256)x, 1); }

INLINE float sum_of(vec x) {
    const vec half = x + turned(x);
    const vec two = half + (vec)_mm256_permute_ps((__m256)half, 0x4e);
    return two[0] + two[1];
}

INLINE float largest_of(vec x) {
    const vec half = larger(x, turned(x));
    const vec two = larger(half, (vec)_mm256_permute_ps((__m256)half, 0x4e));
    return two[0] > two[1] ? two[0] : two[1];
}

INLINE int32_t largest_whole_of(ivec x) {
    const ivec half = larger_whole(x, (ivec)turned((vec)x));
    const ivec two = larger_whole(half, (ivec)_mm256_permute_ps((__m256)half, 0x4e));
    return two[0] > two[1] ? two[0] : two[1];
}

INLINE vec sums_of(const vec *x) {
    __m256 pairs[4], fours[2];
    UNROLL for (int i = 0; i < 4; i++) {
        const __m256 a = (__m256)x[2 * i], b = (__m256)x[2 * i + 1];
        pairs[i] = _mm256_add_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
    }
    UNROLL for (int i = 0; i < 2; i++) {
        const __m256d a = (__m256d)pairs[2 * i], b = (__m256d)pairs[2 * i + 1];
        fours[i] = _mm256_add_ps((__m256)_mm256_unpacklo_pd(a, b), (__m256)_mm256_unpackhi_pd(a, b));
    }
    return (vec)_mm256_add_ps(_mm256_permute2f128_ps(fours[0], fours[1], 0x20),
                              _mm256_permute2f128_ps(fours[0], fours[1], 0x31));
}

INLINE void store_bytes(uint8_t *p, ivec x) {
    const __m256i last = _mm256_shuffle_epi8((__m256i)x, _mm256_set1_epi32(0x0c080400));
    const __m128i one = _mm256_castsi256_si128(last), other = _mm256_extracti128_si256(last, 1);
    _mm_storel_epi64((__m128i *)p, _mm_unpacklo_epi32(one, other));
}

INLINE ivec int8_added(ivec sums, const int32_t *unit, int8_columns weights) {
    const __m256i one = (__m256i)(*unit - (ivec){0});
#if defined(__AVXVNNI__)
    return (ivec)_mm256_dpbusd_avx_epi32((__m256i)sums, one, (__m256i)weights);
#else
    const __m256i next = (__m256i)(unit[1] - (ivec){0});
    const __m256i pairs = _mm256_add_epi16(_mm256_maddubs_epi16(one, (__m256i)weights.one),
                                           _mm256_maddubs_epi16(next, (__m256i)weights.next));
    return sums + (ivec)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
#endif
}
