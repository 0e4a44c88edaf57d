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

/* Whether `signature`, as long as the modulus, is RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 8.2.2) of what hashes to
   `digest`: 1 yes, 0 no, -1 where the key or the library can't be used. */
static inline int ccrypto_rsa_verify(const void *n, size_t n_length, const void *e, size_t e_length,
                                     const void *signature, const void *digest) {
  ccrypto_start();
  gcry_mpi_t modulus = NULL, exponent = NULL, s = NULL;
  gcry_sexp_t key = NULL, data = NULL, value = NULL;
  int result = -1;
  if (gcry_mpi_scan(&modulus, GCRYMPI_FMT_USG, n, n_length, NULL)) goto end;
  if (gcry_mpi_scan(&exponent, GCRYMPI_FMT_USG, e, e_length, NULL)) goto end;
  if (gcry_mpi_scan(&s, GCRYMPI_FMT_USG, signature, n_length, NULL)) goto end;
  if (gcry_mpi_cmp(s, modulus) >= 0) {
    result = 0;
    goto end;
  }
  if (gcry_sexp_build(&key, NULL, "(public-key (rsa (n %m) (e %m)))", modulus, exponent)) goto end;
  if (gcry_sexp_build(&data, NULL, "(data (flags pkcs1) (hash sha256 %b))", 32, (const char *)digest)) goto end;
  if (gcry_sexp_build(&value, NULL, "(sig-val (rsa (s %m)))", s)) goto end;
  result = gcry_pk_verify(value, data, key) == 0;
end:
  gcry_mpi_release(modulus);
  gcry_mpi_release(exponent);
  gcry_mpi_release(s);
  gcry_sexp_release(key);
  gcry_sexp_release(data);
  gcry_sexp_release(value);
  return result;
}

/* Whether the 65 bytes of `point` (04, x, y) are on P-256. */
static inline bool ccrypto_p256_holds(const void *point) {
  ccrypto_start();
  gcry_ctx_t curve = NULL;
  gcry_mpi_t q = NULL;
  gcry_mpi_point_t decoded = NULL;
  bool holds = !gcry_mpi_ec_new(&curve, NULL, "NIST P-256") && !gcry_mpi_scan(&q, GCRYMPI_FMT_USG, point, 65, NULL) &&
               (decoded = gcry_mpi_point_new(0)) && !gcry_mpi_ec_decode_point(decoded, q, curve) &&
               gcry_mpi_ec_curve_point(decoded, curve);
  if (decoded) gcry_mpi_point_release(decoded);
  gcry_mpi_release(q);
  if (curve) gcry_ctx_release(curve);
  return holds;
}

/* The same for ECDSA on P-256 (FIPS 186-4): 64 bytes of `signature` (r, s; RFC 7518 3.4), a point that is on the curve. */
static inline int ccrypto_p256_verify(const void *point, const void *signature, const void *digest) {
  ccrypto_start();
  gcry_mpi_t r = NULL, s = NULL, hash = NULL;
  gcry_sexp_t key = NULL, data = NULL, value = NULL;
  int result = -1;
  if (gcry_mpi_scan(&r, GCRYMPI_FMT_USG, signature, 32, NULL)) goto end;
  if (gcry_mpi_scan(&s, GCRYMPI_FMT_USG, (const char *)signature + 32, 32, NULL)) goto end;
  if (gcry_mpi_scan(&hash, GCRYMPI_FMT_USG, digest, 32, NULL)) goto end;
  if (gcry_sexp_build(&key, NULL, "(public-key (ecc (curve \"NIST P-256\") (q %b)))", 65, (const char *)point)) goto end;
  if (gcry_sexp_build(&data, NULL, "(data (flags raw) (value %m))", hash)) goto end;
  if (gcry_sexp_build(&value, NULL, "(sig-val (ecdsa (r %m) (s %m)))", r, s)) goto end;
  result = gcry_pk_verify(value, data, key) == 0;
end:
  gcry_mpi_release(r);
  gcry_mpi_release(s);
  gcry_mpi_release(hash);
  gcry_sexp_release(key);
  gcry_sexp_release(data);
  gcry_sexp_release(value);
  return result;
}
