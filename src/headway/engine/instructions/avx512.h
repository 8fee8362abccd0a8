/* AVX-512, with VNNI and BF16 where they are there. */
#include <immintrin.h>

#define HAS_INT8 1

INLINE vec larger(vec x, vec y) { return (vec)_mm512_max_ps((__m512)x, (__m512)y); }
INLINE ivec larger_whole(ivec x, ivec y) { return (ivec)_mm512_max_epi32((__m512i)x, (__m512i)y); }
INLINE float sum_of(vec x) { return _mm512_reduce_add_ps((__m512)x); }
INLINE float largest_of(vec x) { return _mm512_reduce_max_ps((__m512)x); }
INLINE int32_t largest_whole_of(ivec x) { return _mm512_reduce_max_epi32((__m512i)x); }

INLINE vec sums_of(const vec *x) {
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
}

/* By a register: this instruction's way straight to memory is several times slower. */
INLINE void store_bytes(uint8_t *p, ivec x) {
    __m128i last = _mm512_cvtepi32_epi8((__m512i)x);
    __asm__("" : "+v"(last));
    _mm_store_si128((__m128i *)p, last);
}

#if HAS_BFLOAT16
INLINE vec bfloat16_added(vec sums, const int32_t *unit, vec weights) {
    return (vec)_mm512_dpbf16_ps((__m512)sums, (__m512bh)(*unit - (ivec){0}), (__m512bh)weights);
}
#endif

INLINE ivec int8_added(ivec sums, const int32_t *unit, int8_columns weights) {
    const __m512i one = (__m512i)(*unit - (ivec){0});
#if defined(__AVX512VNNI__)
    return (ivec)_mm512_dpbusd_epi32((__m512i)sums, one, (__m512i)weights);
#else /* as avx2.h */
    const __m512i next = (__m512i)(unit[1] - (ivec){0});
    const __m512i pairs = _mm512_add_epi16(_mm512_maddubs_epi16(one, (__m512i)weights.one),
                                           _mm512_maddubs_epi16(next, (__m512i)weights.next));
    return sums + (ivec)_mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
#endif
}
