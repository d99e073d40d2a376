// Benchmarks. The arguments, or else the environment variable BENCH, select some: "pyramid:36
// scaling"; "--setting fast" runs only that setting of Tenon. BENCH_JSON names a file for one JSON
// object per line.
#include "bench.h"

#include "peer.h"

#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Selection

// The next word of `*text`, and its length; null at the end.
static const char *next_word(const char **text, size_t *length)
{
  const char *word = *text + strspn(*text, " ,");
  *length = strcspn(word, " ,");
  *text = word + *length;
  return *length > 0 ? word : NULL;
}

static bool is_named(const char *word, size_t length, const char *name)
{
  return strlen(name) == length && memcmp(word, name, length) == 0;
}

bool bench_is_picked(bench *b, const char *group, const char *name, int size)
{
  const char *text = b->picks;
  size_t length;
  int count = 0;
  bool picked = false;
  for (const char *word; (word = next_word(&text, &length)); ++count) {
    const char *colon = memchr(word, ':', length);
    size_t name_length = colon ? (size_t)(colon - word) : length;
    bool matches =
        (is_named(word, name_length, name) && (!colon || strtol(colon + 1, NULL, 10) == size)) ||
        is_named(word, length, group);
    if (matches && count < BENCH_WORDS) {
      b->known[count] = true;
    }
    picked = picked || matches;
  }
  return !b->asking && (picked || count == 0);
}

static bool run_groups(bench *b)
{
  bool ok = bench_cases(b);
  ok = bench_rays(b) && ok;
  ok = bench_scaling(b) && ok;
  ok = bench_detection(b) && ok;
  ok = bench_figures(b) && ok;
  ok = bench_threads(b) && ok;
  ok = bench_twins(b) && ok;
  ok = bench_memory(b) && ok;
  ok = bench_stream(b) && ok;
  ok = bench_joints(b) && ok;
  return bench_curves(b) && ok;
}

static bool are_picks_known(bench *b)
{
  b->asking = true;
  run_groups(b);
  b->asking = false;
  const char *text = b->picks;
  size_t length;
  int count = 0;
  for (const char *word; (word = next_word(&text, &length)); ++count) {
    if (count >= BENCH_WORDS || !b->known[count]) {
      fprintf(stderr, "tenon_bench: unknown benchmark '%.*s'; docs/benchmarks.md lists them\n",
              (int)length, word);
      return false;
    }
  }
  return true;
}

// Removes "--setting NAME" from the arguments.
static bool take_setting(bench *b, char *picks)
{
  static const char option[] = "--setting";
  char *at = strstr(picks, option);
  if (!at) {
    return true;
  }
  const char *text = at + sizeof option - 1;
  text += *text == '=';
  size_t length;
  const char *word = next_word(&text, &length);
  for (int i = 0; word && i < BENCH_SETTINGS; ++i) {
    if (is_named(word, length, bench_settings[i].name)) {
      b->setting = bench_settings[i].name;
    }
  }
  memset(at, ' ', (size_t)(text - at));
  if (!b->setting) {
    fprintf(stderr, "tenon_bench: --setting takes fast, default or accurate\n");
  }
  return b->setting != NULL;
}

// ---------------------------------------------------------------------------------------------

int bench_widest_lanes(void)
{
  static int lanes;
  if (lanes == 0) {
    tn_world_def def = tn_default_world_def();
    tn_world *world = tn_world_create(&def);
    lanes = tn_world_lanes(world);
    tn_world_destroy(world);
  }
  return lanes;
}

// The arguments as one text, or else the environment variable; null if out of memory.
static char *gather_picks(int argc, char **argv)
{
  char *environment = getenv("BENCH");
  char **words = argc > 1 ? argv + 1 : &environment;
  int count = argc > 1 ? argc - 1 : environment != NULL;
  size_t size = 1;
  for (int i = 0; i < count; ++i) {
    size += strlen(words[i]) + 1;
  }
  char *picks = calloc(size, 1);
  for (int i = 0, used = 0; picks && i < count; ++i) {
    used += snprintf(picks + used, size - (size_t)used, "%s ", words[i]);
  }
  return picks;
}

static void print_conditions(void)
{
  printf("%s\n", tn_config());
  for (int i = 0; i < peer_count(); ++i) {
    printf("%s\n", peer_describe(peer_name(i)));
  }
  printf("ms: per frame of 1/60 s; CPU time of the thread for one thread, wall time for two\n"
         "ns: per substep and contact point, joint, particle constraint or body\n");
}

static bool run_picked(bench *b)
{
  print_conditions();
  bool ok = run_groups(b);
  if (b->has_mismatch) {
    printf("MISMATCH\n");
  }
  return ok && !b->has_mismatch;
}

static bool open_json(bench *b, const char *path)
{
  if (path && path[0]) {
    b->json = fopen(path, "w");
    if (!b->json) {
      fprintf(stderr, "tenon_bench: cannot write %s\n", path);
      return false;
    }
  }
  return true;
}

int main(int argc, char **argv)
{
  char *picks = gather_picks(argc, argv);
  if (!picks) {
    return 1;
  }
  bench b = {.picks = picks};
  const char *path = getenv("BENCH_JSON");
  if (!take_setting(&b, picks) || !are_picks_known(&b) || !open_json(&b, path)) {
    free(picks);
    return 2;
  }
  bool ok = run_picked(&b);
  if (b.json && fclose(b.json) != 0) {
    fprintf(stderr, "tenon_bench: could not write %s\n", path);
    ok = false;
  }
  free(picks);
  return ok ? 0 : 1;
}
