// commit FILE COUNT [PAUSE]: COUNT durable commits (WAL, synchronous=FULL) of one row each, PAUSE milliseconds apart; prints the
// microseconds of each. What others write in a pause goes to the disk with the next commit.
#include "floor.h"
#include <sqlite3.h>
#include <unistd.h>

static void run(sqlite3 *store, const char *text) {
  if (sqlite3_exec(store, text, NULL, NULL, NULL) != SQLITE_OK) fail(text, sqlite3_errmsg(store));
}

int main(int count, char **words) {
  if (count < 3) fail("usage", "commit FILE COUNT [PAUSE]");
  sqlite3 *store;
  if (sqlite3_open(words[1], &store) != SQLITE_OK) fail(words[1], sqlite3_errmsg(store));
  run(store, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
             "CREATE TABLE IF NOT EXISTS rows (key TEXT PRIMARY KEY, value BLOB, time INTEGER) WITHOUT ROWID;");
  sqlite3_stmt *insert;
  char value[800];
  memset(value, 'v', sizeof value);
  if (sqlite3_prepare_v2(store, "INSERT OR REPLACE INTO rows VALUES (?1, ?2, ?3)", -1, &insert, NULL) != SQLITE_OK)
    fail("insert", sqlite3_errmsg(store));
  int rounds = atoi(words[2]);
  for (int i = -3; i < rounds; i++) {
    char key[16];
    snprintf(key, sizeof key, "row %d", (i + 3) % 20);
    double start = microseconds();
    sqlite3_bind_text(insert, 1, key, -1, SQLITE_TRANSIENT);
    sqlite3_bind_blob(insert, 2, value, sizeof value, SQLITE_STATIC);
    sqlite3_bind_int(insert, 3, i);
    if (sqlite3_step(insert) != SQLITE_DONE) fail("commit", sqlite3_errmsg(store));
    sqlite3_reset(insert);
    if (i >= 0) printf("%.1f\n", microseconds() - start);
    if (count > 3) usleep(1000 * (useconds_t)atoi(words[3]));
  }
  sqlite3_finalize(insert);
  sqlite3_close(store);
  return 0;
}
