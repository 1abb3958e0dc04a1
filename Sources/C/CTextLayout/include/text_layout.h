#ifndef TEXT_LAYOUT_H
#define TEXT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Lines of a text, laid out by Pango in the sans-serif font of the machine.
///
/// The text is data: no markup of it is read, and no font is fetched. Lengths are in heights of a line. Safe from any thread, one
/// call at a time: Pango's tables of fonts are shared. These are bounded, because all is laid out in one size and drawn from
/// outlines: a glyph is there once, however large it is shown.
typedef struct text_layout text_layout;

/// Lays lines out.
///
/// @param text UTF-8 without NUL, lines parted by line feeds
/// @param language such as "zh-CN", which has forms of its own of Han characters
/// @param font the size of the font
/// @return NULL for lack of memory
text_layout *_Nullable text_layout_create(
    const char *_Nonnull text, size_t size, bool right_to_left, const char *_Nonnull language, double font);

void text_layout_destroy(text_layout *_Nonnull layout);

/// The width of a line, from 0; 0 of a line without characters.
double text_layout_line_width(const text_layout *_Nonnull layout, size_t line);

/// How many characters no font has: they are drawn as small boxes.
size_t text_layout_unknown(const text_layout *_Nonnull layout);

/// Draws the text in black with transparency around it, in the upper left corner of a box, or in the right one.
///
/// @param pixels rows of as many bytes as there are columns: coverage, 0 … 255
/// @param x pixels across for the height of a line
/// @param y pixels down
/// @param baseline from the top of a line, in heights of a line
/// @return whether there was memory for it
bool text_layout_cover(
    const text_layout *_Nonnull layout, uint8_t *_Nonnull pixels, int columns, int rows, double x, double y,
    double baseline);

/// Draws the text as glyphs: in a document they are its text, in the document's own copy of the font.
///
/// @param context a cairo_t
/// @param scale units of the context for the height of a line
/// @param width of the box, in heights of a line
void text_layout_show(
    const text_layout *_Nonnull layout, void *_Nonnull context, double scale, double width, double baseline);

#endif
