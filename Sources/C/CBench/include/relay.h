#ifndef LECTERN_RELAY_H
#define LECTERN_RELAY_H

/// Republishes what authors publish, and nothing else: the floor that the service is measured against.
///
/// For each message on `<root>.<p>.<room>.in.<author>` it publishes the three messages that the service publishes for
/// an operation: `.feedback.<author>`, `.head` and `.out.main`, the last two with the body as it came in and the four
/// headers of a released operation. It decodes nothing, orders nothing and remembers nothing.
///
/// Runs until the process is ended.
///
/// @param url     of the NATS server
/// @param root    the first token of all subjects
/// @param stream  the JetStream stream to read with an ordered consumer; NULL: core NATS
/// @return        the libnats status of what failed at the start
int relay_run(const char *url, const char *root, const char *stream);

#endif
