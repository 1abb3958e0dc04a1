// The inner loops of the rasterizer, compiled for every processor and for those with AVX2. Both give the same results:
// they do the same operations in the same order, eight numbers at a time, and each product and sum is rounded.
#pragma once
#include <stdint.h>

enum {
    /// The room for edges in a batch, a multiple of eight.
    lanes_batch_capacity = 128,
};

/// What an edge of a batch is known by. A batch is `lanes_batch_capacity` numbers for each of these, one after the other.
///
/// Edges are parabolas whose y only grows or only shrinks, from a start to an end, with the middle at the sag from that of
/// the chord. The sign is 1, or −1 where an outline runs from the end to the start.
enum {
    lanes_start_x,
    lanes_start_y,
    lanes_end_x,
    lanes_end_y,
    lanes_sag_x,
    lanes_sag_y,
    lanes_sign,
    lanes_edge_numbers,
};

/// The cells of a box of pixels, row by row; of each row at least eight more than its pixels.
typedef struct {
    float *cells;
    /// A word a row, with a bit for each block of 2 to the power of `shift` cells that is not 0.
    uint64_t *dirty;
    intptr_t stride;
    int32_t width, height;
    int32_t shift;
} lanes_cells;

typedef struct {
    /// Adds to the cells what the edges of a batch change, a multiple of eight of them.
    void (*add_edges)(const float *edges, intptr_t count, const lanes_cells *cells);
    /// Replaces cells by 0, and writes the sums of each and all before it as bytes, 1 as 255. `count` is rounded up to a
    /// multiple of eight. Returns the sum of all and of what `carry` was.
    float (*resolve)(float *cells, uint8_t *bytes, intptr_t count, float carry);
    /// The same with the sizes of the sums, for outlines of either direction.
    float (*resolve_size)(float *cells, uint8_t *bytes, intptr_t count, float carry);
    /// Blends a colour over pixels through a mask, a multiple of four of them, and wipes the mask.
    void (*blend)(uint32_t *pixels, uint8_t *mask, intptr_t count, uint32_t source);
} lanes_kernels;

/// The kernels for a set of instructions: 0 for those that every processor has, then faster ones up to
/// `lanes_kernel_sets`; NULL where this processor does not have them.
const lanes_kernels *lanes_kernels_for(int set);

enum { lanes_kernel_sets = 3 };
