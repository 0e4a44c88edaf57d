#ifndef CQRENCODE_SHIM_H
#define CQRENCODE_SHIM_H
#include <dlfcn.h>
#include <errno.h>
#include <qrencode.h>
#include <stddef.h>

struct cqrencode_code {
  /// A byte for each module, row by row from the top left corner; the lowest bit is set in dark ones.
  const unsigned char *modules;
  /// Modules in a row, and rows.
  int width;
  QRcode *owner;
};

/* libqrencode, loaded at first use: codes are shown rarely. 0; or ELIBACC where the library is missing, ERANGE for too much
   data, another errno for what the library says. What was filled in is freed with cqrencode_free. */
static inline int cqrencode_encode(const unsigned char *bytes, int count, struct cqrencode_code *code) {
  void *library = dlopen("libqrencode.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library) return ELIBACC;
  __typeof__(&QRcode_encodeData) encode = (__typeof__(&QRcode_encodeData))dlsym(library, "QRcode_encodeData");
  if (!encode) return ELIBACC;
  /* The smallest size that holds it, with 15 % of it restorable. */
  errno = 0;
  code->owner = encode(count, bytes, 0, QR_ECLEVEL_M);
  if (!code->owner) return errno ? errno : EINVAL;
  code->modules = code->owner->data;
  code->width = code->owner->width;
  return 0;
}

static inline void cqrencode_free(struct cqrencode_code *code) {
  void *library = dlopen("libqrencode.so.4", RTLD_NOW | RTLD_LOCAL);
  __typeof__(&QRcode_free) release = library ? (__typeof__(&QRcode_free))dlsym(library, "QRcode_free") : NULL;
  if (release) release(code->owner);
}
#endif
