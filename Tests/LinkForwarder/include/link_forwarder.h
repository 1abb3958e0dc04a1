#ifndef LECTERN_LINK_FORWARDER_H
#define LECTERN_LINK_FORWARDER_H

#include <stdint.h>

/// Forwards TCP connections to servers of one host, late: a network with delay and jitter, where the kernel has none.
///
/// Addresses are IPv4 in the host's byte order, times in microseconds. Each direction of a connection holds 1 MiB at most;
/// beyond, it reads no more, and TCP holds up the sender.
struct link_forwarder;

/// Where connections come in, and where the server listens.
struct link_door {
    uint32_t host;
    uint16_t port;
    uint32_t target_host;
    uint16_t target_port;
};

/// Starts a thread that forwards.
///
/// @param network    path of the network namespace for all sockets; NULL: the caller's
/// @param seed       of the jitter
/// @param forwarder  where the result goes
/// @return           0, or an errno
int link_forwarder_start(
    const char *network, const struct link_door *doors, int count, uint64_t seed, struct link_forwarder **forwarder);

/// Delays what comes from a host, and what goes back there, by `least` up to `most`, from now on. Bytes keep their order.
///
/// At most 16 hosts; host 0 stands for all others. Any thread.
void link_forwarder_delay(struct link_forwarder *forwarder, uint32_t host, int64_t least, int64_t most);

/// Ends all connections and the thread, and frees the forwarder.
void link_forwarder_stop(struct link_forwarder *forwarder);

#endif
