/// Symbols that Swift's library for WebAssembly and wasi-libc refer to.

#include "include/web_shims.h"

#ifdef __wasm__

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

__attribute__((import_module("page"), import_name("random"))) void page_random(void *bytes, size_t count);

/// Seeds of hash tables.
void arc4random_buf(void *bytes, size_t count) { page_random(bytes, count); }

/// Nobody reads what is printed.
int putchar(int character) { return character; }

_Noreturn void abort(void) { __builtin_trap(); }

uintptr_t __stack_chk_guard = 0x5bd1e995;
_Noreturn void __stack_chk_fail(void) { __builtin_trap(); }

const char *_swift_stdlib_strtod_clocale(const char *text, double *result) {
    char *end;
    *result = strtod(text, &end);
    return end;
}

/// What Swift's texts ask of Unicode when they are compared or hashed. Tables of it are a tenth of the core: no scalar has a canonical
/// decomposition here, so that texts are equal where their scalars are. Names of the protocol are ASCII, and a text of a board is another
/// one if its bytes are others. Nothing here takes texts apart by characters, which would bring in the tables of their bounds.
uint16_t _swift_stdlib_getNormData(uint32_t scalar) { return 0; }
uint32_t _swift_stdlib_getComposition(uint32_t first, uint32_t second) { return UINT32_MAX; }
uint32_t _swift_stdlib_getDecompositionEntry(uint32_t scalar) { return 0; }
const uint8_t *_swift_stdlib_nfd_decompositions;

/// The files of wasi-libc: there are none.
int32_t __imported_wasi_snapshot_preview1_fd_close(int32_t file) { return 8; }
int32_t __imported_wasi_snapshot_preview1_fd_seek(int32_t file, int64_t offset, int32_t whence, int32_t result) { return 8; }
int32_t __imported_wasi_snapshot_preview1_fd_write(int32_t file, int32_t vectors, int32_t count, int32_t result) { return 8; }

#else

static double page_time;

double page_now(void) { return page_time; }
void set_page_time(double milliseconds) { page_time = milliseconds; }

#endif
