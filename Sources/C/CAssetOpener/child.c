#define _GNU_SOURCE
#include "opener.h"

#include <stdlib.h>

#if defined(__linux__)

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

void asset_fail(enum lectern_asset_exit code, const char *format, ...) {
    char reason[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    if (length > (int)sizeof reason - 1) length = sizeof reason - 1;
    if (length > 0 && write(STDERR_FILENO, reason, (size_t)length) < 0) _exit(code);
    _exit(code);
}

void asset_write(const void *bytes, size_t count) {
    const uint8_t *rest = bytes;
    while (count > 0) {
        ssize_t written = write(STDOUT_FILENO, rest, count);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) _exit(lectern_asset_unreadable);
        rest += written;
        count -= (size_t)written;
    }
}

void asset_write_pixels(struct asset_pixels pixels) {
    uint8_t head[8];
    for (int i = 0; i < 4; i++) {
        head[i] = (uint8_t)(pixels.width >> (8 * i));
        head[4 + i] = (uint8_t)(pixels.height >> (8 * i));
    }
    asset_write(head, sizeof head);
    asset_write(pixels.bytes, pixels.width * pixels.height * 4);
}

struct request {
    const char *operation, *format;
    unsigned long parent, memory, processor_seconds, seconds, most_pixels, page, width, height;
    // Nanodots an inch, of PDFs.
    unsigned long resolution_x, resolution_y;
    unsigned long shows_media_box;
};

static struct request parse(int count, char *const arguments[]) {
    struct request request = {0};
    if (count != 13) asset_fail(lectern_asset_unreadable, "expected 13 arguments");
    request.operation = arguments[0];
    request.format = arguments[1];
    unsigned long *numbers[] = {&request.parent,       &request.memory,          &request.processor_seconds,
                                &request.seconds,      &request.most_pixels,     &request.page,
                                &request.width,        &request.height,          &request.resolution_x,
                                &request.resolution_y, &request.shows_media_box};
    for (int i = 0; i < 11; i++) {
        char *end;
        *numbers[i] = strtoul(arguments[i + 2], &end, 10);
        if (*end != 0 || end == arguments[i + 2]) asset_fail(lectern_asset_unreadable, "argument %d is no number", i + 3);
    }
    return request;
}

static void limit(__rlimit_resource_t resource, rlim_t soft, rlim_t hard) {
    struct rlimit bound = {soft, hard};
    if (setrlimit(resource, &bound) != 0) {
        asset_fail(lectern_asset_no_sandbox, "resources cannot be limited: %s", strerror(errno));
    }
}

// Bounds that hold even if the parent ends or stands still.
static void enter_bounds(const struct request *request) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if ((unsigned long)getppid() != request->parent) _exit(lectern_asset_unreadable);
    limit(RLIMIT_CORE, 0, 0);
    limit(RLIMIT_FSIZE, 0, 0);
    limit(RLIMIT_NOFILE, 64, 64);
    // SIGXCPU at the bound, which tells it from other ends; SIGKILL a second later.
    limit(RLIMIT_CPU, request->processor_seconds, request->processor_seconds + 1);
    limit(RLIMIT_AS, request->memory, request->memory);
    // A timer that outlives the change to another program.
    alarm((unsigned)request->seconds);
}

// Becomes a program of a package, which reads the file from standard input.
static void become(const char *package, char *const arguments[]) {
    static const char *const folders[] = {"/usr/bin", "/usr/local/bin"};
    char *environment[] = {"LC_ALL=C", "HOME=/nonexistent", NULL};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", folders[i], arguments[0]);
        execve(path, arguments, environment);
    }
    asset_fail(lectern_asset_no_program, "%s of the package %s is not installed", arguments[0], package);
}

