#pragma once

#include <stdbool.h>
#include <stddef.h>

// Reads XML by libxml2 and tells what is in it. Its headers include those of ICU, which differ from the ones of Swift's
// Foundation, so that Swift cannot import both.
//
// Nothing outside of the text is opened, and there are no entities but the five of XML: a document type declaration ends
// the reading before anything of it is looked at.

#pragma clang assume_nonnull begin

/// An attribute: name and prefix end with a zero, the value has a length.
struct xml_attribute {
    const char *name;
    const char *_Nullable prefix;
    const char *value;
    size_t value_length;
};

/// What is called with what is read. False ends the reading.
struct xml_events {
    void *context;
    /// An element begins: its namespace, the number of namespaces that it declares, its attributes.
    bool (*start)(
        void *context, int line, const char *name, const char *_Nullable name_space, size_t namespace_count,
        const struct xml_attribute *_Nullable attributes, size_t count);
    bool (*end)(void *context);
    /// The text of an element may come in several parts.
    bool (*text)(void *context, const char *bytes, size_t length);
    /// The last event: a document type declaration.
    void (*doctype)(void *context, int line);
    /// The last event: the text is no well-formed XML. The message may have several lines.
    void (*error)(void *context, int line, const char *_Nullable message);
};

/// Reads a text in UTF-8 without a byte-order mark, whatever encoding it declares. The time that libxml2 takes for an
/// element grows with the square of the number of its attributes.
/// - Returns: false where there is no memory for it.
bool xml_read(const char *_Nullable text, size_t length, const struct xml_events *events);

#pragma clang assume_nonnull end
