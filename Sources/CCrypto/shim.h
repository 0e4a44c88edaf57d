#include <errno.h>
#include <gcrypt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/random.h>

/* libgcrypt asks for one initialisation in a process, by one thread. The symbol is weak, so that every Swift module that
   imports this header shares it. */
__attribute__((weak)) pthread_once_t ccrypto_once = PTHREAD_ONCE_INIT;

static inline void ccrypto_initialize(void) {
  /* A program that has finished the initialisation itself, or a library of its, is left alone. */
  if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P)) return;
  gcry_check_version(NULL);
  gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
  gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
}

/* To be called before any other function of libgcrypt; costs a comparison after the first time. */
static inline void ccrypto_start(void) { pthread_once(&ccrypto_once, ccrypto_initialize); }

/* SHA-256; `digest` has room for 32 bytes. */
static inline void ccrypto_sha256(const void *data, size_t length, void *digest) {
  ccrypto_start();
  gcry_md_hash_buffer(GCRY_MD_SHA256, digest, data, length);
}

/* HMAC-SHA256 (RFC 2104); `mac` has room for 32 bytes. False where the library refuses the key. */
static inline bool ccrypto_hmac_sha256(const void *key, size_t key_length, const void *data, size_t length, void *mac) {
  ccrypto_start();
  gcry_buffer_t parts[2] = {
      {.data = (void *)(key ? key : ""), .len = key_length}, {.data = (void *)(data ? data : ""), .len = length}};
  return gcry_md_hash_buffers(GCRY_MD_SHA256, GCRY_MD_FLAG_HMAC, mac, parts, 2) == 0;
}

/* One AES-256-GCM context (NIST SP 800-38D) with key, 96-bit nonce and associated data; NULL where it can't be made. */
static inline gcry_cipher_hd_t ccrypto_gcm(const void *key, const void *nonce, const void *associated, size_t length) {
  ccrypto_start();
  gcry_cipher_hd_t gcm = NULL;
  if (gcry_cipher_open(&gcm, GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_GCM, 0)) return NULL;
  if (!gcry_cipher_setkey(gcm, key, 32) && !gcry_cipher_setiv(gcm, nonce, 12) &&
      (length == 0 || !gcry_cipher_authenticate(gcm, associated, length)))
    return gcm;
  gcry_cipher_close(gcm);
  return NULL;
}

/* Encrypts `length` bytes in place and writes the 16-byte tag. */
static inline bool ccrypto_gcm_seal(const void *key, const void *nonce, const void *associated, size_t associated_length,
                                    void *text, size_t length, void *tag) {
  gcry_cipher_hd_t gcm = ccrypto_gcm(key, nonce, associated, associated_length);
  if (!gcm) return false;
  bool done =
      (length == 0 || !gcry_cipher_encrypt(gcm, text, length, NULL, 0)) && !gcry_cipher_gettag(gcm, tag, 16);
  gcry_cipher_close(gcm);
  return done;
}

/* Decrypts `length` bytes in place: 1 when the 16-byte tag fits, 0 when it doesn't, -1 where the library fails. */
static inline int ccrypto_gcm_open(const void *key, const void *nonce, const void *associated, size_t associated_length,
                                   void *text, size_t length, const void *tag) {
  gcry_cipher_hd_t gcm = ccrypto_gcm(key, nonce, associated, associated_length);
  if (!gcm) return -1;
  int result = -1;
  if (length == 0 || !gcry_cipher_decrypt(gcm, text, length, NULL, 0)) {
    gcry_error_t error = gcry_cipher_checktag(gcm, tag, 16);
    if (!error) result = 1;
    else if (gcry_err_code(error) == GPG_ERR_CHECKSUM) result = 0;
  }
  gcry_cipher_close(gcm);
  return result;
}

/* Compares without a branch on the bytes. */
static inline bool ccrypto_equal(const void *a, const void *b, size_t length) {
  const volatile unsigned char *x = a, *y = b;
  unsigned char difference = 0;
  for (size_t i = 0; i < length; i++) difference |= x[i] ^ y[i];
  return difference == 0;
}

/* Fills `length` bytes from the kernel's random source, waiting for it at an early boot; false where it fails. */
static inline bool ccrypto_random(void *bytes, size_t length) {
  for (size_t filled = 0; filled < length;) {
    ssize_t got = getrandom((char *)bytes + filled, length - filled, 0);
    if (got > 0) filled += (size_t)got;
    else if (errno != EINTR) return false;
  }
  return true;
}
