/// The files that browsers get, as they were when the program was built.

#ifndef LECTERN_SITE_H
#define LECTERN_SITE_H

#include <stddef.h>

/// A file: its path below the site's folder, and its bytes.
struct site_file {
    const char *_Nonnull path;
    const unsigned char *_Nonnull bytes;
    size_t size;
};

/// The number of files.
size_t site_file_count(void);

/// A file by its number, from 0 to the count less one.
struct site_file site_file_at(size_t number);

/// The core of the site as brotli compresses it.
struct site_file site_core_brotli(void);

#endif
