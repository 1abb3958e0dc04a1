// Operations on vectors of four that Swift's SIMD types take apart into single numbers, in Clang's portable notation:
// compiled into the Swift code that calls them, as one to three instructions each.
#pragma once
#include <stdint.h>

typedef float lanes_float2 __attribute__((ext_vector_type(2)));
typedef float lanes_float4 __attribute__((ext_vector_type(4)));
typedef int32_t lanes_int4 __attribute__((ext_vector_type(4)));

#define LANES_INLINE static inline __attribute__((always_inline))

/// The square root of each.
LANES_INLINE lanes_float4 lanes_root(lanes_float4 v) { return __builtin_elementwise_sqrt(v); }

/// The same of one, which Swift may call a function of the C library for.
LANES_INLINE float lanes_root_one(float v) { return __builtin_elementwise_sqrt(v); }

/// The first of both, then the second of both.
LANES_INLINE lanes_float4 lanes_pairs(lanes_float2 a, lanes_float2 b) {
    return __builtin_shufflevector(a, b, 0, 2, 1, 3);
}

/// The whole part of what is between −2³¹ and 2³¹, towards 0.
LANES_INLINE int32_t lanes_whole_one(float v) { return (int32_t)v; }

/// Whole numbers as they are.
LANES_INLINE lanes_float4 lanes_floats(lanes_int4 v) { return __builtin_convertvector(v, lanes_float4); }

/// Four rows as columns.
typedef struct {
    lanes_float4 x, y, z, w;
} lanes_square;

LANES_INLINE lanes_square lanes_turned(lanes_float4 a, lanes_float4 b, lanes_float4 c, lanes_float4 d) {
    const lanes_float4 low_ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const lanes_float4 low_cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const lanes_float4 high_ab = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const lanes_float4 high_cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    lanes_square turned = {
        __builtin_shufflevector(low_ab, low_cd, 0, 1, 4, 5),
        __builtin_shufflevector(low_ab, low_cd, 2, 3, 6, 7),
        __builtin_shufflevector(high_ab, high_cd, 0, 1, 4, 5),
        __builtin_shufflevector(high_ab, high_cd, 2, 3, 6, 7),
    };
    return turned;
}

typedef uint32_t lanes_long16 __attribute__((ext_vector_type(16)));
typedef _Bool lanes_flag16 __attribute__((ext_vector_type(16)));

/// A bit for each of 64 words, the lowest first: whether it differs from the word before it; `before` stands before the
/// first.
LANES_INLINE uint64_t lanes_changes(const uint32_t *words, uint32_t before) {
    uint64_t changes = 0;
    for (int first = 0; first < 64; first += 16) {
        lanes_long16 current, previous;
        __builtin_memcpy(&current, words + first, sizeof current);
        previous = __builtin_shufflevector(current, current, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
        previous[0] = before;
        before = current[15];
        const lanes_flag16 differ = __builtin_convertvector(current != previous, lanes_flag16);
        uint16_t bits;
        __builtin_memcpy(&bits, &differ, sizeof bits);
        changes |= (uint64_t)bits << first;
    }
    return changes;
}

/// Has the memory at an address fetched that is going to be written soon; any address will do.
LANES_INLINE void lanes_prefetch(const void *address) { __builtin_prefetch(address, 1); }
