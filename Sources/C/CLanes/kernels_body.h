// The kernels, included once for each set of instructions. No function takes vectors: how they are passed depends on the
// set.

static void NAME(add_edges)(const float *edges, intptr_t count, const lanes_cells *cells) {
    const float8 zero = 0, one = 1;
    // Kept in registers: what is stored to cells might be any of these.
    float *const first_cell = cells->cells;
    uint64_t *const dirty = cells->dirty;
    const intptr_t stride = cells->stride;
    const int32_t shift = cells->shift;
    const float8 right = (float)cells->width;
    // The largest number below the height.
    const float8 lowest = (float)cells->height * (1 - 0x1p-24f);
    for (intptr_t first = 0; first < count; first += 8) {
        float8 start_x, from_y, end_x, to_y, sag_x, sag_y, sign;
        memcpy(&start_x, edges + lanes_start_x * lanes_batch_capacity + first, sizeof start_x);
        memcpy(&from_y, edges + lanes_start_y * lanes_batch_capacity + first, sizeof from_y);
        memcpy(&end_x, edges + lanes_end_x * lanes_batch_capacity + first, sizeof end_x);
        memcpy(&to_y, edges + lanes_end_y * lanes_batch_capacity + first, sizeof to_y);
        memcpy(&sag_x, edges + lanes_sag_x * lanes_batch_capacity + first, sizeof sag_x);
        memcpy(&sag_y, edges + lanes_sag_y * lanes_batch_capacity + first, sizeof sag_y);
        memcpy(&sign, edges + lanes_sign * lanes_batch_capacity + first, sizeof sign);
        const float8 start_y = LOWER(UPPER(from_y, zero), lowest), end_y = LOWER(UPPER(to_y, zero), lowest);
        // A rising edge is mirrored, so that it falls: y(t) = top + slope · t − sink · t².
        const float8 rise = end_y - start_y;
        const int8 mirror = rise < 0;
        const float8 direction = mirror ? -one : one;
        const float8 top = start_y * direction, floor = end_y * direction, height = sign * direction;
        const float8 wide = end_x - start_x, sag4_x = sag_x * 4;
        const float8 sink = sag_y * 4 * direction, slope = rise * direction + sink;
        const float8 slope_squared = slope * slope, four_sinks = sink * 4;
        // Two thirds of the parallelogram of chord and sag.
        const float8 curve = (wide * sag_y - rise * sag_x) * sign * (2.0f / 3);
        const int8 first_row = __builtin_convertvector(start_y, int8);
        const int8 last_row = __builtin_convertvector(end_y, int8);
        const int8 step = mirror ? (int8)-1 : (int8)1;
        int32_t last_step = 0;
        {
            const int8 passed = (last_row - first_row) * step;
            for (int lane = 0; lane < 8; lane++) last_step = UPPER(last_step, passed[lane]);
        }
        // Where the current row ends.
        float8 border = __builtin_convertvector(first_row, float8) * direction + (mirror ? zero : one);
        int8 row = first_row;
        float8 at = 0, x = start_x, y = top;
        for (int32_t passed = 0; passed <= last_step; passed++) {
            // The end of the edge's part in its row: a span. Behind the end of the edge spans are empty.
            const float8 next_y = LOWER(border, floor);
            const float8 sunk = next_y - top;
            const float8 root = __builtin_elementwise_sqrt(UPPER(slope_squared - sunk * four_sinks, zero));
            const float8 solved = LOWER(sunk * 2 / UPPER(root + slope, (float8)0x1p-60f), one);
            const float8 next_at = border >= floor ? one : solved;
            const float8 next_x = (wide + (one - next_at) * sag4_x) * next_at + start_x;
            const float8 share = next_at - at;
            float8 fall = (next_y - y) * height;
            float8 bend = share * share * share * curve;
            const float8 from = LOWER(UPPER(x, zero), right), to = LOWER(UPPER(next_x, zero), right);
            const float8 left = LOWER(to, from);
            const float8 extent = UPPER(to, from) - left;
            const int8 is_wide = extent > max_width;
            if (__builtin_reduce_or(is_wide)) {
                for (int lane = 0; lane < 8; lane++) {
                    if (is_wide[lane]) add_wide(cells, row[lane], from[lane], to[lane], fall[lane], bend[lane]);
                }
                fall = is_wide ? zero : fall;
                bend = is_wide ? zero : bend;
            }
            // The area between a span and the right border of a pixel is a sum of two: its height times the mean
            // distance of its chord from that border, and the area of its bend. The part p of the width of a parabola
            // with an upright axis, from the left, holds the part 3p² − 2p³ of that area; other parabolas are so narrow
            // that it does not matter. An upright span gets a width of a 256th of a pixel, for the sake of the division.
            const float8 width = UPPER(extent, (float8)0x1p-8f);
            const int8 column = __builtin_convertvector(left, int8);
            const float8 begin = left - __builtin_convertvector(column, float8);
            const float8 end = begin + width;
            const float8 per_width = one / width;
            const float8 half = fall * 0.5f;
            // The distances of both ends from the right borders of the first and of the second pixel.
            const float8 begin1 = 1 - begin, end1 = UPPER(1 - end, zero);
            const float8 begin2 = 2 - begin, end2 = UPPER(2 - end, zero);
            const float8 part1 = (begin1 - end1) * per_width, part2 = (begin2 - end2) * per_width;
            // The areas up to the right borders of the first three pixels.
            const float8 to1 = part1 * ((begin1 + end1) * half + part1 * (3 - 2 * part1) * bend);
            const float8 to2 = part2 * ((begin2 + end2) * half + part2 * (3 - 2 * part2) * bend);
            const float8 to3 = (6 - begin - end) * half + bend;
            const float8 covered2 = to2 - to1, covered3 = to3 - to2;
            // Four cells of each of eight spans, in the order 0, 4, 1, 5, 2, 6, 3, 7.
            const float8 a = to1, b = covered2 - to1, c = covered3 - covered2, d = fall - covered3;
            const float8 low_ab = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
            const float8 low_cd = __builtin_shufflevector(c, d, 0, 8, 1, 9, 4, 12, 5, 13);
            const float8 high_ab = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
            const float8 high_cd = __builtin_shufflevector(c, d, 2, 10, 3, 11, 6, 14, 7, 15);
            const float8 sums[4] = {
                __builtin_shufflevector(low_ab, low_cd, 0, 1, 8, 9, 4, 5, 12, 13),
                __builtin_shufflevector(low_ab, low_cd, 2, 3, 10, 11, 6, 7, 14, 15),
                __builtin_shufflevector(high_ab, high_cd, 0, 1, 8, 9, 4, 5, 12, 13),
                __builtin_shufflevector(high_ab, high_cd, 2, 3, 10, 11, 6, 7, 14, 15),
            };
            float4 of_span[8];
            memcpy(of_span, sums, sizeof of_span);
            for (int lane = 0; lane < 8; lane++) {
                const int32_t y = row[lane], x = column[lane];
                float *const place = first_cell + y * stride + x;
                float4 cell;
                memcpy(&cell, place, sizeof cell);
                cell += of_span[(lane & 3) * 2 + (lane >> 2)];
                memcpy(place, &cell, sizeof cell);
                dirty[y] |= 1ull << (x >> shift) | 1ull << ((x + 3) >> shift);
            }
            row = row == last_row ? row : row + step;
            border += one;
            at = next_at;
            x = next_x;
            y = next_y;
        }
    }
}

