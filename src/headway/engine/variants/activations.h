/* What a feed-forward layer may put in the place of the paper's relu. */
#pragma once

/* (1 + erf(x / sqrt 2)) / 2 within 1e-7 (Abramowitz and Stegun 1964, 7.1.26). */
INLINE vec normal_share(vec x) {
    const vec z = x * 0.70710678118654752f;
    const vec size = larger(z, -z);
    const vec t = 1.0f / (1.0f + 0.3275911f * size);
    vec p = all(1.061405429f);
    p = p * t - 1.453152027f;
    p = p * t + 1.421413741f;
    p = p * t - 0.284496736f;
    p = p * t + 0.254829592f;
    const vec tail = 0.5f * p * t * exponential(-size * size); /* on the far side of |z| */
    const ivec negative = z < all(0.0f);
    const vec other = 1.0f - tail;
    return (vec)((negative & (ivec)tail) | (~negative & (ivec)other));
}

INLINE vec sigmoid(vec x) { return 1.0f / (1.0f + exponential(-larger(all(-88.0f), x))); } /* e^88: all */
INLINE vec cubic(vec x) { return 1.5957691216f * (x + 0.044715f * x * x * x); } /* 2 sqrt(2 / pi) */

/* A gated layer's is swish, before its gate. */
INLINE vec activated(int64_t activation, vec x) {
    switch (activation) {
    case RELU: return larger(all(0.0f), x);
    case GELU: return x * normal_share(x);
    case GELU_TANH: return x * sigmoid(cubic(x));
    default: return x * sigmoid(x);
    }
}
