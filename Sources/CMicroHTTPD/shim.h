// libmicrohttpd (which pulls in GnuTLS) is loaded at first use and never linked: a program that serves no page pays nothing.
// Started by itself it listens on every interface; what is offered here takes a socket that listens on loopback alone.
#ifndef CMICROHTTPD_SHIM_H
#define CMICROHTTPD_SHIM_H
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

/// What is used of the library. Filled once by `cmicrohttpd_load`; read only from then on.
struct cmicrohttpd {
  __typeof__(&MHD_start_daemon) start_daemon;
  __typeof__(&MHD_stop_daemon) stop_daemon;
  __typeof__(&MHD_run) run;
  __typeof__(&MHD_get_timeout) get_timeout;
  __typeof__(&MHD_add_connection) add_connection;
  __typeof__(&MHD_get_daemon_info) get_daemon_info;
  __typeof__(&MHD_get_connection_info) get_connection_info;
  __typeof__(&MHD_get_connection_values) get_connection_values;
  __typeof__(&MHD_create_response_from_buffer) create_response_from_buffer;
  __typeof__(&MHD_create_response_from_callback) create_response_from_callback;
  __typeof__(&MHD_add_response_header) add_response_header;
  __typeof__(&MHD_queue_response) queue_response;
  __typeof__(&MHD_destroy_response) destroy_response;
};

/// Loads the library into `table`. False where it isn't installed or lacks a function; the table is unusable then.
static inline bool cmicrohttpd_load(struct cmicrohttpd *table) {
  void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
#define CMICROHTTPD_FIND(name) \
  (table->name = (__typeof__(table->name))dlsym(library, "MHD_" #name))
  return CMICROHTTPD_FIND(start_daemon) && CMICROHTTPD_FIND(stop_daemon) && CMICROHTTPD_FIND(run) &&
         CMICROHTTPD_FIND(get_timeout) && CMICROHTTPD_FIND(add_connection) && CMICROHTTPD_FIND(get_daemon_info) &&
         CMICROHTTPD_FIND(get_connection_info) && CMICROHTTPD_FIND(get_connection_values) &&
         CMICROHTTPD_FIND(create_response_from_buffer) && CMICROHTTPD_FIND(create_response_from_callback) &&
         CMICROHTTPD_FIND(add_response_header) && CMICROHTTPD_FIND(queue_response) && CMICROHTTPD_FIND(destroy_response);
#undef CMICROHTTPD_FIND
}

/// The port of a socket bound to 127.0.0.0/8 or ::1; 0 for any other socket.
static inline uint16_t cmicrohttpd_loopback_port(int socket) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  if (getsockname(socket, (struct sockaddr *)&address, &length) != 0) return 0;
  const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address;
  const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address;
  if (address.ss_family == AF_INET && ntohl(v4->sin_addr.s_addr) >> 24 == 127) return ntohs(v4->sin_port);
  if (address.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr)) return ntohs(v6->sin6_port);
  return 0;
}

/// Serves `socket`, which has to listen on loopback (else NULL and EINVAL); the daemon closes it when it's stopped. Each
/// connection gets a thread, on which the callbacks run.
/// `started` gets each request's target as it stands in the request line, and what it returns is the request's context;
/// `ended` gets that context back. The library adds no Date header of its own.
static inline struct MHD_Daemon *cmicrohttpd_start(
    const struct cmicrohttpd *table, int socket, void *context,
    void *(*started)(void *, const char *, struct MHD_Connection *), MHD_AccessHandlerCallback handle,
    void (*ended)(void *, struct MHD_Connection *, void **, enum MHD_RequestTerminationCode)) {
  if (cmicrohttpd_loopback_port(socket) == 0) {
    errno = EINVAL;
    return NULL;
  }
  unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
                   MHD_USE_SUPPRESS_DATE_NO_CLOCK;
  return table->start_daemon(flags, 0, NULL, NULL, handle, context,
                             MHD_OPTION_LISTEN_SOCKET, socket, MHD_OPTION_URI_LOG_CALLBACK, started, context,
                             MHD_OPTION_NOTIFY_COMPLETED, ended, context, MHD_OPTION_END);
}

