#include "xml_events.h"

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

// XML_SAX2_MAGIC: namespaces, and errors as values.
static const unsigned int sax2 = 0xDEEDBEAF;

struct reading {
    const struct xml_events *events;
    xmlParserCtxtPtr parser;
    // Whether an event has ended the reading.
    bool is_over;
};

static void stop(struct reading *reading) {
    reading->is_over = true;
    xmlStopParser(reading->parser);
}

static int line(const struct reading *reading) {
    return reading->parser->input != NULL ? reading->parser->input->line : 1;
}

static void on_start(
    void *data, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespace_count,
    const xmlChar **namespaces, int count, int defaulted, const xmlChar **fields) {
    struct reading *reading = data;
    if (reading->is_over) return;
    (void)prefix, (void)namespaces, (void)defaulted;
    // Five fields each: name, prefix, namespace, first byte of the value, byte after the last one.
    struct xml_attribute few[16];
    struct xml_attribute *attributes = few;
    if (count > 16) {
        attributes = xmlMalloc((size_t)count * sizeof *attributes);
        if (attributes == NULL) return stop(reading);
    }
    for (int number = 0; number < count; number++) {
        const xmlChar **field = fields + 5 * number;
        attributes[number] = (struct xml_attribute) {
            (const char *)field[0], (const char *)field[1], (const char *)field[3], (size_t)(field[4] - field[3]),
        };
    }
    bool goes_on = reading->events->start(
        reading->events->context, line(reading), (const char *)name, (const char *)uri, (size_t)namespace_count,
        attributes, (size_t)count);
    if (attributes != few) xmlFree(attributes);
    if (!goes_on) stop(reading);
}

static void on_end(void *data, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {
    struct reading *reading = data;
    (void)name, (void)prefix, (void)uri;
    if (!reading->is_over && !reading->events->end(reading->events->context)) stop(reading);
}

static void on_text(void *data, const xmlChar *text, int length) {
    struct reading *reading = data;
    if (reading->is_over) return;
    if (!reading->events->text(reading->events->context, (const char *)text, (size_t)length)) stop(reading);
}

static void on_doctype(void *data, const xmlChar *name, const xmlChar *external, const xmlChar *system) {
    struct reading *reading = data;
    (void)name, (void)external, (void)system;
    if (reading->is_over) return;
    reading->events->doctype(reading->events->context, line(reading));
    stop(reading);
}

static void tell(struct reading *reading, int where, const char *message) {
    if (reading->is_over) return;
    reading->events->error(reading->events->context, where, message);
    stop(reading);
}

// libxml2 2.12 made the error const.
#if LIBXML_VERSION >= 21200
static void on_error(void *data, const xmlError *error) {
#else
static void on_error(void *data, xmlErrorPtr error) {
#endif
    if (error->level >= XML_ERR_ERROR) tell(data, error->line, error->message);
}

static pthread_once_t prepared = PTHREAD_ONCE_INIT;

bool xml_read(const char *text, size_t length, const struct xml_events *events) {
    // Before its first use on more than one thread.
    pthread_once(&prepared, xmlInitParser);
    struct reading reading = {events, NULL, false};
    if (length == 0 || length > INT_MAX) {
        events->error(events->context, 1, length == 0 ? "the document is empty" : "the document is too large");
        return true;
    }
    reading.parser = xmlCreateMemoryParserCtxt(text, (int)length);
    if (reading.parser == NULL) return false;
    xmlCtxtUseOptions(reading.parser, XML_PARSE_NONET | XML_PARSE_IGNORE_ENC);
    // Without handlers of declarations and entities libxml2 knows none.
    xmlSAXHandler handler;
    memset(&handler, 0, sizeof handler);
    handler.initialized = sax2;
    handler.startElementNs = on_start;
    handler.endElementNs = on_end;
    handler.characters = on_text;
    handler.ignorableWhitespace = on_text;
    handler.cdataBlock = on_text;
    handler.internalSubset = on_doctype;
    handler.serror = on_error;
    *reading.parser->sax = handler;
    reading.parser->userData = &reading;
    xmlParseDocument(reading.parser);
    if (!reading.parser->wellFormed) tell(&reading, line(&reading), NULL);
    xmlFreeParserCtxt(reading.parser);
    return true;
}
