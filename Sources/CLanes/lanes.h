// Operations on vectors of four that Swift's SIMD types take apart into single numbers, in Clang's portable notation:
// compiled into the Swift code that calls them, as one to three instructions each.
#pragma once
#include <stdint.h>

typedef float lanes_float2 __attribute__((ext_vector_type(2)));
typedef float lanes_float4 __attribute__((ext_vector_type(4)));
typedef int32_t lanes_int4 __attribute__((ext_vector_type(4)));
typedef uint8_t lanes_byte4 __attribute__((ext_vector_type(4)));
typedef uint16_t lanes_word8 __attribute__((ext_vector_type(8)));
typedef uint32_t lanes_long8 __attribute__((ext_vector_type(8)));

#define LANES_INLINE static inline __attribute__((always_inline))

/// The same vector. What it is computed from, and what is computed from it, is not taken apart into single numbers,
/// which Clang does where only some of them are used later.
LANES_INLINE lanes_float4 lanes_kept(lanes_float4 v) {
#if defined(__x86_64__)
    __asm__("" : "+x"(v));
#elif defined(__aarch64__)
    __asm__("" : "+w"(v));
#endif
    return v;
}

/// The square root of each.
LANES_INLINE lanes_float4 lanes_root(lanes_float4 v) { return __builtin_elementwise_sqrt(v); }

/// The same of one, which Swift may call a function of the C library for.
LANES_INLINE float lanes_root_one(float v) { return __builtin_elementwise_sqrt(v); }

/// The sum of each and all before it.
LANES_INLINE lanes_float4 lanes_sums(lanes_float4 v) {
    const lanes_float4 zero = {0, 0, 0, 0};
    v += __builtin_shufflevector(zero, v, 3, 4, 5, 6);
    v += __builtin_shufflevector(zero, v, 2, 3, 4, 5);
    return v;
}

/// The last one four times.
LANES_INLINE lanes_float4 lanes_last(lanes_float4 v) { return __builtin_shufflevector(v, v, 3, 3, 3, 3); }

/// The first of one and three of the others behind it.
LANES_INLINE lanes_float4 lanes_behind(lanes_float4 first, lanes_float4 v) {
    return __builtin_shufflevector(__builtin_shufflevector(first, v, 0, 4, 1, 5), v, 0, 1, 5, 6);
}

/// The first twice, then the second twice.
LANES_INLINE lanes_float4 lanes_each(lanes_float4 v) { return __builtin_shufflevector(v, v, 0, 0, 1, 1); }

/// The first of one and the first of the other, then the third of both.
LANES_INLINE lanes_float4 lanes_behind_each(lanes_float4 first, lanes_float4 v) {
    return __builtin_shufflevector(first, v, 0, 4, 2, 6);
}

/// The first of both, then the second of both.
LANES_INLINE lanes_float4 lanes_pairs(lanes_float2 a, lanes_float2 b) {
    return __builtin_shufflevector(a, b, 0, 2, 1, 3);
}

/// The last two, twice.
LANES_INLINE lanes_float4 lanes_high(lanes_float4 v) { return __builtin_shufflevector(v, v, 2, 3, 2, 3); }

/// The first one four times, or the second.
LANES_INLINE lanes_float4 lanes_first(lanes_float4 v) { return __builtin_shufflevector(v, v, 0, 0, 0, 0); }
LANES_INLINE lanes_float4 lanes_second(lanes_float4 v) { return __builtin_shufflevector(v, v, 1, 1, 1, 1); }

/// The whole parts of what is between −2³¹ and 2³¹, towards 0.
LANES_INLINE lanes_int4 lanes_whole(lanes_float4 v) { return __builtin_convertvector(v, lanes_int4); }

/// The same of one.
LANES_INLINE int32_t lanes_whole_one(float v) { return (int32_t)v; }

/// Whole numbers as they are.
LANES_INLINE lanes_float4 lanes_floats(lanes_int4 v) { return __builtin_convertvector(v, lanes_float4); }

/// Four whole numbers as bytes, those below 0 as 0 and those above 255 as 255.
LANES_INLINE lanes_byte4 lanes_bytes(lanes_int4 v) {
    const lanes_int4 least = {0, 0, 0, 0};
    const lanes_int4 most = {255, 255, 255, 255};
    v = __builtin_elementwise_min(__builtin_elementwise_max(v, least), most);
    return __builtin_convertvector(v, lanes_byte4);
}

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

/// Four bytes as eight words, each twice.
LANES_INLINE lanes_word8 lanes_twice(lanes_byte4 v) {
    return __builtin_convertvector(__builtin_shufflevector(v, v, 0, 0, 1, 1, 2, 2, 3, 3), lanes_word8);
}

/// Each, up to 255², divided by 255 and rounded to nearest.
LANES_INLINE lanes_word8 lanes_over_255(lanes_word8 v) {
    const lanes_long8 wide = __builtin_convertvector(v + 128, lanes_long8) * 257 >> 16;
    return __builtin_convertvector(wide, lanes_word8);
}

/// Has the memory at an address fetched that is going to be written soon; any address will do.
LANES_INLINE void lanes_prefetch(const void *address) { __builtin_prefetch(address, 1); }
