#define _GNU_SOURCE
#include "opener.h"

#if defined(__linux__)

#include <stdlib.h>
#include <string.h>

struct asset_reducer {
    size_t width, height, target_width, target_height;
    // The row of the source that comes next.
    size_t row;
    // Sums of the target's present row, four a pixel: colour times alpha, alpha, each 0 to 255.
    float *sums;
    // The present row of the source, reduced across.
    float *across;
    // The columns of the source, colour times alpha.
    float *columns;
    struct asset_pixels target;
};

void asset_fail_memory(void) { asset_fail(lectern_asset_too_large, "it needs too much memory"); }

void *asset_allocated(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory == NULL) asset_fail_memory();
    return memory;
}

void asset_check_size(size_t width, size_t height, size_t most_pixels) {
    if (width * height > most_pixels) asset_fail(lectern_asset_too_large, "it has %zu by %zu pixels", width, height);
}

struct asset_reducer *asset_reducer_new(size_t width, size_t height, size_t target_width, size_t target_height) {
    if (target_width > width) target_width = width;
    if (target_height > height) target_height = height;
    struct asset_reducer *reducer = asset_allocated(1, sizeof *reducer);
    reducer->width = width;
    reducer->height = height;
    reducer->target_width = target_width;
    reducer->target_height = target_height;
    reducer->sums = asset_allocated(target_width * 4, sizeof(float));
    reducer->across = asset_allocated(target_width * 4, sizeof(float));
    reducer->columns = asset_allocated(width * 4, sizeof(float));
    reducer->target = (struct asset_pixels){target_width, target_height, asset_allocated(target_width * target_height, 4)};
    return reducer;
}

// The length that two intervals have in common, which meet.
static uint64_t overlap(uint64_t from, uint64_t to, uint64_t other_from, uint64_t other_to) {
    uint64_t upper = from > other_from ? from : other_from, lower = to < other_to ? to : other_to;
    return lower - upper;
}

static void reduce_across(struct asset_reducer *reducer, const uint8_t *row) {
    float *columns = reducer->columns;
    for (size_t x = 0; x < reducer->width; x++) {
        float alpha = (float)row[4 * x + 3] / 255;
        for (size_t c = 0; c < 3; c++) columns[4 * x + c] = (float)row[4 * x + c] * alpha;
        columns[4 * x + 3] = row[4 * x + 3];
    }
    if (reducer->target_width == reducer->width) {
        memcpy(reducer->across, columns, reducer->width * 4 * sizeof(float));
        return;
    }
    // In units of which a column of the source has `target`, and one of the target `source`.
    uint64_t source = reducer->width, target = reducer->target_width;
    for (uint64_t x = 0; x < target; x++) {
        uint64_t from = x * source, to = from + source;
        float sum[4] = {0, 0, 0, 0};
        for (uint64_t i = from / target; i * target < to; i++) {
            float weight = (float)overlap(i * target, (i + 1) * target, from, to) / (float)source;
            for (size_t c = 0; c < 4; c++) sum[c] += columns[4 * i + c] * weight;
        }
        memcpy(reducer->across + 4 * x, sum, sizeof sum);
    }
}

static uint8_t byte(float value) {
    return value <= 0 ? 0 : value >= 255 ? 255 : (uint8_t)(value + 0.5f);
}

static void write_row(struct asset_reducer *reducer, size_t y) {
    uint8_t *bytes = reducer->target.bytes + y * reducer->target_width * 4;
    for (size_t x = 0; x < reducer->target_width; x++) {
        const float *sum = reducer->sums + 4 * x;
        uint8_t alpha = byte(sum[3]);
        for (size_t c = 0; c < 3; c++) {
            // Colour never exceeds alpha, however it was rounded.
            uint8_t colour = byte(sum[c]);
            bytes[4 * x + c] = colour < alpha ? colour : alpha;
        }
        bytes[4 * x + 3] = alpha;
    }
    memset(reducer->sums, 0, reducer->target_width * 4 * sizeof(float));
}

void asset_reducer_add(struct asset_reducer *reducer, const uint8_t *row) {
    if (reducer->row >= reducer->height) return;
    reduce_across(reducer, row);
    // In units of which a row of the source has `target`, and one of the target `source`.
    uint64_t source = reducer->height, target = reducer->target_height;
    uint64_t top = reducer->row * target, bottom = top + target;
    // The target's rows that this row is a part of: two at most, as the target has no more rows.
    for (uint64_t y = top / source; y * source < bottom; y++) {
        uint64_t from = y * source, to = from + source;
        float weight = (float)overlap(top, bottom, from, to) / (float)source;
        for (size_t i = 0; i < reducer->target_width * 4; i++) reducer->sums[i] += reducer->across[i] * weight;
        if (to <= bottom) write_row(reducer, y);
    }
    reducer->row++;
}

struct asset_pixels asset_reducer_finish(struct asset_reducer *reducer) {
    struct asset_pixels target = reducer->target;
    free(reducer->sums);
    free(reducer->across);
    free(reducer->columns);
    free(reducer);
    return target;
}

void asset_reduce(const uint8_t *rows, size_t stride, size_t width, size_t height, struct asset_pixels *target) {
    if (target == NULL) return;
    struct asset_reducer *reducer = asset_reducer_new(width, height, target->width, target->height);
    for (size_t y = 0; y < height; y++) asset_reducer_add(reducer, rows + y * stride);
    *target = asset_reducer_finish(reducer);
}

struct asset_pixels asset_turned(struct asset_pixels pixels, int orientation) {
    if (orientation <= 1 || orientation > 8) return pixels;
    size_t width = pixels.width, height = pixels.height;
    bool swaps = orientation >= 5;
    struct asset_pixels turned = {swaps ? height : width, swaps ? width : height, asset_allocated(width * height, 4)};
    for (size_t y = 0; y < height; y++) {
        for (size_t x = 0; x < width; x++) {
            // Where the first row and the first column of the file are, EXIF 2.3, 4.6.4.
            size_t right = width - 1 - x, below = height - 1 - y, column, row;
            switch (orientation) {
            case 2: column = right, row = y; break;
            case 3: column = right, row = below; break;
            case 4: column = x, row = below; break;
            case 5: column = y, row = x; break;
            case 6: column = below, row = x; break;
            case 7: column = below, row = right; break;
            default: column = y, row = right; break;
            }
            memcpy(turned.bytes + 4 * (row * turned.width + column), pixels.bytes + 4 * (y * width + x), 4);
        }
    }
    free(pixels.bytes);
    return turned;
}

#endif
