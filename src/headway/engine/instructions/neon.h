/* NEON, with dotprod and BF16 where they are there. */
#include <arm_neon.h>

INLINE vec sums_of(const vec *x) {
    return (vec)vpaddq_f32(vpaddq_f32((float32x4_t)x[0], (float32x4_t)x[1]),
                           vpaddq_f32((float32x4_t)x[2], (float32x4_t)x[3]));
}

#if HAS_BFLOAT16
INLINE vec bfloat16_added(vec sums, const int32_t *unit, vec weights) {
    const bfloat16x8_t one = vreinterpretq_bf16_s32(vdupq_n_s32(*unit));
    return (vec)vbfdotq_f32((float32x4_t)sums, one, vreinterpretq_bf16_f32((float32x4_t)weights));
}
#endif

INLINE ivec int8_added(ivec sums, const int32_t *unit, int8_columns weights) {
    const int8x16_t one = vreinterpretq_s8_s32(vdupq_n_s32(*unit)), other = (int8x16_t)weights;
#if defined(__ARM_FEATURE_DOTPROD)
    return (ivec)vdotq_s32((int32x4_t)sums, one, other);
#else /* two products of 127 * 127 fit 16 bits */
    const int16x8_t low = vmull_s8(vget_low_s8(one), vget_low_s8(other));
    const int16x8_t pairs = vpaddq_s16(low, vmull_high_s8(one, other));
    return (ivec)vpadalq_s16((int32x4_t)sums, pairs);
#endif
}
