// The tenon command. Exit codes: 0 done, 1 failed, 2 not understood.
#include "options.h"
#include "simulate.h"

#include <stdio.h>
#include <string.h>

enum { DONE = 0, FAILED = 1, NOT_UNDERSTOOD = 2 };

static int show_help(void)
{
  puts("tenon scenes               list the scenes and their parameters\n"
       "tenon run SCENE [OPTION]   simulate a scene and report what happened\n"
       "  --set NAME=VALUE         set a parameter of the scene; may be repeated\n"
       "  --seconds S              simulated time, in frames of 1/60 s\n"
       "  --substeps N             substeps in a frame\n"
       "  --iterations N           passes over the constraints in a substep (1)\n"
       "  --method NAME            tenon (the default), xpbd or jacobi\n"
       "  --threads N              threads to solve with (1)\n"
       "  --lanes N                1, 4 or 8 constraints at a time; 0 is the widest there is (0)\n"
       "  --json                   print one JSON object instead\n"
       "tenon version              print the version and how it was built\n"
       "tenon help                 print this");
  return DONE;
}

static int show_version(void)
{
  puts(tn_config());
  return DONE;
}

static int show_scenes(void)
{
  int count;
  const scene *const *all = scene_list(&count);
  for (int i = 0; i < count; ++i) {
    const scene *s = all[i];
    printf("%-16s %s\n%-16s %s; %g s, %d substeps\n", s->name, s->title, "", s->source, s->seconds,
           s->substeps);
    for (int k = 0; k < SCENE_MAX_PARAMETERS && s->parameters[k].name; ++k) {
      const scene_parameter *p = &s->parameters[k];
      printf("%-18s %s=%g [%g, %g]: %s\n", "", p->name, p->value, p->lo, p->hi, p->meaning);
    }
  }
  return DONE;
}

static int run_scene(int count, char **words)
{
  run_options options;
  if (!options_parse(count, words, &options)) {
    return NOT_UNDERSTOOD;
  }
  return simulate(&options) ? DONE : FAILED;
}

static int obey(int count, char **words)
{
  if (count < 1) {
    complain("no command; 'tenon help' lists them");
    return NOT_UNDERSTOOD;
  }
  const char *command = words[0];
  if (strcmp(command, "run") == 0) {
    return run_scene(count - 1, words + 1);
  }
  bool helps = strcmp(command, "help") == 0 || strcmp(command, "--help") == 0;
  bool lists = strcmp(command, "scenes") == 0;
  bool versions = strcmp(command, "version") == 0 || strcmp(command, "--version") == 0;
  if (!helps && !lists && !versions) {
    complain("there is no command '%s'; 'tenon help' lists them", command);
    return NOT_UNDERSTOOD;
  }
  if (count > 1) {
    complain("%s takes nothing more, but was given '%s'", command, words[1]);
    return NOT_UNDERSTOOD;
  }
  return helps ? show_help() : lists ? show_scenes() : show_version();
}

int main(int argc, char **argv)
{
  int code = obey(argc - 1, argv + 1);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    complain("could not write the output");
    return FAILED;
  }
  return code;
}
