#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdbool.h>

/* libcurl, loaded at first use: mapping it and its forty libraries costs 4 ms and 6 MiB, which no activation should pay
   for before it has something to ask. */
struct ccurl {
  CURLcode (*global_init)(long);
  CURL *(*easy_init)(void);
  void (*easy_cleanup)(CURL *);
  CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
  CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
  CURLM *(*multi_init)(void);
  CURLMcode (*multi_cleanup)(CURLM *);
  CURLMcode (*multi_setopt)(CURLM *, CURLMoption, ...);
  CURLMcode (*multi_add_handle)(CURLM *, CURL *);
  CURLMcode (*multi_remove_handle)(CURLM *, CURL *);
  CURLMcode (*multi_socket_action)(CURLM *, curl_socket_t, int, int *);
  CURLMsg *(*multi_info_read)(CURLM *, int *);
  struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
  void (*slist_free_all)(struct curl_slist *);
  time_t (*getdate)(const char *, const time_t *);
};

static inline bool ccurl_load(struct ccurl *curl) {
  void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
#define CCURL_FIND(member, name) \
  if (!(*(void **)&curl->member = dlsym(library, #name))) return false
  CCURL_FIND(global_init, curl_global_init);
  CCURL_FIND(easy_init, curl_easy_init);
  CCURL_FIND(easy_cleanup, curl_easy_cleanup);
  CCURL_FIND(easy_setopt, curl_easy_setopt);
  CCURL_FIND(easy_getinfo, curl_easy_getinfo);
  CCURL_FIND(multi_init, curl_multi_init);
  CCURL_FIND(multi_cleanup, curl_multi_cleanup);
  CCURL_FIND(multi_setopt, curl_multi_setopt);
  CCURL_FIND(multi_add_handle, curl_multi_add_handle);
  CCURL_FIND(multi_remove_handle, curl_multi_remove_handle);
  CCURL_FIND(multi_socket_action, curl_multi_socket_action);
  CCURL_FIND(multi_info_read, curl_multi_info_read);
  CCURL_FIND(slist_append, curl_slist_append);
  CCURL_FIND(slist_free_all, curl_slist_free_all);
  CCURL_FIND(getdate, curl_getdate);
#undef CCURL_FIND
  return curl->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

/* Swift can't call variadic functions. The type-checking macros of curl.h don't apply through a pointer. */
static inline CURLcode ccurl_set_long(const struct ccurl *c, CURL *h, CURLoption o, long v) { return c->easy_setopt(h, o, v); }
static inline CURLcode ccurl_set_text(const struct ccurl *c, CURL *h, CURLoption o, const char *v) { return c->easy_setopt(h, o, v); }
static inline CURLcode ccurl_set_pointer(const struct ccurl *c, CURL *h, CURLoption o, void *v) { return c->easy_setopt(h, o, v); }
static inline CURLcode ccurl_set_headers(const struct ccurl *c, CURL *h, struct curl_slist *v) { return c->easy_setopt(h, CURLOPT_HTTPHEADER, v); }
static inline CURLcode ccurl_set_body(const struct ccurl *c, CURL *h, const void *v, long n) {
  CURLcode r = c->easy_setopt(h, CURLOPT_POSTFIELDSIZE, n);
  return r ? r : c->easy_setopt(h, CURLOPT_COPYPOSTFIELDS, v);
}
static inline CURLcode ccurl_set_writer(const struct ccurl *c, CURL *h, size_t (*f)(char *, size_t, size_t, void *), void *d) {
  CURLcode r = c->easy_setopt(h, CURLOPT_WRITEFUNCTION, f);
  return r ? r : c->easy_setopt(h, CURLOPT_WRITEDATA, d);
}
static inline CURLcode ccurl_set_header_reader(const struct ccurl *c, CURL *h, size_t (*f)(char *, size_t, size_t, void *), void *d) {
  CURLcode r = c->easy_setopt(h, CURLOPT_HEADERFUNCTION, f);
  return r ? r : c->easy_setopt(h, CURLOPT_HEADERDATA, d);
}
static inline long ccurl_status(const struct ccurl *c, CURL *h) {
  long v = 0;
  c->easy_getinfo(h, CURLINFO_RESPONSE_CODE, &v);
  return v;
}
static inline CURLMcode ccurl_multi_sockets(const struct ccurl *c, CURLM *m, curl_socket_callback f, void *d) {
  CURLMcode r = c->multi_setopt(m, CURLMOPT_SOCKETFUNCTION, f);
  return r ? r : c->multi_setopt(m, CURLMOPT_SOCKETDATA, d);
}
static inline CURLMcode ccurl_multi_timers(const struct ccurl *c, CURLM *m, curl_multi_timer_callback f, void *d) {
  CURLMcode r = c->multi_setopt(m, CURLMOPT_TIMERFUNCTION, f);
  return r ? r : c->multi_setopt(m, CURLMOPT_TIMERDATA, d);
}
// How many connections are kept for later, and how many there may be at once; what is over waits.
static inline CURLMcode ccurl_multi_bounds(const struct ccurl *c, CURLM *m, long kept, long total) {
  CURLMcode r = c->multi_setopt(m, CURLMOPT_MAXCONNECTS, kept);
  return r ? r : c->multi_setopt(m, CURLMOPT_MAX_TOTAL_CONNECTIONS, total);
}
static inline CURLcode ccurl_result(CURLMsg *m) { return m->data.result; }
#endif
