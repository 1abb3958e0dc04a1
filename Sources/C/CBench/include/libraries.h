/* What benchmarks ask of C's library and compare with: the allocator's figures, and libpng. */
#include <malloc.h>
#include <png.h>
