/* SSSE3: as avx2.h, four floats at a time. */
#include <tmmintrin.h>

INLINE vec sums_of(const vec *x) {
    return (vec)_mm_hadd_ps(_mm_hadd_ps((__m128)x[0], (__m128)x[1]),
                            _mm_hadd_ps((__m128)x[2], (__m128)x[3]));
}

INLINE ivec int8_added(ivec sums, const int32_t *unit, int8_columns weights) {
    const __m128i one = (__m128i)(unit[0] - (ivec){0}), next = (__m128i)(unit[1] - (ivec){0});
    const __m128i pairs = _mm_add_epi16(_mm_maddubs_epi16(one, (__m128i)weights.one),
                                        _mm_maddubs_epi16(next, (__m128i)weights.next));
    return sums + (ivec)_mm_madd_epi16(pairs, _mm_set1_epi16(1));
}
