// Opens files that are not trusted, in a process that can do nothing else. Linux only: elsewhere there is no sandbox.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#if defined(__cplusplus)
extern "C" {
#endif

// How the child ends. Programs of poppler have numbers of their own below these.
enum lectern_asset_exit {
    lectern_asset_unreadable = 165,
    lectern_asset_too_large = 166,
    lectern_asset_no_sandbox = 167,
    lectern_asset_no_program = 168,
};

// Starts a program with the bytes as a sealed file on its standard input, and no other descriptor of this process.
//
// arguments: with the program's name first, then a null pointer at the end.
// secret: a second file, on descriptor 3, which is not among the arguments that others on this machine can see; null for none.
// output, error: the reading ends of pipes from its standard output and error; the caller closes them.
// Returns the process number, which the caller must wait for; a negative errno where nothing was started.
pid_t lectern_asset_spawn(const char *program, char *const arguments[], const uint8_t *bytes, size_t count,
                          const uint8_t *secret, size_t secret_count, int *output, int *error);

// Whether the kernel has Landlock, so that programs of poppler can read their libraries and fonts alone.
bool lectern_asset_restricts_files(void);

// The child: reads standard input, writes to standard output what was asked for, and why it cannot to standard error. Ends
// the process, with a `lectern_asset_exit` where it fails.
//
// arguments: operation (`inspect`, `pixels`, `png`, `decrypt`), format (`png`, `jpeg`, `webp`, `heic`, `pdf`), the parent's process number, bytes of
// address space, seconds of processor time, seconds of wall-clock time, the most pixels of a page, number of the page from
// 0, width and height in pixels, and of a PDF the resolutions across and down in 1e-9 dots an inch, and whether the media box
// is shown, 1, or the crop box, 0. Of an inspection: the last page that is of interest, from 0; the rest is ignored.
//
// Prints, of an image: inspected, `width height`; pixels, width and height as 4 bytes each, lowest first, then rows of
// R G B A, colour times alpha. Of a PDF: what pdfinfo prints; a PPM file; decrypted with the password on descriptor 3, the PDF.
_Noreturn void lectern_asset_child(int count, char *const arguments[]);

#if defined(__cplusplus)
}
#endif
