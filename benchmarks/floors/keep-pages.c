// Preloaded into linkd, it makes the page drop do nothing: so that the drop's effect shows. malloc's own calls don't come here.
#include <stddef.h>

int madvise(void *start, size_t length, int advice) {
  (void)start;
  (void)length;
  (void)advice;
  return 0;
}
