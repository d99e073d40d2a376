// tenon replay: runs a recording again and compares every step.
#include "replay.h"

#include "options.h"

#include <tenon/recorder.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RECORDING = 1 << 30 };

typedef struct options {
  const char *path, *cut;
  int from, to, lanes, threads;
  bool json;
} options;

static bool parse_whole(const char *name, const char *word, int least, int *value)
{
  char *end;
  long number = strtol(word, &end, 10);
  if (end == word || *end || number < least || number > 1000000000) {
    complain("%s takes a whole number from %d, not '%s'", name, least, word);
    return false;
  }
  *value = (int)number;
  return true;
}

static bool parse(int count, char **words, options *o)
{
  *o = (options){.to = 0, .lanes = 0, .threads = 1};
  for (int i = 0; i < count; ++i) {
    const char *value = i + 1 < count ? words[i + 1] : "";
    if (words[i][0] != '-' && !o->path) {
      o->path = words[i];
    } else if (strcmp(words[i], "--json") == 0) {
      o->json = true;
    } else if (strcmp(words[i], "--cut") == 0 && value[0]) {
      o->cut = words[++i];
    } else if (strcmp(words[i], "--from") == 0 || strcmp(words[i], "--to") == 0 ||
               strcmp(words[i], "--lanes") == 0 || strcmp(words[i], "--threads") == 0) {
      int *to = words[i][2] == 'f'   ? &o->from
                : words[i][2] == 'l' ? &o->lanes
                : words[i][3] == 'o' ? &o->to
                                     : &o->threads;
      if (!parse_whole(words[i], value, 0, to)) {
        return false;
      }
      ++i;
    } else {
      complain("replay has no option '%s', or it needs a value; see 'tenon help'", words[i]);
      return false;
    }
  }
  if (!o->path) {
    complain("replay needs a recording");
  }
  return o->path != NULL;
}

static void *read_file(const char *path, size_t *size)
{
  FILE *in = fopen(path, "rb");
  long length = in && fseek(in, 0, SEEK_END) == 0 ? ftell(in) : -1;
  void *bytes = length > 0 && length < MAX_RECORDING ? malloc((size_t)length) : NULL;
  bool ok =
      bytes && fseek(in, 0, SEEK_SET) == 0 && fread(bytes, 1, (size_t)length, in) == (size_t)length;
  if (in) {
    fclose(in);
  }
  if (!ok) {
    complain("%s cannot be read", path);
    free(bytes);
    return NULL;
  }
  *size = (size_t)length;
  return bytes;
}

// What a replay has found.
typedef struct findings {
  int steps, calls, unclean;
  int differs; // first step with another hash or status, or -1
  tn_replay_frame first;
} findings;

static findings run(tn_replay *replay)
{
  findings f = {.differs = -1};
  tn_replay_frame frame;
  while (tn_replay_step(replay, &frame)) {
    bool known = frame.recorded_hash != 0;
    if (known && f.differs < 0 &&
        (frame.hash != frame.recorded_hash || frame.status != frame.recorded_status)) {
      f.differs = frame.index;
      f.first = frame;
    }
    f.steps += 1;
    f.calls += frame.calls;
    f.unclean += frame.status != TN_STEP_OK;
  }
  return f;
}

static void print_text(const findings *f)
{
  printf("%d steps, %d calls, %d steps not clean\n", f->steps, f->calls, f->unclean);
  if (f->differs < 0) {
    puts("every step has the recorded hash");
    return;
  }
  printf("step %d differs first: hash %016" PRIx64 ", recorded %016" PRIx64
         "; status %u, recorded %u\n",
         f->differs, f->first.hash, f->first.recorded_hash, (unsigned)f->first.status,
         (unsigned)f->first.recorded_status);
}

static void print_json(const findings *f)
{
  printf("{\"steps\": %d, \"calls\": %d, \"unclean\": %d, \"differs\": ", f->steps, f->calls,
         f->unclean);
  if (f->differs < 0) {
    puts("null}");
  } else {
    printf("%d}\n", f->differs);
  }
}

int replay_recording(int count, char **words)
{
  options o;
  size_t size = 0;
  if (!parse(count, words, &o)) {
    return 2;
  }
  void *bytes = read_file(o.path, &size);
  if (!bytes) {
    return 2;
  }
  tn_world_def def = tn_default_world_def();
  def.lanes = o.lanes;
  def.threads = o.threads;
  tn_replay *replay = tn_replay_create(bytes, size, &def);
  bool ok = replay != NULL;
  if (ok && o.cut) {
    ok = tn_replay_cut(bytes, size, o.from, o.to, o.cut);
    if (!ok) {
      complain("steps %d to %d cannot be written to %s", o.from, o.to, o.cut);
    }
  } else if (ok) {
    findings f = run(replay);
    (o.json ? print_json : print_text)(&f);
    if (tn_replay_problem(replay)) {
      complain("%s: %s", o.path, tn_replay_problem(replay));
    }
    ok = f.differs < 0 && !tn_replay_problem(replay);
  }
  tn_replay_destroy(replay);
  free(bytes);
  return ok ? 0 : 1;
}
