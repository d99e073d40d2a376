#include "journal.h"

#include "options.h"
#include "output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 64 + 26 * SCENE_MAX_METRICS, PATH = 1400 };

static const char *const state_names[] = {"ok", "failed", "refused"};

const char *run_state_name(run_state state)
{
  return state_names[state];
}

// ---------------------------------------------------------------------------------------------
// Lines

static uint64_t checksum(const sweep_spec *s, const char *line, size_t size)
{
  uint64_t hash = s->identity;
  for (size_t i = 0; i < size; ++i) {
    hash = (hash ^ (uint64_t)(unsigned char)line[i]) * UINT64_C(0x100000001b3);
  }
  return hash;
}

static size_t write_line(const sweep_spec *s, const run_result *r, char *line)
{
  size_t used =
      (size_t)snprintf(line, LINE, "%" PRId64 ",%d,%016" PRIx64, r->run, (int)r->state, r->hash);
  for (int i = 0; i < s->metric_count; ++i) {
    used += (size_t)snprintf(line + used, LINE - used, isfinite(r->metrics[i]) ? ",%.9g" : ",",
                             r->metrics[i]);
  }
  uint64_t sum = checksum(s, line, used);
  return used + (size_t)snprintf(line + used, LINE - used, ",%016" PRIx64 "\n", sum);
}

// Reads a line without its end; false if it does not count.
static bool read_line(const sweep_spec *s, const char *line, size_t size, run_result *r)
{
  size_t body = size > 17 ? size - 17 : 0;
  int state, used = 0;
  if (body == 0 || size >= LINE || line[body] != ',' ||
      strtoull(line + body + 1, NULL, 16) != checksum(s, line, body) ||
      sscanf(line, "%" SCNd64 ",%d,%16" SCNx64 "%n", &r->run, &state, &r->hash, &used) != 3) {
    return false;
  }
  r->state = (run_state)state;
  const char *at = line + used;
  for (int i = 0; i < s->metric_count; ++i, at += strcspn(at, ",\n")) {
    if (*at++ != ',') {
      return false;
    }
    r->metrics[i] = *at == ',' ? (double)NAN : strtod(at, NULL);
  }
  return r->run >= 0 && r->run < s->runs && state >= RUN_OK && state <= RUN_REFUSED;
}

// ---------------------------------------------------------------------------------------------
// The folder

// Several processes may create the file at once; all of them write the same.
static bool write_identity(const sweep_spec *s, const char *path)
{
  char temporary[PATH + 32];
  snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
  FILE *file = fopen(temporary, "wb");
  bool ok = file && fprintf(file, "%016" PRIx64 "\n%s", s->identity, s->text) > 0;
  ok = file && fclose(file) == 0 && ok;
  ok = ok && rename(temporary, path) == 0;
  if (!ok) {
    complain("cannot write '%s': %s", path, strerror(errno));
    remove(temporary);
  }
  return ok;
}

bool journal_folder(const sweep_spec *s, const char *folder)
{
  char path[PATH], found[17] = "", own[17];
  if (strlen(folder) > 1000) {
    complain("the name of the folder is too long");
    return false;
  }
  snprintf(path, sizeof path, "%s/parts", folder);
  if (!make_folder(folder) || !make_folder(path)) {
    return false;
  }
  snprintf(path, sizeof path, "%s/trajectories", folder);
  if (s->curve_count > 0 && !make_folder(path)) {
    return false;
  }
  snprintf(path, sizeof path, "%s/sweep.txt", folder);
  FILE *file = fopen(path, "rb");
  if (!file) {
    return write_identity(s, path);
  }
  bool read = fread(found, 1, 16, file) == 16;
  fclose(file);
  snprintf(own, sizeof own, "%016" PRIx64, s->identity);
  if (!read || strcmp(found, own) != 0) {
    complain("'%s' holds the results of another spec or version; choose another folder with --out, "
             "or remove it",
             folder);
    return false;
  }
  return true;
}

// Opens a file for appending, after a complete line.
static int open_part(const char *path)
{
  int file = open(path, O_RDWR | O_APPEND | O_CREAT, 0666);
  char last = '\n';
  off_t size = file >= 0 ? lseek(file, 0, SEEK_END) : -1;
  if (size > 0 && pread(file, &last, 1, size - 1) == 1 && last != '\n' &&
      write(file, "\n", 1) != 1) {
    close(file);
    return -1;
  }
  return file;
}

