#include "merge.h"

#include "options.h"
#include "output.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static void version_words(char *out, size_t size)
{
  tn_version_info v = tn_version();
  snprintf(out, size, "%d.%d.%d", v.major, v.minor, v.patch);
}

// ---------------------------------------------------------------------------------------------
// CSV

// Names of parameters of scene files may contain anything.
static void write_quoted(FILE *file, const char *word)
{
  if (!strpbrk(word, ",\"\n")) {
    fputs(word, file);
    return;
  }
  fputc('"', file);
  for (; *word; ++word) {
    if (*word == '"') {
      fputc('"', file);
    }
    fputc(*word, file);
  }
  fputc('"', file);
}

static void write_head(const sweep_spec *s, FILE *file)
{
  fputs("run", file);
  for (int i = 0; i < s->parameter_count; ++i) {
    fputc(',', file);
    write_quoted(file, s->parameters[i].name);
  }
  fputs(",method,substeps,iterations,seconds,state", file);
  for (int i = 0; i < s->metric_count; ++i) {
    fprintf(file, ",%s", s->metrics[i]);
  }
  fputs(",hash,version\n", file);
}

static void write_row(const sweep_spec *s, const run_result *r, const char *version, FILE *file)
{
  sweep_point p = spec_point(s, r->run);
  fprintf(file, "%" PRId64, r->run);
  for (int i = 0; i < s->parameter_count; ++i) {
    fprintf(file, ",%.12g", p.values[i]);
  }
  fprintf(file, ",%s,%d,%d,%.9g,%s", method_name(p.method), p.substeps, p.iterations, s->seconds,
          run_state_name(r->state));
  for (int i = 0; i < s->metric_count; ++i) {
    fprintf(file, isfinite(r->metrics[i]) ? ",%.9g" : ",", r->metrics[i]);
  }
  fprintf(file, ",%016" PRIx64 ",%s\n", r->hash, version);
}

bool merge_csv(const sweep_spec *s, const result_table *t, const char *path)
{
  output out;
  if (!output_open(&out, path)) {
    return false;
  }
  char version[64];
  version_words(version, sizeof version);
  write_head(s, out.file);
  for (int64_t i = 0; i < t->count; ++i) {
    write_row(s, &t->rows[i], version, out.file);
  }
  return output_finish(&out);
}

// ---------------------------------------------------------------------------------------------
// SQLite

static bool execute(sqlite3 *db, const char *command)
{
  return sqlite3_exec(db, command, NULL, NULL, NULL) == SQLITE_OK;
}

// create table, or insert statement with a place for each column.
static char *statement_for(const sweep_spec *s, bool create)
{
  sqlite3_str *t = sqlite3_str_new(NULL);
  sqlite3_str_appendall(t, create ? "create table runs(run integer primary key"
                                  : "insert into runs values(?");
  for (int i = 0; i < s->parameter_count; ++i) {
    sqlite3_str_appendf(t, create ? ", \"%w\" real" : ",?", s->parameters[i].name);
  }
  sqlite3_str_appendall(t, create ? ", method text, substeps integer, iterations integer, seconds "
                                    "real, state text"
                                  : ",?,?,?,?,?");
  for (int i = 0; i < s->metric_count; ++i) {
    sqlite3_str_appendf(t, create ? ", \"%w\" real" : ",?", s->metrics[i]);
  }
  sqlite3_str_appendall(t, create ? ", hash text, version text)" : ",?,?)");
  return sqlite3_str_finish(t);
}

static bool insert_row(sqlite3_stmt *to, const sweep_spec *s, const run_result *r,
                       const char *version)
{
  sweep_point p = spec_point(s, r->run);
  char hash[17];
  int at = 1;
  snprintf(hash, sizeof hash, "%016" PRIx64, r->hash);
  sqlite3_bind_int64(to, at++, r->run);
  for (int i = 0; i < s->parameter_count; ++i) {
    sqlite3_bind_double(to, at++, p.values[i]);
  }
  sqlite3_bind_text(to, at++, method_name(p.method), -1, SQLITE_STATIC);
  sqlite3_bind_int(to, at++, p.substeps);
  sqlite3_bind_int(to, at++, p.iterations);
  sqlite3_bind_double(to, at++, s->seconds);
  sqlite3_bind_text(to, at++, run_state_name(r->state), -1, SQLITE_STATIC);
  for (int i = 0; i < s->metric_count; ++i, ++at) {
    if (isfinite(r->metrics[i])) {
      sqlite3_bind_double(to, at, r->metrics[i]);
    } else {
      sqlite3_bind_null(to, at);
    }
  }
  sqlite3_bind_text(to, at++, hash, -1, SQLITE_TRANSIENT);
  sqlite3_bind_text(to, at, version, -1, SQLITE_STATIC);
  bool ok = sqlite3_step(to) == SQLITE_DONE;
  sqlite3_reset(to);
  return ok;
}

