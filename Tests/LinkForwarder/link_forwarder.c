#define _GNU_SOURCE
#include "link_forwarder.h"

#include <errno.h>

#ifdef __linux__

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { most_doors = 8, most_hosts = 16, bound = 1 << 20, chunk_bytes = 32 << 10 };

/// Bytes that were read together, to be written when they are due.
struct chunk {
    struct chunk *next;
    int64_t due;
    size_t length;
    size_t written;
    char bytes[];
};

/// What goes from one side of a connection to the other.
struct way {
    struct chunk *first;
    struct chunk *last;
    size_t waiting;
    /// When the last byte is due: later ones are not due earlier.
    int64_t due;
    bool is_ended;
    bool is_shut;
    /// Whether the socket takes no more at present.
    bool is_full;
};

struct connection;

/// One of the two sockets, for epoll.
struct side {
    struct connection *connection;
    int socket;
    uint32_t interest;
};

struct connection {
    struct connection *next;
    uint32_t host;
    bool is_dead;
    /// The client's and the server's.
    struct side sides[2];
    /// Index s: what comes from side s.
    struct way ways[2];
};

struct host {
    uint32_t address;
    int64_t least;
    int64_t most;
};

struct link_forwarder {
    pthread_t thread;
    pthread_mutex_t lock;
    sem_t started;
    int error;
    bool is_stopped;
    char *network;
    int count;
    struct link_door doors[most_doors];
    int listeners[most_doors];
    int poll;
    int wake;
    /// Guarded by the lock; the others belong to the thread.
    struct host hosts[most_hosts];
    int host_count;
    uint64_t random;
    struct connection *connections;
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/// SplitMix64.
static uint64_t next_random(struct link_forwarder *forwarder) {
    uint64_t z = forwarder->random += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static int64_t delay(struct link_forwarder *forwarder, uint32_t address) {
    pthread_mutex_lock(&forwarder->lock);
    struct host host = {0};
    for (int i = 0; i < forwarder->host_count; i++) {
        const struct host *other = &forwarder->hosts[i];
        if (other->address == address || (other->address == 0 && host.address == 0)) host = *other;
    }
    pthread_mutex_unlock(&forwarder->lock);
    if (host.most <= host.least) return host.least;
    return host.least + (int64_t)(next_random(forwarder) % (uint64_t)(host.most - host.least));
}

static struct sockaddr_in socket_address(uint32_t host, uint16_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(host);
    return address;
}

/// Says what epoll is to report of a side: a server that hangs is not asked again and again.
static void watch(struct link_forwarder *forwarder, struct connection *connection, int number) {
    struct side *side = &connection->sides[number];
    const struct way *in = &connection->ways[number], *out = &connection->ways[1 - number];
    uint32_t interest = 0;
    if (!in->is_ended && in->waiting < bound) interest |= EPOLLIN;
    if (out->is_full) interest |= EPOLLOUT;
    if (interest == side->interest) return;
    side->interest = interest;
    struct epoll_event event = {.events = interest, .data.ptr = side};
    epoll_ctl(forwarder->poll, EPOLL_CTL_MOD, side->socket, &event);
}

static void take(struct link_forwarder *forwarder, struct connection *connection, int number) {
    struct way *way = &connection->ways[number];
    while (!way->is_ended && way->waiting < bound) {
        struct chunk *chunk = malloc(sizeof *chunk + chunk_bytes);
        const ssize_t length = read(connection->sides[number].socket, chunk->bytes, chunk_bytes);
        if (length <= 0) {
            free(chunk);
            if (length == 0) way->is_ended = true;
            else if (errno != EAGAIN && errno != EINTR) connection->is_dead = true;
            return;
        }
        const int64_t due = now() + delay(forwarder, connection->host);
        if (due > way->due) way->due = due;
        chunk = realloc(chunk, sizeof *chunk + (size_t)length);
        *chunk = (struct chunk){.due = way->due, .length = (size_t)length};
        if (way->last) way->last->next = chunk;
        else way->first = chunk;
        way->last = chunk;
        way->waiting += (size_t)length;
    }
}

/// Writes what is due.
static void give(struct connection *connection, int number, int64_t time) {
    struct way *way = &connection->ways[number];
    const int socket = connection->sides[1 - number].socket;
    while (way->first && way->first->due <= time && !way->is_full) {
        struct chunk *chunk = way->first;
        const ssize_t length =
            send(socket, chunk->bytes + chunk->written, chunk->length - chunk->written, MSG_NOSIGNAL);
        if (length < 0) {
            if (errno == EAGAIN || errno == EINTR) way->is_full = true;
            else connection->is_dead = true;
            return;
        }
        chunk->written += (size_t)length;
        way->waiting -= (size_t)length;
        if (chunk->written < chunk->length) continue;
        way->first = chunk->next;
        if (!way->first) way->last = NULL;
        free(chunk);
    }
    if (way->is_ended && !way->first && !way->is_shut) {
        way->is_shut = true;
        shutdown(socket, SHUT_WR);
        if (connection->ways[1 - number].is_shut) connection->is_dead = true;
    }
}

static void move(struct link_forwarder *forwarder, struct connection *connection, int64_t time) {
    for (int side = 0; side < 2 && !connection->is_dead; side++) give(connection, side, time);
    for (int side = 0; side < 2 && !connection->is_dead; side++) watch(forwarder, connection, side);
}

static int bind_door(const struct link_door *door) {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int on = 1;
    const struct sockaddr_in address = socket_address(door->host, door->port);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (listener >= 0 && bind(listener, (const struct sockaddr *)&address, sizeof address) == 0 &&
        listen(listener, 1024) == 0)
        return listener;
    const int error = errno;
    if (listener >= 0) close(listener);
    errno = error;
    return -1;
}

/// Accepts a connection and begins one to the server.
static void accept_connection(struct link_forwarder *forwarder, int number) {
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;
    const int client =
        accept4(forwarder->listeners[number], (struct sockaddr *)&peer, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client < 0) return;
    const struct link_door *door = &forwarder->doors[number];
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const struct sockaddr_in target = socket_address(door->target_host, door->target_port);
    if (server < 0 ||
        (connect(server, (const struct sockaddr *)&target, sizeof target) != 0 && errno != EINPROGRESS)) {
        if (server >= 0) close(server);
        close(client);
        return;
    }
    struct connection *connection = calloc(1, sizeof *connection);
    connection->host = ntohl(peer.sin_addr.s_addr);
    connection->next = forwarder->connections;
    forwarder->connections = connection;
    for (int side = 0; side < 2; side++) {
        const int on = 1;
        const int socket = side == 0 ? client : server;
        connection->sides[side] = (struct side){.connection = connection, .socket = socket, .interest = EPOLLIN};
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connection->sides[side]};
        epoll_ctl(forwarder->poll, EPOLL_CTL_ADD, socket, &event);
    }
}

static void free_connection(struct link_forwarder *forwarder, struct connection *connection) {
    for (int side = 0; side < 2; side++) {
        // A child that is being started may hold the socket for a moment: closing alone would leave it to epoll so long.
        epoll_ctl(forwarder->poll, EPOLL_CTL_DEL, connection->sides[side].socket, NULL);
        close(connection->sides[side].socket);
        while (connection->ways[side].first) {
            struct chunk *chunk = connection->ways[side].first;
            connection->ways[side].first = chunk->next;
            free(chunk);
        }
    }
    free(connection);
}

/// Moves what is due and frees connections that have ended.
/// @return microseconds until something else is due; -1 for never
static int64_t move_all(struct link_forwarder *forwarder) {
    const int64_t time = now();
    int64_t next = INT64_MAX;
    for (struct connection **place = &forwarder->connections; *place;) {
        struct connection *connection = *place;
        if (!connection->is_dead) move(forwarder, connection, time);
        if (connection->is_dead) {
            *place = connection->next;
            free_connection(forwarder, connection);
            continue;
        }
        for (int side = 0; side < 2; side++) {
            const struct way *way = &connection->ways[side];
            if (way->first && !way->is_full && way->first->due < next) next = way->first->due;
        }
        place = &connection->next;
    }
    return next == INT64_MAX ? -1 : next > time ? next - time : 0;
}

static void serve(struct link_forwarder *forwarder) {
    struct epoll_event events[256];
    int64_t wait = -1;
    while (!__atomic_load_n(&forwarder->is_stopped, __ATOMIC_ACQUIRE)) {
        const struct timespec limit = {.tv_sec = wait / 1000000, .tv_nsec = wait % 1000000 * 1000};
        const int count = epoll_pwait2(forwarder->poll, events, 256, wait < 0 ? NULL : &limit, NULL);
        for (int i = 0; i < count; i++) {
            const char *place = events[i].data.ptr;
            if (place == (const char *)&forwarder->wake) continue;
            const char *first = (const char *)forwarder->listeners;
            if (place >= first && place < first + sizeof forwarder->listeners) {
                accept_connection(forwarder, (int)((const int *)(const void *)place - forwarder->listeners));
                continue;
            }
            struct side *side = events[i].data.ptr;
            struct connection *connection = side->connection;
            const int number = side == &connection->sides[0] ? 0 : 1;
            if (events[i].events & EPOLLOUT) connection->ways[1 - number].is_full = false;
            if (events[i].events & EPOLLIN) take(forwarder, connection, number);
            else if (events[i].events & (EPOLLERR | EPOLLHUP)) connection->is_dead = true;
        }
        wait = move_all(forwarder);
    }
}

static int open_network(struct link_forwarder *forwarder) {
    if (forwarder->network) {
        const int network = open(forwarder->network, O_RDONLY | O_CLOEXEC);
        if (network < 0) return errno;
        const int status = setns(network, CLONE_NEWNET);
        const int error = errno;
        close(network);
        if (status != 0) return error;
    }
    for (int i = 0; i < forwarder->count; i++) {
        forwarder->listeners[i] = bind_door(&forwarder->doors[i]);
        if (forwarder->listeners[i] < 0) return errno;
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &forwarder->listeners[i]};
        epoll_ctl(forwarder->poll, EPOLL_CTL_ADD, forwarder->listeners[i], &event);
    }
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &forwarder->wake};
    epoll_ctl(forwarder->poll, EPOLL_CTL_ADD, forwarder->wake, &event);
    return 0;
}