/// `takes_size` is known where this is called, and costs nothing.
static inline __attribute__((always_inline)) float NAME(resolve_sums)(
    float *cells, uint8_t *bytes, intptr_t count, float carry, int takes_size) {
    const float8 zero = 0;
    float8 before = carry;
    for (intptr_t x = 0; x < count; x += 8) {
        float8 sum;
        memcpy(&sum, cells + x, sizeof sum);
        memcpy(cells + x, &zero, sizeof zero);
        sum += __builtin_shufflevector(zero, sum, 0, 8, 9, 10, 0, 12, 13, 14);
        sum += __builtin_shufflevector(zero, sum, 0, 0, 8, 9, 0, 0, 12, 13);
        sum += __builtin_shufflevector(zero, sum, 0, 0, 0, 0, 11, 11, 11, 11);
        sum += before;
        before = __builtin_shufflevector(sum, sum, 7, 7, 7, 7, 7, 7, 7, 7);
        float8 level = sum;
        if (takes_size) {
            const float8 size = sum < 0 ? -sum : sum;
            level = LOWER(size, (float8)2);
        }
        const int8 rounded = __builtin_convertvector(level * 255 + 0.5f, int8);
        const int8 least = 0, most = 255;
        const byte8 levels = __builtin_convertvector(LOWER(UPPER(rounded, least), most), byte8);
        memcpy(bytes + x, &levels, sizeof levels);
    }
    return before[0];
}

