#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <jpeglib.h>

// Writes a JPEG of rows of `channels` bytes a pixel: 1 for grey, 3 for red, green and blue, 4 for CMYK. Where `orientation` is not 0
// the file has it as EXIF. The caller frees the result.
static inline unsigned char *lectern_jpeg(
    unsigned width, unsigned height, int channels, const unsigned char *pixels, bool progressive, unsigned char orientation,
    unsigned long *size) {
    struct jpeg_compress_struct encoder;
    struct jpeg_error_mgr errors;
    unsigned char *file = NULL;
    encoder.err = jpeg_std_error(&errors);
    jpeg_create_compress(&encoder);
    jpeg_mem_dest(&encoder, &file, size);
    encoder.image_width = width;
    encoder.image_height = height;
    encoder.input_components = channels;
    encoder.in_color_space = channels == 4 ? JCS_CMYK : channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&encoder);
    jpeg_set_quality(&encoder, 95, TRUE);
    if (progressive) jpeg_simple_progression(&encoder);
    jpeg_start_compress(&encoder, TRUE);
    if (orientation != 0) {
        // Big-endian TIFF; one directory with one entry: tag 0x0112, a short.
        const unsigned char tiff[] = {'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1,
                                      0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0};
        jpeg_write_marker(&encoder, JPEG_APP0 + 1, tiff, sizeof tiff);
    }
    for (unsigned row = 0; row < height; row++) {
        JSAMPROW line = (JSAMPROW)pixels + (size_t)row * width * channels;
        jpeg_write_scanlines(&encoder, &line, 1);
    }
    jpeg_finish_compress(&encoder);
    jpeg_destroy_compress(&encoder);
    return file;
}