static void open_pdf(const struct request *request) {
    char page[24], width[24], height[24], resolution_x[32], resolution_y[32];
    snprintf(page, sizeof page, "%lu", request->page + 1);
    snprintf(width, sizeof width, "%lu", request->width);
    snprintf(height, sizeof height, "%lu", request->height);
    snprintf(resolution_x, sizeof resolution_x, "%.9f", (double)request->resolution_x / 1e9);
    snprintf(resolution_y, sizeof resolution_y, "%.9f", (double)request->resolution_y / 1e9);
    if (strcmp(request->operation, "inspect") == 0) {
        become("poppler-utils", (char *[]){"pdfinfo", "-box", "-f", "1", "-l", page, "-", NULL});
    }
    if (strcmp(request->operation, "decrypt") == 0) {
        // With an identifier that the contents decide, the same file becomes the same bytes.
        become("qpdf", (char *[]){"qpdf", "--decrypt", "--deterministic-id", "--no-warn", "--warning-exit-0",
                                  "--password-file=/proc/self/fd/3", "/proc/self/fd/0", "-", NULL});
    }
    // On the white of paper. Resolutions are those of the page as it is shown; `-scale-to-x` and `-scale-to-y` of poppler
    // 22.12 are those of the page before its rotation.
    char *arguments[24] = {"pdftoppm", "-singlefile", "-f", page, "-l", page, "-rx", resolution_x, "-ry", resolution_y,
                           "-x", "0", "-y", "0", "-W", width, "-H", height};
    size_t count = 18;
    if (!request->shows_media_box) arguments[count++] = "-cropbox";
    if (strcmp(request->operation, "png") == 0) arguments[count++] = "-png";
    arguments[count] = "-";
    become("poppler-utils", arguments);
}

struct input {
    const uint8_t *bytes;
    size_t count;
};

// Maps standard input into memory.
static struct input map_input(void) {
    struct stat file;
    if (fstat(STDIN_FILENO, &file) != 0 || file.st_size <= 0) asset_fail(lectern_asset_unreadable, "there is nothing in it");
    size_t count = (size_t)file.st_size;
    const uint8_t *bytes = mmap(NULL, count, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0);
    if (bytes == MAP_FAILED) asset_fail(lectern_asset_unreadable, "it cannot be mapped: %s", strerror(errno));
    return (struct input){bytes, count};
}

typedef struct asset_pixels decoder(const uint8_t *bytes, size_t count, size_t most_pixels, struct asset_pixels *target);

static decoder *decoder_of(const char *format) {
    if (strcmp(format, "png") == 0) return asset_decode_png;
    if (strcmp(format, "jpeg") == 0) return asset_decode_jpeg;
    if (strcmp(format, "webp") == 0) return asset_decode_webp;
    if (strcmp(format, "heic") == 0) return asset_decode_heic;
    asset_fail(lectern_asset_unreadable, "there is no reader of %s", format);
}

static void open_image(const struct request *request, struct input input) {
    bool inspects = strcmp(request->operation, "inspect") == 0;
    struct asset_pixels target = {request->width, request->height, NULL};
    struct asset_pixels size = decoder_of(request->format)(input.bytes, input.count, request->most_pixels,
                                                           inspects ? NULL : &target);
    if (inspects) {
        char text[64];
        int length = snprintf(text, sizeof text, "%zu %zu\n", size.width, size.height);
        asset_write(text, (size_t)length);
    } else if (strcmp(request->operation, "png") == 0) {
        asset_write_png(target);
    } else {
        asset_write_pixels(target);
    }
}

void lectern_asset_child(int count, char *const arguments[]) {
    struct request request = parse(count, arguments);
    enter_bounds(&request);
    bool pdf = strcmp(request.format, "pdf") == 0;
    if (pdf) {
        asset_enter_sandbox(asset_sandbox_programs);
        open_pdf(&request);
    } else {
        struct input input = map_input();
        bool heic = strcmp(request.format, "heic") == 0;
        if (heic) asset_load_heic();
        asset_enter_sandbox(heic ? asset_sandbox_threads : asset_sandbox_nothing);
        open_image(&request, input);
    }
    _exit(0);
}

#else

void lectern_asset_child(int count, char *const arguments[]) { _Exit(lectern_asset_no_sandbox); }

#endif
