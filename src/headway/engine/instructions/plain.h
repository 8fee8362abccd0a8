/* Four floats at a time, in plain C but for what SSSE3 or NEON do. */
#if defined(__ARM_NEON)
#include "neon.h"
#define HAS_INT8 1
#elif defined(__SSSE3__)
#include "ssse3.h"
#define HAS_INT8 1
#else
#define HAS_INT8 0
#endif

INLINE vec larger(vec x, vec y) {
    const ivec first = x > y;
    return (vec)((first & (ivec)x) | (~first & (ivec)y));
}

INLINE ivec larger_whole(ivec x, ivec y) {
    const ivec first = x > y;
    return (first & x) | (~first & y);
}

INLINE float sum_of(vec x) { return (x[0] + x[2]) + (x[1] + x[3]); }

INLINE float largest_of(vec x) {
    const float one = x[0] > x[1] ? x[0] : x[1], other = x[2] > x[3] ? x[2] : x[3];
    return one > other ? one : other;
}

INLINE int32_t largest_whole_of(ivec x) {
    const int32_t one = x[0] > x[1] ? x[0] : x[1], other = x[2] > x[3] ? x[2] : x[3];
    return one > other ? one : other;
}

INLINE void store_bytes(uint8_t *p, ivec x) { *(bytes *)p = __builtin_convertvector(x, bytes); }

#if !HAS_INT8
INLINE vec sums_of(const vec *x) {
    return (vec){sum_of(x[0]), sum_of(x[1]), sum_of(x[2]), sum_of(x[3])};
}

/* `sums` and the products of four bytes, each from -127 to 127. */
INLINE ivec int8_added(ivec sums, const int32_t *unit, int8_columns weights) {
    const ivec one = *unit - (ivec){0};
    for (int part = 0; part < 32; part += 8)
        sums += (one << (24 - part) >> 24) * (weights << (24 - part) >> 24);
    return sums;
}
#endif
