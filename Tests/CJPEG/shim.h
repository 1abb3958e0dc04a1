#include <stdio.h>
#include <jpeglib.h>

// A macro that Swift does not see.
static inline void lectern_jpeg_create_compress(struct jpeg_compress_struct *encoder) { jpeg_create_compress(encoder); }
