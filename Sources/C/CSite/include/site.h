/// The files that browsers get, as they were when the program was built.

#ifndef LECTERN_SITE_H
#define LECTERN_SITE_H

#include <stddef.h>

/// A file: its path below the site's folder, its bytes, and these as brotli compresses them where the build has done it.
struct site_file {
    const char *_Nonnull path;
    const unsigned char *_Nonnull bytes;
    size_t size;
    const unsigned char *_Nullable brotli;
    size_t brotli_size;
};

/// The number of files.
size_t site_file_count(void);

/// A file by its number, from 0 to the count less one.
struct site_file site_file_at(size_t number);

#endif
