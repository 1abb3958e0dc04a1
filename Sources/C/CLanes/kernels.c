#include "kernels.h"

#include <stddef.h>
#include <string.h>

#pragma STDC FP_CONTRACT OFF

typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float8 __attribute__((ext_vector_type(8)));
typedef int32_t int8 __attribute__((ext_vector_type(8)));
typedef int32_t int4 __attribute__((ext_vector_type(4)));
typedef uint8_t byte4 __attribute__((ext_vector_type(4)));
typedef uint8_t byte8 __attribute__((ext_vector_type(8)));
typedef uint16_t word8 __attribute__((ext_vector_type(8)));
typedef uint16_t word16 __attribute__((ext_vector_type(16)));
typedef uint32_t long4 __attribute__((ext_vector_type(4)));
typedef uint32_t long8 __attribute__((ext_vector_type(8)));
typedef uint32_t long16 __attribute__((ext_vector_type(16)));

// For vectors, and for numbers. The bound for what is not a number.
#define LOWER(a, b) ((a) < (b) ? (a) : (b))
#define UPPER(a, b) ((a) > (b) ? (a) : (b))

/// Wider spans than this, in pixels, may change more than four cells.
static const float max_width = 2;

/// Adds a span to any number of cells: a chord, and a parabola with an upright axis above it.
static void add_wide(const lanes_cells *cells, int32_t y, float from, float to, float fall, float bend) {
    const float left = LOWER(from, to), wide = UPPER(from, to) - left, per_column = 1 / wide;
    const int32_t column = (int32_t)left;
    float *const row = cells->cells + y * cells->stride + column;
    // The distances of the left borders of the columns from the left end.
    const float4 steps = {0, 1, 2, 3};
    float4 border = steps + ((float)column - left);
    float to_before = 0, share_before = 0;
    int32_t offset = 0;
    do {
        // The areas up to the right borders of the columns.
        const float4 passed = UPPER(border + 1.0f, (float4)0);
        const float4 part = LOWER(passed * per_column, (float4)1);
        const float4 behind = UPPER(passed - wide, (float4)0);
        const float4 area = part * ((passed + behind) * (fall * 0.5f) + part * (3 - 2 * part) * bend);
        const float4 share = area - __builtin_shufflevector((float4)to_before, area, 0, 4, 5, 6);
        float4 cell;
        memcpy(&cell, row + offset, sizeof cell);
        cell += share - __builtin_shufflevector((float4)share_before, share, 0, 4, 5, 6);
        memcpy(row + offset, &cell, sizeof cell);
        to_before = area[3];
        share_before = share[3];
        border += 4.0f;
        offset += 4;
    } while (border[0] < wide + 1);
    const int32_t first = column >> cells->shift, last = (column + offset - 1) >> cells->shift;
    cells->dirty[y] |= ~0ull << first & ~0ull >> (63 - last);
}

#define NAME(function) function##_portable
#include "kernels_body.h"
#undef NAME

#if defined(__x86_64__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#define NAME(function) function##_avx2
#include "kernels_body.h"
#undef NAME
#pragma clang attribute pop

// The same vectors, but twice as many registers for them.
#pragma clang attribute push(__attribute__((target("avx2,avx512f,avx512vl,avx512bw,avx512dq"))), apply_to = function)
#define NAME(function) function##_avx512
#include "kernels_body.h"
#pragma clang attribute pop
#endif

const lanes_kernels *lanes_kernels_for(int set) {
    switch (set) {
        case 0: return &kernels_portable;
#if defined(__x86_64__)
        case 1: return __builtin_cpu_supports("avx2") ? &kernels_avx2 : NULL;
        case 2:
            return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
                ? &kernels_avx512
                : NULL;
#endif
        default: return NULL;
    }
}
