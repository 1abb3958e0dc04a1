#include "text_layout.h"

#include <pango/pangocairo.h>
#include <pango/pangofc-fontmap.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// All is laid out in this size, in Pango's pixels for the height of a line.
static const double unit = 64;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// Never freed: there is one.
static PangoFontMap *fonts = NULL;

struct text_layout {
    bool right_to_left;
    size_t count;
    PangoLayout **lines; // NULL for one without characters
    double *widths;
};

static PangoLayout *make_line(PangoContext *context, const PangoFontDescription *font, const char *text, size_t size) {
    PangoLayout *layout = pango_layout_new(context);
    pango_layout_set_font_description(layout, font);
    pango_layout_set_auto_dir(layout, FALSE);
    pango_layout_set_single_paragraph_mode(layout, TRUE);
    pango_layout_set_text(layout, text, (int)size);
    return layout;
}

// Fonts with outlines alone: of pictures of glyphs nothing could be filled.
static const char outlines[] =
    "<fontconfig><selectfont><rejectfont><pattern><patelt name=\"color\"><bool>true</bool></patelt></pattern>"
    "<pattern><patelt name=\"outline\"><bool>false</bool></patelt></pattern></rejectfont></selectfont></fontconfig>";

static PangoFontMap *make_fonts(void) {
    PangoFontMap *made = pango_cairo_font_map_new();
    FcConfig *known = FcInitLoadConfig();
    if (known && FcConfigParseAndLoadFromMemory(known, (const FcChar8 *)outlines, FcTrue) && FcConfigBuildFonts(known))
        pango_fc_font_map_set_config(PANGO_FC_FONT_MAP(made), known);
    if (known) FcConfigDestroy(known);
    return made;
}

static PangoContext *make_context(bool right_to_left, const char *language) {
    if (!fonts) fonts = make_fonts();
    PangoContext *context = pango_font_map_create_context(fonts);
    pango_context_set_base_dir(context, right_to_left ? PANGO_DIRECTION_RTL : PANGO_DIRECTION_LTR);
    pango_context_set_language(context, pango_language_from_string(language));
    // Widths that do not depend on the size.
    pango_context_set_round_glyph_positions(context, FALSE);
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    pango_cairo_context_set_font_options(context, options);
    cairo_font_options_destroy(options);
    return context;
}

text_layout *text_layout_create(
    const char *text, size_t size, bool right_to_left, const char *language, double font_size) {
    size_t count = 1;
    for (size_t place = 0; place < size; place++) count += text[place] == '\n';
    text_layout *layout = calloc(1, sizeof(text_layout));
    if (!layout) return NULL;
    *layout = (text_layout){
        .right_to_left = right_to_left, .count = count, .lines = calloc(count, sizeof(PangoLayout *)),
        .widths = calloc(count, sizeof(double))};
    if (!layout->lines || !layout->widths) {
        free(layout->lines);
        free(layout->widths);
        free(layout);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    PangoContext *context = make_context(right_to_left, language);
    PangoFontDescription *font = pango_font_description_from_string("sans-serif");
    pango_font_description_set_absolute_size(font, unit * font_size * PANGO_SCALE);
    const char *start = text;
    for (size_t line = 0; line < count; line++) {
        const char *end = memchr(start, '\n', (size_t)(text + size - start));
        if (!end) end = text + size;
        if (end > start) {
            layout->lines[line] = make_line(context, font, start, (size_t)(end - start));
            PangoRectangle logical;
            pango_layout_line_get_extents(pango_layout_get_line_readonly(layout->lines[line], 0), NULL, &logical);
            layout->widths[line] = logical.width / (unit * PANGO_SCALE);
        }
        start = end + 1;
    }
    pango_font_description_free(font);
    g_object_unref(context);
    pthread_mutex_unlock(&lock);
    return layout;
}

void text_layout_destroy(text_layout *layout) {
    pthread_mutex_lock(&lock);
    for (size_t line = 0; line < layout->count; line++) {
        if (layout->lines[line]) g_object_unref(layout->lines[line]);
    }
    pthread_mutex_unlock(&lock);
    free(layout->lines);
    free(layout->widths);
    free(layout);
}

double text_layout_line_width(const text_layout *layout, size_t line) {
    return line < layout->count ? layout->widths[line] : 0;
}

size_t text_layout_unknown(const text_layout *layout) {
    size_t count = 0;
    pthread_mutex_lock(&lock);
    for (size_t line = 0; line < layout->count; line++) {
        if (layout->lines[line]) count += (size_t)pango_layout_get_unknown_glyphs_count(layout->lines[line]);
    }
    pthread_mutex_unlock(&lock);
    return count;
}

// Fills the outlines of a line, which are asked for in one size.
static void fill_line(cairo_t *context, cairo_t *tracer, PangoLayout *line, double x, double y) {
    cairo_new_path(tracer);
    cairo_move_to(tracer, x * unit, y * unit);
    pango_cairo_layout_line_path(tracer, pango_layout_get_line_readonly(line, 0));
    cairo_path_t *path = cairo_copy_path(tracer);
    if (path->status == CAIRO_STATUS_SUCCESS) {
        cairo_new_path(context);
        cairo_append_path(context, path);
        cairo_fill(context);
    }
    cairo_path_destroy(path);
}

bool text_layout_cover(
    const text_layout *layout, uint8_t *pixels, int columns, int rows, double x, double y, double baseline) {
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, columns, rows);
    cairo_t *context = cairo_create(surface);
    // Without borders: beyond the borders of a surface cairo leaves out glyphs of a path, too.
    cairo_surface_t *scratch = cairo_recording_surface_create(CAIRO_CONTENT_ALPHA, NULL);
    cairo_t *tracer = cairo_create(scratch);
    cairo_scale(context, x / unit, y / unit);
    // A path in user space of a context that is scaled is in the units of the tracer.
    pthread_mutex_lock(&lock);
    for (size_t line = 0; line < layout->count; line++) {
        if (!layout->lines[line]) continue;
        double top = (double)line * y;
        if (top > rows) break;
        double left = layout->right_to_left ? columns / x - layout->widths[line] : 0;
        fill_line(context, tracer, layout->lines[line], left, (double)line + baseline);
    }
    pthread_mutex_unlock(&lock);
    cairo_surface_flush(surface);
    bool is_drawn = cairo_status(context) == CAIRO_STATUS_SUCCESS && cairo_status(tracer) == CAIRO_STATUS_SUCCESS;
    const unsigned char *data = cairo_image_surface_get_data(surface);
    if (is_drawn && data) {
        int stride = cairo_image_surface_get_stride(surface);
        for (int row = 0; row < rows; row++) memcpy(pixels + (size_t)row * columns, data + (size_t)row * stride, columns);
    }
    cairo_destroy(tracer);
    cairo_surface_destroy(scratch);
    cairo_destroy(context);
    cairo_surface_destroy(surface);
    return is_drawn && data;
}