/// Serves what `cmicrohttpd_add` hands over, and listens nowhere itself. It has no thread: the caller waits for
/// `cmicrohttpd_epoll` and calls `run`, inside of which the callbacks run. They all get `context`.
/// `started` gets each request's target as it stands in the request line; `changed` hears of each connection's begin and end.
/// - connections: more than these are closed when they are handed over. - memory: bytes for one connection.
static inline struct MHD_Daemon *cmicrohttpd_start_unthreaded(
    const struct cmicrohttpd *table, void *context, unsigned connections, size_t memory,
    void *(*started)(void *, const char *, struct MHD_Connection *), MHD_AccessHandlerCallback handle,
    MHD_NotifyConnectionCallback changed) {
  unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_SUPPRESS_DATE_NO_CLOCK;
  return table->start_daemon(flags, 0, NULL, NULL, handle, context,
                             MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory,
                             MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK, started, context,
                             MHD_OPTION_NOTIFY_CONNECTION, changed, context, MHD_OPTION_END);
}

/// The descriptor that is readable when `run` has something to do, or -1.
static inline int cmicrohttpd_epoll(const struct cmicrohttpd *table, struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = table->get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
  return info ? info->epoll_fd : -1;
}

/// Whether `run` has something to do that `cmicrohttpd_epoll` doesn't tell.
static inline bool cmicrohttpd_must_run(const struct cmicrohttpd *table, struct MHD_Daemon *daemon) {
  MHD_UNSIGNED_LONG_LONG milliseconds;
  return table->get_timeout(daemon, &milliseconds) == MHD_YES && milliseconds == 0;
}

// A GNU extension, which <sys/socket.h> has for _GNU_SOURCE alone.
extern int accept4(int, struct sockaddr *, socklen_t *, int);

/// The next connection of a listening socket, which no child inherits; negative with `errno`.
static inline int cmicrohttpd_accept(int listening) {
  return accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

/// Hands over an accepted connection, which the daemon closes in any case. One that didn't arrive on loopback is refused.
static inline bool cmicrohttpd_add(const struct cmicrohttpd *table, struct MHD_Daemon *daemon, int socket) {
  struct sockaddr_storage peer;
  socklen_t length = sizeof peer;
  if (cmicrohttpd_loopback_port(socket) == 0 || getpeername(socket, (struct sockaddr *)&peer, &length) != 0) {
    close(socket);
    return false;
  }
  return table->add_connection(daemon, socket, (struct sockaddr *)&peer, length) == MHD_YES;
}

/// The daemon's own word for a connection: `*socket_context` as `changed` left it, or NULL.
static inline void *cmicrohttpd_connection_context(const struct cmicrohttpd *table, struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = table->get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

/// Calls `each` for every header of the request.
static inline void cmicrohttpd_headers(const struct cmicrohttpd *table, struct MHD_Connection *connection,
                                       MHD_KeyValueIterator each, void *context) {
  table->get_connection_values(connection, MHD_HEADER_KIND, each, context);
}

/// A response with a copy of these bytes.
static inline struct MHD_Response *cmicrohttpd_response(const struct cmicrohttpd *table, const void *bytes, size_t count) {
  return table->create_response_from_buffer(count, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}

/// The socket of a connection, or -1.
static inline int cmicrohttpd_socket(const struct cmicrohttpd *table, struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = table->get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

/// Waits until `wake` is readable, the peer of `socket` has gone, or the time is over.
/// 1: woken, 2: the peer has gone, 0: time is over.
static inline int cmicrohttpd_wait(int wake, int socket, int milliseconds) {
  // POLLRDHUP, which <poll.h> has for _GNU_SOURCE alone.
  struct pollfd wanted[2] = {{wake, POLLIN, 0}, {socket, 0x2000, 0}};
  int ready;
  do ready = poll(wanted, 2, milliseconds);
  while (ready < 0 && errno == EINTR);
  if (wanted[0].revents) return 1;
  return ready > 0 ? 2 : 0;
}

/// Ends a connection with a reset (RST) instead of in order, which is what the library does: Linux resets a TCP connection
/// that is dissolved.
static inline void cmicrohttpd_reset(int socket) {
  struct sockaddr nobody = {.sa_family = AF_UNSPEC};
  connect(socket, &nobody, sizeof nobody);
}
#endif
