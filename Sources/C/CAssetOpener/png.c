#define _GNU_SOURCE
#include "opener.h"

#if defined(__linux__)

#include <spng.h>
#include <stdlib.h>

// Bytes of one chunk that is kept, and of all: texts and colour profiles can be bombs, too.
static const size_t chunk_bytes = 4 << 20, kept_bytes = 16 << 20;

static void check(int code) {
    if (code == SPNG_EMEM) asset_fail_memory();
    if (code != 0) asset_fail(lectern_asset_unreadable, "not a PNG file that can be read: %s", spng_strerror(code));
}

struct asset_pixels asset_decode_png(const uint8_t *bytes, size_t count, size_t most_pixels, struct asset_pixels *target) {
    spng_ctx *context = spng_ctx_new(0);
    if (context == NULL) asset_fail_memory();
    check(spng_set_chunk_limits(context, chunk_bytes, kept_bytes));
    check(spng_set_png_buffer(context, bytes, count));
    struct spng_ihdr header;
    check(spng_get_ihdr(context, &header));
    size_t width = header.width, height = header.height;
    asset_check_size(width, height, most_pixels);

    struct asset_reducer *reducer =
        target != NULL ? asset_reducer_new(width, height, target->width, target->height) : NULL;
    check(spng_decode_image(context, NULL, 0, SPNG_FMT_RGBA8, SPNG_DECODE_TRNS | SPNG_DECODE_PROGRESSIVE));
    // The rows of an interlaced image come several times, in another order.
    bool interlaced = header.interlace_method != 0;
    size_t pitch = width * 4;
    uint8_t *rows = asset_allocated(interlaced ? height : 1, pitch);
    for (;;) {
        struct spng_row_info row;
        int code = spng_get_row_info(context, &row);
        if (code == SPNG_EOI) break;
        check(code);
        uint8_t *place = interlaced ? rows + row.row_num * pitch : rows;
        // The last row comes with the end.
        code = spng_decode_row(context, place, pitch);
        if (code != SPNG_EOI) check(code);
        if (!interlaced && reducer != NULL) asset_reducer_add(reducer, place);
        if (code == SPNG_EOI) break;
    }
    // To the file's last chunk.
    check(spng_decode_chunks(context));
    for (size_t y = 0; interlaced && reducer != NULL && y < height; y++) asset_reducer_add(reducer, rows + y * pitch);
    free(rows);
    spng_ctx_free(context);
    if (reducer != NULL) *target = asset_reducer_finish(reducer);
    return (struct asset_pixels){width, height, NULL};
}

void asset_write_png(struct asset_pixels pixels) {
    // Colour is not times alpha in a file.
    size_t count = pixels.width * pixels.height;
    bool opaque = true;
    for (size_t i = 0; i < count; i++) {
        uint8_t *pixel = pixels.bytes + 4 * i;
        unsigned alpha = pixel[3];
        if (alpha == 255) continue;
        opaque = false;
        for (size_t c = 0; c < 3 && alpha != 0; c++) pixel[c] = (uint8_t)((pixel[c] * 255u + alpha / 2) / alpha);
    }
    if (opaque) {
        for (size_t i = 0; i < count; i++) {
            for (size_t c = 0; c < 3; c++) pixels.bytes[3 * i + c] = pixels.bytes[4 * i + c];
        }
    }
    spng_ctx *context = spng_ctx_new(SPNG_CTX_ENCODER);
    if (context == NULL) asset_fail_memory();
    check(spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1));
    check(spng_set_option(context, SPNG_IMG_COMPRESSION_LEVEL, 4));
    struct spng_ihdr header = {
        .width = (uint32_t)pixels.width,
        .height = (uint32_t)pixels.height,
        .bit_depth = 8,
        .color_type = opaque ? SPNG_COLOR_TYPE_TRUECOLOR : SPNG_COLOR_TYPE_TRUECOLOR_ALPHA,
    };
    check(spng_set_ihdr(context, &header));
    check(spng_encode_image(context, pixels.bytes, count * (opaque ? 3 : 4), SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE));
    size_t length;
    int code;
    void *file = spng_get_png_buffer(context, &length, &code);
    check(file == NULL ? code : 0);
    asset_write(file, length);
}

#endif
