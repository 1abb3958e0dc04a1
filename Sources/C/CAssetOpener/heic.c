#define _GNU_SOURCE
#include "opener.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <libheif/heif.h>
#include <stdlib.h>

// libheif brings encoders of 25 MB along, and few files need it: only a child that opens one loads it.
#define FUNCTIONS(use)                                                                                                   \
    use(heif_init) use(heif_context_alloc) use(heif_context_read_from_memory_without_copy)                               \
    use(heif_context_set_max_decoding_threads) use(heif_context_get_primary_image_handle) use(heif_image_handle_get_width) \
    use(heif_image_handle_get_height) use(heif_decode_image) use(heif_image_get_plane_readonly) use(heif_image_get_width) \
    use(heif_image_get_height)

#define DECLARED(name) static __typeof__(&name) load_##name;
FUNCTIONS(DECLARED)

void asset_load_heic(void) {
    void *library = dlopen("libheif.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) asset_fail(lectern_asset_no_program, "libheif1 is not installed");
#define LOADED(name)                                                                                                     \
    load_##name = (__typeof__(&name))dlsym(library, #name);                                                              \
    if (load_##name == NULL) asset_fail(lectern_asset_no_program, "libheif has no " #name);
    FUNCTIONS(LOADED)
    // Looks for plugins in the file system.
    load_heif_init(NULL);
}

static void check(struct heif_error error) {
    if (error.code == heif_error_Ok) return;
    if (error.code == heif_error_Memory_allocation_error) asset_fail_memory();
    asset_fail(lectern_asset_unreadable, "not a HEIC file that can be read: %s", error.message);
}

struct asset_pixels asset_decode_heic(const uint8_t *bytes, size_t count, size_t most_pixels, struct asset_pixels *target) {
    struct heif_context *context = load_heif_context_alloc();
    if (context == NULL) asset_fail_memory();
    // No more than the one thread that libde265 begins for each image, whatever it is told. Without it libde265 waits forever.
    load_heif_context_set_max_decoding_threads(context, 0);
    check(load_heif_context_read_from_memory_without_copy(context, bytes, count, NULL));
    struct heif_image_handle *handle;
    check(load_heif_context_get_primary_image_handle(context, &handle));
    // As it is to be seen: turned and cropped.
    int width = load_heif_image_handle_get_width(handle), height = load_heif_image_handle_get_height(handle);
    if (width <= 0 || height <= 0) asset_fail(lectern_asset_unreadable, "it has no pixels");
    size_t columns = (size_t)width, lines = (size_t)height;
    asset_check_size(columns, lines, most_pixels);
    struct heif_image *image;
    check(load_heif_decode_image(handle, &image, heif_colorspace_RGB, heif_chroma_interleaved_RGBA, NULL));
    int stride;
    const uint8_t *rows = load_heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride);
    // The decoder and the container may disagree.
    if (rows == NULL || load_heif_image_get_width(image, heif_channel_interleaved) != width ||
        load_heif_image_get_height(image, heif_channel_interleaved) != height) {
        asset_fail(lectern_asset_unreadable, "its pixels are not those that it tells");
    }
    asset_reduce(rows, (size_t)stride, columns, lines, target);
    // The process ends with its memory.
    return (struct asset_pixels){columns, lines, NULL};
}

#endif