static void *run(void *argument) {
    struct link_forwarder *forwarder = argument;
    forwarder->error = open_network(forwarder);
    sem_post(&forwarder->started);
    if (forwarder->error == 0) serve(forwarder);
    return NULL;
}

int link_forwarder_start(
    const char *network, const struct link_door *doors, int count, uint64_t seed, struct link_forwarder **result) {
    if (count > most_doors) return E2BIG;
    struct link_forwarder *forwarder = calloc(1, sizeof *forwarder);
    forwarder->network = network ? strdup(network) : NULL;
    forwarder->random = seed;
    forwarder->count = count;
    memcpy(forwarder->doors, doors, (size_t)count * sizeof *doors);
    for (int i = 0; i < most_doors; i++) forwarder->listeners[i] = -1;
    forwarder->poll = epoll_create1(EPOLL_CLOEXEC);
    forwarder->wake = eventfd(0, EFD_CLOEXEC);
    pthread_mutex_init(&forwarder->lock, NULL);
    sem_init(&forwarder->started, 0, 0);
    const int status = pthread_create(&forwarder->thread, NULL, run, forwarder);
    if (status != 0) return status;
    while (sem_wait(&forwarder->started) != 0) {}
    const int error = forwarder->error;
    if (error != 0) link_forwarder_stop(forwarder);
    else *result = forwarder;
    return error;
}