// Shows the clusters of a run one by one from the left. Cairo writes those of a run from right to left in the order of reading,
// each behind the one before: readers of PDF files find gaps in words there.
static void show_clusters(cairo_t *context, const char *text, PangoGlyphItem *run, int *zeros, double x, double y) {
    PangoGlyphItemIter place;
    bool is_there = pango_glyph_item_iter_init_end(&place, run, text);
    for (; is_there; is_there = pango_glyph_item_iter_prev_cluster(&place)) {
        PangoItem item = *run->item;
        item.offset = place.start_index;
        item.length = place.end_index - place.start_index;
        item.num_chars = place.end_char - place.start_char;
        PangoGlyphString glyphs = *run->glyphs;
        glyphs.num_glyphs = place.start_glyph - place.end_glyph;
        glyphs.glyphs += place.end_glyph + 1;
        glyphs.log_clusters = zeros;
        PangoGlyphItem cluster = *run;
        cluster.item = &item;
        cluster.glyphs = &glyphs;
        cairo_move_to(context, x, y);
        pango_cairo_show_glyph_item(context, text, &cluster);
        x += (double)pango_glyph_string_get_width(&glyphs) / PANGO_SCALE;
    }
}

static void show_line(cairo_t *context, PangoLayout *layout, double x, double y) {
    const char *text = pango_layout_get_text(layout);
    for (GSList *runs = pango_layout_get_line_readonly(layout, 0)->runs; runs; runs = runs->next) {
        PangoGlyphItem *run = runs->data;
        int *zeros = run->item->analysis.level % 2 ? calloc((size_t)run->glyphs->num_glyphs + 1, sizeof(int)) : NULL;
        cairo_move_to(context, x, y);
        if (zeros) show_clusters(context, text, run, zeros, x, y);
        else pango_cairo_show_glyph_item(context, text, run);
        free(zeros);
        x += (double)pango_glyph_string_get_width(run->glyphs) / PANGO_SCALE;
    }
}

void text_layout_show(const text_layout *layout, void *target, double scale, double width, double baseline) {
    cairo_t *context = target;
    cairo_save(context);
    cairo_scale(context, scale / unit, scale / unit);
    pthread_mutex_lock(&lock);
    for (size_t line = 0; line < layout->count; line++) {
        if (!layout->lines[line]) continue;
        double left = layout->right_to_left ? width - layout->widths[line] : 0;
        show_line(context, layout->lines[line], left * unit, ((double)line + baseline) * unit);
    }
    pthread_mutex_unlock(&lock);
    cairo_restore(context);
}