static float NAME(resolve)(float *cells, uint8_t *bytes, intptr_t count, float carry) {
    return NAME(resolve_sums)(cells, bytes, count, carry, 0);
}

static float NAME(resolve_size)(float *cells, uint8_t *bytes, intptr_t count, float carry) {
    return NAME(resolve_sums)(cells, bytes, count, carry, 1);
}

static void NAME(blend)(uint32_t *pixels, uint8_t *mask, intptr_t count, uint32_t source) {
    // Two channels of a pixel in each word: red and blue, then green and alpha.
    const uint32_t low_bytes = 0x00FF00FF;
    const long8 even8 = source & low_bytes, odd8 = source >> 8 & low_bytes;
    intptr_t x = 0;
    for (; x + 8 <= count; x += 8) {
        byte8 covered;
        memcpy(&covered, mask + x, sizeof covered);
        memset(mask + x, 0, sizeof covered);
        long8 below;
        memcpy(&below, pixels + x, sizeof below);
        const word16 coverage = __builtin_convertvector(
            __builtin_shufflevector(covered, covered, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7), word16);
        const word16 rest = coverage ^ 255;
        const word16 even = (word16)(below & low_bytes) * rest + (word16)even8 * coverage + 128;
        const word16 odd = (word16)(below >> 8 & low_bytes) * rest + (word16)odd8 * coverage + 128;
        // Divided by 255.
        const word16 even_mix = __builtin_convertvector(__builtin_convertvector(even, long16) * 257 >> 16, word16);
        const word16 odd_mix = __builtin_convertvector(__builtin_convertvector(odd, long16) * 257 >> 16, word16);
        const long8 mixed = (long8)even_mix | (long8)odd_mix << 8;
        memcpy(pixels + x, &mixed, sizeof mixed);
    }
    if (x < count) {
        byte4 covered;
        memcpy(&covered, mask + x, sizeof covered);
        memset(mask + x, 0, sizeof covered);
        long4 below;
        memcpy(&below, pixels + x, sizeof below);
        const word8 coverage =
            __builtin_convertvector(__builtin_shufflevector(covered, covered, 0, 0, 1, 1, 2, 2, 3, 3), word8);
        const word8 rest = coverage ^ 255;
        const word8 even = (word8)(below & low_bytes) * rest + (word8)even8.lo * coverage + 128;
        const word8 odd = (word8)(below >> 8 & low_bytes) * rest + (word8)odd8.lo * coverage + 128;
        const word8 even_mix = __builtin_convertvector(__builtin_convertvector(even, long8) * 257 >> 16, word8);
        const word8 odd_mix = __builtin_convertvector(__builtin_convertvector(odd, long8) * 257 >> 16, word8);
        const long4 mixed = (long4)even_mix | (long4)odd_mix << 8;
        memcpy(pixels + x, &mixed, sizeof mixed);
    }
}

static const lanes_kernels NAME(kernels) = {NAME(add_edges), NAME(resolve), NAME(resolve_size), NAME(blend)};
