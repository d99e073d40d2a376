// Command line of `tenon sweep`.
#include "options.h"
#include "sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool parse_count(const char *option, const char *word, int *value)
{
  char *end;
  errno = 0;
  long number = strtol(word, &end, 10);
  if (end == word || *end || errno || number < 1 || number > 100000) {
    complain("%s takes a whole number from 1 to 100000, not '%s'", option, word);
    return false;
  }
  *value = (int)number;
  return true;
}

bool parse_shard(const char *word, sweep_shard *shard)
{
  int used = 0;
  bool ok = sscanf(word, "%9d/%9d%n", &shard->index, &shard->count, &used) == 2 && !word[used] &&
            shard->index >= 1 && shard->index <= shard->count && shard->count <= 100000;
  if (!ok) {
    complain("--shard takes I/N with I from 1 to N, not '%s'", word);
  }
  return ok;
}

// A word that goes into a job script.
static bool parse_word(const char *option, const char *word, const char **value)
{
  bool plain = word[0] && strlen(word) < 100;
  for (const char *c = word; *c; ++c) {
    plain = plain && (unsigned char)*c > 0x20 && !strchr("\"'`$\\#;&|<>", *c);
  }
  if (!plain) {
    complain("%s cannot be '%s'", option, word);
    return false;
  }
  *value = word;
  return true;
}

bool slurm_parse(const char *option, const char *value, slurm_options *o, bool *taken)
{
  const struct {
    const char *name;
    int *number;
    const char **word;
  } known[] = {
      {"--nodes", &o->nodes, NULL},
      {"--cpus", &o->cpus, NULL},
      {"--array-limit", &o->array_limit, NULL},
      {"--time", NULL, &o->time},
      {"--partition", NULL, &o->partition},
      {"--account", NULL, &o->account},
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
    if (strcmp(option, known[i].name) == 0) {
      *taken = true;
      return known[i].number ? parse_count(option, value, known[i].number)
                             : parse_word(option, value, known[i].word);
    }
  }
  *taken = false;
  return true;
}

// Processes started by mpirun or srun share a sweep: their rank is in the environment.
static void take_rank(sweep_options *options)
{
  static const char *const names[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                         {"PMI_RANK", "PMI_SIZE"},
                                         {"PMIX_RANK", "PMIX_SIZE"}};
  for (int i = 0; i < 3; ++i) {
    const char *rank = getenv(names[i][0]), *size = getenv(names[i][1]);
    int count = size ? atoi(size) : 0, index = rank ? atoi(rank) : -1;
    if (count > 1 && index >= 0 && index < count) {
      options->shard = (sweep_shard){index + 1, count};
      options->threads = 1; // mpirun starts a process for each core
      return;
    }
  }
}

static const struct {
  const char *name;
  sweep_action action;
} actions[] = {{"--merge", SWEEP_MERGE},
               {"--plan", SWEEP_PLAN},
               {"--status", SWEEP_STATUS},
               {"--slurm", SWEEP_SLURM}};

static bool find_action(const char *word, sweep_options *options)
{
  for (size_t i = 0; i < sizeof actions / sizeof actions[0]; ++i) {
    if (strcmp(word, actions[i].name) == 0) {
      options->action = actions[i].action;
      return true;
    }
  }
  return false;
}

static bool parse_option(const char *word, const char *value, sweep_options *options)
{
  bool taken;
  if (strcmp(word, "--out") == 0) {
    options->out = value;
    return value[0] || (complain("--out needs the name of a folder"), false);
  }
  if (strcmp(word, "--threads") == 0) {
    return parse_count(word, value, &options->threads);
  }
  if (strcmp(word, "--shard") == 0) {
    return parse_shard(value, &options->shard);
  }
  bool ok = slurm_parse(word, value, &options->slurm, &taken);
  if (!taken) {
    complain("sweep has no option '%s'; see 'tenon help'", word);
  }
  return taken && ok;
}

bool sweep_parse(int count, char **words, sweep_options *options)
{
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  memset(options, 0, sizeof *options);
  options->shard = (sweep_shard){1, 1};
  options->threads = cores > 0 ? (int)cores : 1;
  options->slurm = (slurm_options){.nodes = 1, .cpus = 1};
  if (count < 1 || words[0][0] == '-') {
    complain("sweep needs a file that says what to run; see docs/sweep.md");
    return false;
  }
  options->spec = words[0];
  take_rank(options);
  for (int i = 1; i < count; ++i) {
    if (find_action(words[i], options)) {
      continue;
    }
    if (i + 1 == count) {
      complain("sweep has no option '%s', or it needs a value; see 'tenon help'", words[i]);
      return false;
    }
    if (!parse_option(words[i], words[i + 1], options)) {
      return false;
    }
    i += 1;
  }
  return true;
}
