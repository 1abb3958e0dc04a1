// What the files of this target share.

#pragma once

#include <stdbool.h>

#include "asset_opener.h"
#include "asset_sandbox.h"

#if defined(__linux__)

// Ends the process with a reason on standard error.
_Noreturn void asset_fail(enum lectern_asset_exit code, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Ends the process because memory is exhausted.
_Noreturn void asset_fail_memory(void);

// Memory of zeroes.
void *asset_allocated(size_t count, size_t size);

// Ends the process where an image has more pixels than it may have.
void asset_check_size(size_t width, size_t height, size_t most_pixels);

// Pixels of an image: rows of R G B A, colour times alpha.
struct asset_pixels {
    size_t width, height;
    uint8_t *bytes;
};

// Reduces an image row by row to fewer pixels: each is the mean of the area that it covers.
struct asset_reducer;

// width, height: of the source. The target becomes smaller where the source is.
struct asset_reducer *asset_reducer_new(size_t width, size_t height, size_t target_width, size_t target_height);

// Adds the next row of the source: R G B A, colour not times alpha.
void asset_reducer_add(struct asset_reducer *reducer, const uint8_t *row);

// The reduced image, after the last row.
struct asset_pixels asset_reducer_finish(struct asset_reducer *reducer);

// Reduces an image whose rows are there, a stride of bytes apart, unless the target is null.
void asset_reduce(const uint8_t *rows, size_t stride, size_t width, size_t height, struct asset_pixels *target);

// The image as it is to be seen.
// orientation: of EXIF, 1 to 8.
struct asset_pixels asset_turned(struct asset_pixels pixels, int orientation);

// Decode a file, whole. Without a target, which is null where an image is inspected, the pixels are thrown away. The
// target's width and height are made smaller where the image is. Return the image's own size, as it is to be seen.
struct asset_pixels asset_decode_png(const uint8_t *bytes, size_t count, size_t most_pixels, struct asset_pixels *target);
struct asset_pixels asset_decode_jpeg(const uint8_t *bytes, size_t count, size_t most_pixels, struct asset_pixels *target);
struct asset_pixels asset_decode_webp(const uint8_t *bytes, size_t count, size_t most_pixels, struct asset_pixels *target);
struct asset_pixels asset_decode_heic(const uint8_t *bytes, size_t count, size_t most_pixels, struct asset_pixels *target);

// Loads the decoder of HEIC, before the sandbox, in which no file can be opened.
void asset_load_heic(void);

// Writes the pixels as a PNG file, or as they are, to standard output.
void asset_write_png(struct asset_pixels pixels);
void asset_write_pixels(struct asset_pixels pixels);
void asset_write(const void *bytes, size_t count);

#endif