static bool fill(sqlite3 *db, const sweep_spec *s, const result_table *t)
{
  char version[64];
  version_words(version, sizeof version);
  char *create = statement_for(s, true), *insert = statement_for(s, false);
  sqlite3_stmt *to = NULL;
  bool ok = create && insert &&
            execute(db, "pragma page_size=4096; pragma journal_mode=off; begin") &&
            execute(db, create) && sqlite3_prepare_v2(db, insert, -1, &to, NULL) == SQLITE_OK;
  for (int64_t i = 0; i < t->count && ok; ++i) {
    ok = insert_row(to, s, &t->rows[i], version);
  }
  sqlite3_finalize(to);
  sqlite3_free(create);
  sqlite3_free(insert);
  return ok && execute(db, "commit");
}

bool merge_sqlite(const sweep_spec *s, const result_table *t, const char *path)
{
  char temporary[1200];
  snprintf(temporary, sizeof temporary, "%s.part", path);
  remove(temporary);
  sqlite3 *db = NULL;
  bool ok = sqlite3_open(temporary, &db) == SQLITE_OK && fill(db, s, t);
  if (!ok) {
    complain("cannot write '%s': %s", path, db ? sqlite3_errmsg(db) : "not enough memory");
  }
  ok = sqlite3_close(db) == SQLITE_OK && ok;
  if (ok && rename(temporary, path) != 0) {
    complain("cannot write '%s': %s", path, strerror(errno));
    ok = false;
  }
  if (!ok) {
    remove(temporary);
  }
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Hosts and times

typedef struct note {
  int64_t run;
  const char *line;
} note;

static int compare_notes(const void *a, const void *b)
{
  const note *x = a, *y = b;
  int order = (x->run > y->run) - (x->run < y->run);
  return order ? order : strcmp(x->line, y->line);
}

// Cuts a file into lines; the last one may be torn.
static size_t add_notes(char *bytes, note **notes, size_t count)
{
  for (char *line = bytes, *end; (end = strchr(line, '\n')); line = end + 1) {
    *end = '\0';
    if ((count & (count + 1)) == 0) { // full at 1, 3, 7, ...
      note *grown = realloc(*notes, (2 * count + 2) * sizeof *grown);
      if (!grown) {
        return count;
      }
      *notes = grown;
    }
    (*notes)[count++] = (note){strtoll(line, NULL, 10), line};
  }
  return count;
}

bool merge_hosts(const char *folder, const char *path)
{
  char name[1400];
  snprintf(name, sizeof name, "%s/parts", folder);
  DIR *parts = opendir(name);
  output out;
  if (!parts || !output_open(&out, path)) {
    if (parts) {
      closedir(parts);
    }
    return false;
  }
  note *notes = NULL;
  char *kept[4096];
  size_t count = 0;
  int files = 0;
  for (struct dirent *entry; (entry = readdir(parts)) && files < 4096;) {
    size_t size, length = strlen(entry->d_name);
    if (length > 6 && strcmp(entry->d_name + length - 6, ".times") == 0) {
      snprintf(name, sizeof name, "%s/parts/%.250s", folder, entry->d_name);
      char *bytes = read_whole_file(name, &size);
      if (bytes) {
        bytes[size] = '\0';
        kept[files++] = bytes;
        count = add_notes(bytes, &notes, count);
      }
    }
  }
  closedir(parts);
  if (count > 0) {
    qsort(notes, count, sizeof *notes, compare_notes);
  }
  fputs("run,host,finished,seconds\n", out.file);
  for (size_t i = 0; i < count; ++i) {
    fprintf(out.file, "%s\n", notes[i].line);
  }
  free(notes);
  while (files > 0) {
    free(kept[--files]);
  }
  return output_finish(&out);
}