bool journal_open(journal *j, const sweep_spec *s, const char *folder, sweep_shard shard)
{
  char path[PATH];
  memset(j, 0, sizeof *j);
  j->spec = s;
  j->results = j->times = -1;
  snprintf(j->folder, sizeof j->folder, "%s", folder);
  pthread_mutex_init(&j->lock, NULL);
  snprintf(path, sizeof path, "%s/parts/%d-of-%d.csv", folder, shard.index, shard.count);
  j->results = open_part(path);
  if (j->results >= 0 && flock(j->results, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    complain("another sweep is writing '%s'", path);
    journal_close(j);
    return false;
  }
  char times[PATH + 16];
  snprintf(times, sizeof times, "%s.times", path);
  j->times = j->results >= 0 ? open_part(times) : -1;
  if (j->times < 0) {
    complain("cannot write '%s': %s", path, strerror(errno));
    journal_close(j);
    return false;
  }
  return true;
}

static bool write_all(int file, const char *bytes, size_t size)
{
  ssize_t written = write(file, bytes, size);
  return written == (ssize_t)size;
}

void journal_add(journal *j, const run_result *result)
{
  char line[LINE], note[256], host[64] = "", when[32] = "";
  size_t size = write_line(j->spec, result, line);
  time_t now = time(NULL);
  struct tm utc;
  gethostname(host, sizeof host - 1);
  strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  int length = snprintf(note, sizeof note, "%" PRId64 ",%s,%s,%.6f\n", result->run, host, when,
                        result->seconds);
  pthread_mutex_lock(&j->lock);
  if (!j->failed && !write_all(j->results, line, size)) {
    complain("cannot write the results in '%s': %s; finished runs are kept", j->folder,
             strerror(errno));
    j->failed = true;
  }
  if (!j->failed && !write_all(j->times, note, (size_t)length)) {
    j->failed = true;
  }
  pthread_mutex_unlock(&j->lock);
}

bool journal_close(journal *j)
{
  bool ok = !j->failed;
  if (j->results >= 0) {
    ok = fsync(j->results) == 0 && ok;
    ok = close(j->results) == 0 && ok;
  }
  if (j->times >= 0) {
    close(j->times);
  }
  pthread_mutex_destroy(&j->lock);
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Reading

static bool same_result(const sweep_spec *s, const run_result *a, const run_result *b)
{
  char one[LINE], other[LINE];
  return write_line(s, a, one) == write_line(s, b, other) && strcmp(one, other) == 0;
}

static bool read_part(result_table *t, const sweep_spec *s, const char *path)
{
  size_t size;
  char *bytes = read_whole_file(path, &size);
  if (!bytes) {
    return false;
  }
  bytes[size] = '\0';
  bool ok = true;
  for (char *line = bytes, *end; ok && (end = strchr(line, '\n')); line = end + 1) {
    run_result r = {.seconds = 0.0};
    if (!read_line(s, line, (size_t)(end - line), &r)) {
      continue;
    }
    ok = !t->done[r.run] || same_result(s, &t->rows[r.run], &r);
    if (!ok) {
      complain("run %" PRId64 " has two different results; the second is in '%s'", r.run, path);
    }
    t->done_count += !t->done[r.run];
    t->failed_count += !t->done[r.run] && r.state != RUN_OK;
    t->done[r.run] = true;
    t->rows[r.run] = r;
  }
  free(bytes);
  return ok;
}

bool results_read(result_table *t, const sweep_spec *s, const char *folder)
{
  memset(t, 0, sizeof *t);
  t->count = s->runs;
  t->rows = calloc((size_t)s->runs, sizeof *t->rows);
  t->done = calloc((size_t)s->runs, sizeof *t->done);
  if (!t->rows || !t->done) {
    complain("not enough memory for %" PRId64 " runs", s->runs);
    return false;
  }
  char path[PATH];
  snprintf(path, sizeof path, "%s/parts", folder);
  DIR *parts = opendir(path);
  if (!parts) {
    complain("cannot read '%s': %s", path, strerror(errno));
    return false;
  }
  bool ok = true;
  for (struct dirent *entry; ok && (entry = readdir(parts));) {
    size_t length = strlen(entry->d_name);
    if (length > 4 && strcmp(entry->d_name + length - 4, ".csv") == 0) {
      snprintf(path, sizeof path, "%s/parts/%.250s", folder, entry->d_name);
      ok = read_part(t, s, path);
    }
  }
  closedir(parts);
  return ok;
}

void results_free(result_table *t)
{
  free(t->rows);
  free(t->done);
  memset(t, 0, sizeof *t);
}