void link_forwarder_delay(struct link_forwarder *forwarder, uint32_t host, int64_t least, int64_t most) {
    pthread_mutex_lock(&forwarder->lock);
    int place = 0;
    while (place < forwarder->host_count && forwarder->hosts[place].address != host) place++;
    if (place < most_hosts) {
        forwarder->hosts[place] = (struct host){.address = host, .least = least, .most = most};
        if (place == forwarder->host_count) forwarder->host_count++;
    }
    pthread_mutex_unlock(&forwarder->lock);
}

void link_forwarder_stop(struct link_forwarder *forwarder) {
    __atomic_store_n(&forwarder->is_stopped, true, __ATOMIC_RELEASE);
    const uint64_t one = 1;
    if (write(forwarder->wake, &one, sizeof one) < 0) abort();
    pthread_join(forwarder->thread, NULL);
    while (forwarder->connections) {
        struct connection *connection = forwarder->connections;
        forwarder->connections = connection->next;
        free_connection(forwarder, connection);
    }
    for (int i = 0; i < forwarder->count; i++)
        if (forwarder->listeners[i] >= 0) close(forwarder->listeners[i]);
    close(forwarder->poll);
    close(forwarder->wake);
    pthread_mutex_destroy(&forwarder->lock);
    sem_destroy(&forwarder->started);
    free(forwarder->network);
    free(forwarder);
}

#else

int link_forwarder_start(
    const char *network, const struct link_door *doors, int count, uint64_t seed, struct link_forwarder **forwarder) {
    return ENOSYS;
}

void link_forwarder_delay(struct link_forwarder *forwarder, uint32_t host, int64_t least, int64_t most) {}

void link_forwarder_stop(struct link_forwarder *forwarder) {}

#endif
