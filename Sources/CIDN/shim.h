#ifndef CIDN_SHIM_H
#define CIDN_SHIM_H
#include <dlfcn.h>
#include <idn2.h>
#include <stdlib.h>

/* libidn2, loaded at first use: an address with letters outside ASCII is rare.
   Returns IDN2_OK and a malloc'ed string, or the library's error; -1 where the library is missing. */
static inline int cidn_to_ascii(const char *domain, char **ascii) {
  void *library = dlopen("libidn2.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) return -1;
  __typeof__(&idn2_to_ascii_8z) convert = (__typeof__(&idn2_to_ascii_8z))dlsym(library, "idn2_to_ascii_8z");
  /* Letters are lower-cased and normalised first, as UTS 46 has it. */
  return convert ? convert(domain, ascii, IDN2_NONTRANSITIONAL | IDN2_NFC_INPUT) : -1;
}
#endif
