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

/// What is used of the library. Filled once by `cmicrohttpd_load`; read only from then on.
struct cmicrohttpd {
  __typeof__(&MHD_start_daemon) start_daemon;
  __typeof__(&MHD_stop_daemon) stop_daemon;
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
  return CMICROHTTPD_FIND(start_daemon) && CMICROHTTPD_FIND(stop_daemon) && CMICROHTTPD_FIND(get_connection_info) &&
         CMICROHTTPD_FIND(get_connection_values) &&
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
