/* `int8_blocks`: what `int8_tiles` gives, by instructions that multiply whole matrices; whether it did.
   `amx_chosen`: whether those are AMX's from now on. */
#pragma once

#if defined(__ARM_FEATURE_MATMUL_INT8)
#include "i8mm.h"
#elif defined(__AVX512VNNI__) && defined(__x86_64__) && defined(__linux__) && \
    (__has_include(<amxint8intrin.h>) || __has_include(<amxintrin.h>))
#include "amx.h"
#define HAS_AMX 1
#else
#define int8_blocks(...) 0
#endif
#ifndef HAS_AMX
#define amx_chosen() 0
#endif
