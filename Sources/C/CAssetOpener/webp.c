#define _GNU_SOURCE
#include "opener.h"

#if defined(__linux__)

#include <stdlib.h>
#include <webp/decode.h>

static _Noreturn void fail(VP8StatusCode code) {
    if (code == VP8_STATUS_OUT_OF_MEMORY) asset_fail_memory();
    if (code == VP8_STATUS_NOT_ENOUGH_DATA) asset_fail(lectern_asset_unreadable, "the WebP file is not whole");
    asset_fail(lectern_asset_unreadable, "not a WebP file that can be read: error %d", code);
}

struct asset_pixels asset_decode_webp(const uint8_t *bytes, size_t count, size_t most_pixels, struct asset_pixels *target) {
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) asset_fail(lectern_asset_unreadable, "libwebp is of another version");
    VP8StatusCode code = WebPGetFeatures(bytes, count, &config.input);
    if (code != VP8_STATUS_OK) fail(code);
    size_t width = (size_t)config.input.width, height = (size_t)config.input.height;
    asset_check_size(width, height, most_pixels);
    if (config.input.has_animation) asset_fail(lectern_asset_unreadable, "it is an animation");
    // libwebp keeps the whole image, also of one that is inspected: what is damaged is refused when it comes.
    config.output.colorspace = MODE_RGBA;
    code = WebPDecode(bytes, count, &config);
    if (code != VP8_STATUS_OK) fail(code);
    const struct WebPRGBABuffer *rows = &config.output.u.RGBA;
    asset_reduce(rows->rgba, (size_t)rows->stride, width, height, target);
    WebPFreeDecBuffer(&config.output);
    return (struct asset_pixels){width, height, NULL};
}

#endif
