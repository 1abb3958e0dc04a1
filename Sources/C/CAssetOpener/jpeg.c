#define _GNU_SOURCE
#include "opener.h"

#if defined(__linux__)

#include <stdio.h>
// After stdio.h, whose types it uses.
#include <jpeglib.h>
#include <jerror.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void fail(j_common_ptr decoder) {
    if (decoder->err->msg_code == JERR_OUT_OF_MEMORY) asset_fail_memory();
    char reason[JMSG_LENGTH_MAX];
    decoder->err->format_message(decoder, reason);
    asset_fail(lectern_asset_unreadable, "not a JPEG file that can be read: %s", reason);
}

// Damage that libjpeg passes over. A file that ends early is not whole; strange bytes between markers do no harm.
static void warn(j_common_ptr decoder, int level) {
    if (level < 0 && (decoder->err->msg_code == JWRN_JPEG_EOF || decoder->err->msg_code == JWRN_HIT_MARKER)) fail(decoder);
}

static unsigned number(const uint8_t *bytes, bool little, int count) {
    unsigned value = 0;
    for (int i = 0; i < count; i++) value = value << 8 | bytes[little ? count - 1 - i : i];
    return value;
}

// How the camera was held: tag 0x0112 of the first directory of EXIF; 1 where nothing is said.
static int orientation(const struct jpeg_decompress_struct *decoder) {
    for (jpeg_saved_marker_ptr marker = decoder->marker_list; marker != NULL; marker = marker->next) {
        const uint8_t *bytes = marker->data;
        if (marker->marker != JPEG_APP0 + 1 || marker->data_length < 14 || memcmp(bytes, "Exif\0", 6) != 0) continue;
        bytes += 6;
        unsigned count = marker->data_length - 6;
        bool little = bytes[0] == 'I';
        unsigned directory = number(bytes + 4, little, 4);
        if (directory > count - 2) continue;
        unsigned entries = number(bytes + directory, little, 2);
        for (unsigned i = 0; i < entries && directory + 2 + 12 * (i + 1) <= count; i++) {
            const uint8_t *entry = bytes + directory + 2 + 12 * i;
            if (number(entry, little, 2) != 0x0112) continue;
            unsigned value = number(entry + 8, little, 2);
            return value >= 1 && value <= 8 ? (int)value : 1;
        }
    }
    return 1;
}

// Inks to light, in place. Adobe's programs store inks inverted.
static void convert_inks(uint8_t *row, size_t width, bool inverted) {
    for (size_t x = 0; x < width; x++) {
        uint8_t *pixel = row + 4 * x;
        unsigned black = inverted ? pixel[3] : 255u - pixel[3];
        for (size_t c = 0; c < 3; c++) {
            unsigned light = inverted ? pixel[c] : 255u - pixel[c];
            pixel[c] = (uint8_t)((light * black + 127) / 255);
        }
        pixel[3] = 255;
    }
}

// Halves the decoding as far as it leaves enough pixels: libjpeg does that at less cost than we would.
static void choose_scale(struct jpeg_decompress_struct *decoder, size_t width, size_t height) {
    decoder->scale_denom = 8;
    for (unsigned scale = 1; scale <= 8; scale *= 2) {
        decoder->scale_num = scale;
        jpeg_calc_output_dimensions(decoder);
        if (decoder->output_width >= width && decoder->output_height >= height) return;
    }
}

struct asset_pixels asset_decode_jpeg(const uint8_t *bytes, size_t count, size_t most_pixels, struct asset_pixels *target) {
    struct jpeg_decompress_struct decoder;
    struct jpeg_error_mgr errors;
    decoder.err = jpeg_std_error(&errors);
    errors.error_exit = fail;
    errors.emit_message = warn;
    jpeg_create_decompress(&decoder);
    jpeg_save_markers(&decoder, JPEG_APP0 + 1, 0xFFFF);
    jpeg_mem_src(&decoder, bytes, count);
    jpeg_read_header(&decoder, TRUE);
    size_t width = decoder.image_width, height = decoder.image_height;
    asset_check_size(width, height, most_pixels);
    int turn = orientation(&decoder);
    bool swaps = turn >= 5;
    bool inks = decoder.num_components == 4;
    decoder.out_color_space = inks ? JCS_CMYK : JCS_EXT_RGBA;

    struct asset_reducer *reducer = NULL;
    if (target != NULL) {
        size_t across = swaps ? target->height : target->width, down = swaps ? target->width : target->height;
        choose_scale(&decoder, across, down);
        jpeg_calc_output_dimensions(&decoder);
        reducer = asset_reducer_new(decoder.output_width, decoder.output_height, across, down);
    }
    jpeg_start_decompress(&decoder);
    uint8_t *row = asset_allocated(decoder.output_width, 4);
    while (decoder.output_scanline < decoder.output_height) {
        jpeg_read_scanlines(&decoder, &row, 1);
        if (inks) convert_inks(row, decoder.output_width, decoder.saw_Adobe_marker);
        if (reducer != NULL) asset_reducer_add(reducer, row);
    }
    jpeg_finish_decompress(&decoder);
    jpeg_destroy_decompress(&decoder);
    free(row);
    if (reducer != NULL) *target = asset_turned(asset_reducer_finish(reducer), turn);
    return swaps ? (struct asset_pixels){height, width, NULL} : (struct asset_pixels){width, height, NULL};
}

#endif
