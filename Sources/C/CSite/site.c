#include "site.h"

// `make core` lists the files in core/files.h. The compiler puts them into the program as they are: in no time, and again
// whenever one has changed.

#pragma clang diagnostic ignored "-Wc23-extensions"

#if !__has_include("core/files.h") || !__has_include("core/board.wasm")
#error "The core of the site is not built: run `make core`."
#endif

#include "core/files.h"

size_t site_file_count(void) { return sizeof files / sizeof files[0]; }

struct site_file site_file_at(size_t number) { return files[number]; }
