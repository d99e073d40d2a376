// The tenon command.
#include "check.h"
#include "compare.h"
#include "listing.h"
#include "many.h"
#include "progress.h"
#include "replay.h"
#include "simulate.h"
#include "study.h"
#include "sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DONE = 0, FAILED = 1, NOT_UNDERSTOOD = 2, INTERRUPTED = 130 };

static int show_help(void)
{
  puts("tenon scenes [SCENE]          list all scenes, or the parameters of one\n"
       "  --names                     print only the names\n"
       "  --markdown                  print a Markdown table\n"
       "tenon run SCENE [OPTION]      simulate a built-in scene, a scene file or a robot\n"
       "  --set NAME=VALUE            set a parameter of the scene; may be repeated\n"
       "  --seconds S                 simulated time, in frames of 1/60 s\n"
       "  --substeps N                substeps per frame\n"
       "  --iterations N              passes over the constraints per substep (1)\n"
       "  --method NAME               tenon (the default), xpbd or jacobi\n"
       "  --threads N                 number of threads (1)\n"
       "  --lanes N                   SIMD width: 1, 4, 8 or 16; 0: the widest (0)\n"
       "  --json                      print one JSON object instead of text\n"
       "  --csv FILE                  write the metrics of every frame\n"
       "  --poses FILE                write the poses of bodies and particles in every frame\n"
       "  --glb FILE                  write the motion as animated glTF 2.0\n"
       "  --snapshot FILE             write the final state\n"
       "  --from FILE                 continue from a snapshot of the same scene\n"
       "  --keyframe NAME             start of a robot: a keyframe of its file\n"
       "  --base fixed|free           of a URDF file: how its root link stands\n"
       "  --hulls N                   convex parts of each mesh of a robot, 1 to 64 (1)\n"
       "  --path DIR                  look for meshes and packages there; may be repeated\n"
       "tenon compare SCENE [OPTION]  compare methods and numbers of substeps in a table\n"
       "  --methods NAME,...          tenon,xpbd,jacobi\n"
       "  --substeps N,...            1,5,20,40\n"
       "  --set, --seconds, --iterations, --threads, --lanes, --json as above");
  puts(
      "tenon batch SCENE [OPTION]    run a scene many times with drawn parameters\n"
      "  --worlds N                  number of runs (1024)\n"
      "  --vary NAME=LO..HI          parameter of the scene to draw; may be repeated\n"
      "  --seed N                    of what is drawn (0)\n"
      "  --threads N                 runs at the same time (1)\n"
      "  --device NAME               cpu, cuda, or cuda-or-cpu: the CPU goes on if the card fails "
      "(cpu)\n"
      "  --set, --seconds, --substeps, --iterations, --method, --lanes, --json as above\n"
      "tenon export SCENE [OPTION]   write a scene as a JSON file for 'tenon run FILE.json'\n"
      "  --set, --seconds, --substeps, --iterations, --method as above\n"
      "tenon check FILE [OPTION]     read a robot (MJCF, URDF) and report what of it is supported\n"
      "  --json                      print one JSON object instead of text\n"
      "  --path DIR                  look for meshes and packages there; may be repeated\n"
      "tenon schema                  print the JSON Schema of scene files\n"
      "  --markdown                  print Markdown tables\n"
      "tenon replay FILE [OPTION]    run a recording (tn_world_record_calls) again and compare "
      "every step\n"
      "  --lanes N, --threads N      as above; the hashes do not depend on them\n"
      "  --from N --to N --cut OUT   write the steps from N to N as a recording of their own\n"
      "  --json                      print one JSON object instead of text\n"
      "tenon study [OPTION]          run the published experiments and write a report\n"
      "  --out DIR                   output folder; completed parts are kept (study)\n"
      "  --quick                     shorter and smaller, under a minute\n"
      "  --shard I/N                 measure one of N parts, without a report\n"
      "  --slurm                     submit to a Slurm cluster; options as of sweep\n"
      "tenon sweep SPEC [OPTION]     run a scene with varied parameters and merge the results\n"
      "  --out DIR                   output folder; finished runs are kept (SPEC_sweep)\n"
      "  --threads N                 runs at the same time (all cores)\n"
      "  --plan                      print the number of runs, their cost and the job script\n"
      "  --shard I/N                 run one of N parts\n"
      "  --merge                     only merge the results\n"
      "  --status                    print how many runs are done\n"
      "  --slurm                     submit to a Slurm cluster\n"
      "  --nodes N, --cpus N         nodes to keep busy (1), CPUs per task (1)\n"
      "  --array-limit N             tasks that run at the same time\n"
      "  --time, --partition, --account   as sbatch takes them\n"
      "tenon version                 print the version and the build configuration\n"
      "tenon help                    print this text\n"
      "\n"
      "Ctrl-C ends a run early; the report and the files are still written.\n"
      "Exit status: 0 success, 1 failure, 2 invalid command line or scene file, 130 interrupted.");
  return DONE;
}

static int show_version(void)
{
  puts(tn_config());
  return DONE;
}

static int finish(bool ok)
{
  return interrupt_came() ? INTERRUPTED : ok ? DONE : FAILED;
}

static int run_scene(int count, char **words)
{
  run_options options;
  if (!options_parse(COMMAND_RUN, count, words, &options)) {
    options_free(&options);
    return NOT_UNDERSTOOD;
  }
  interrupt_catch();
  outcome out;
  bool ok = simulate(&options, &out);
  if (ok && options.json) {
    report_json(&options, &out);
  } else if (ok) {
    report_text(&options, &out);
  }
  options_free(&options);
  return finish(ok);
}

static int batch_scene(int count, char **words)
{
  many_options options;
  if (!many_parse(count, words, &options)) {
    options_free(&options.run);
    return NOT_UNDERSTOOD;
  }
  interrupt_catch();
  bool ok = many_run(&options);
  options_free(&options.run);
  return finish(ok);
}

static int compare_scene(int count, char **words)
{
  run_options options;
  if (!options_parse(COMMAND_COMPARE, count, words, &options)) {
    options_free(&options);
    return NOT_UNDERSTOOD;
  }
  interrupt_catch();
  bool ok = compare(&options);
  options_free(&options);
  return finish(ok);
}

static int export_scene(int count, char **words)
{
  run_options options;
  if (!options_parse(COMMAND_EXPORT, count, words, &options)) {
    options_free(&options);
    return NOT_UNDERSTOOD;
  }
  char error[SCENE_FILE_ERROR];
  bool ok = scene_file_write(options.scene, &options.settings, &options.world, options.seconds,
                             stdout, error);
  if (!ok) {
    complain("%s", error);
  }
  options_free(&options);
  return ok ? DONE : FAILED;
}

static int check_file(int count, char **words)
{
  check_options options;
  if (!check_parse(count, words, &options)) {
    return NOT_UNDERSTOOD;
  }
  return check_model(&options) ? DONE : NOT_UNDERSTOOD;
}

static int show_schema(int count, char **words)
{
  bool tables = count > 0 && strcmp(words[0], "--markdown") == 0;
  if (count > (int)tables) {
    complain("schema takes only --markdown; unexpected '%s'", words[tables]);
    return NOT_UNDERSTOOD;
  }
  if (tables) {
    scene_file_write_keys(stdout);
  } else {
    scene_file_write_schema(stdout);
  }
  return DONE;
}

typedef struct study_command {
  study_options study;
  sweep_shard shard;
  slurm_options slurm;
  bool submit;
} study_command;

// Reads the option at `at`; returns the number of words it takes, 0 if it is invalid.
static int parse_study_option(int count, char **words, int at, study_command *c)
{
  const char *word = words[at], *value = at + 1 < count ? words[at + 1] : "";
  bool taken = true, ok = value[0] != '\0';
  if (strcmp(word, "--quick") == 0) {
    c->study.quick = true;
    return 1;
  }
  if (strcmp(word, "--slurm") == 0) {
    c->submit = true;
    return 1;
  }
  if (strcmp(word, "--out") == 0) {
    c->study.out = value;
    if (!ok) {
      complain("--out needs the name of a folder");
    }
  } else if (strcmp(word, "--shard") == 0) {
    ok = parse_shard(value, &c->shard);
  } else if (strcmp(word, "--threads") != 0) { // of a job script; the study uses one
    ok = slurm_parse(word, value, &c->slurm, &taken);
  }
  if (!taken) {
    complain("study has no option '%s'; see 'tenon help'", word);
  }
  return taken && ok ? 2 : 0;
}

static bool submit_study(const study_command *c)
{
  text command = {0};
  char *folder = realpath(c->study.out, NULL);
  if (!folder) {
    complain("the folder '%s' does not exist; create it where all nodes see it", c->study.out);
    return false;
  }
  text_add_program(&command);
  text_add(&command, " study %s--out ", c->study.quick ? "--quick " : "");
  text_add_shell(&command, folder);
  text_add_bytes(&command, "", 1);
  slurm_work w = {"tenon-study", command.bytes, folder, study_duration(c->study.quick),
                  study_part_count()};
  bool ok = !command.failed && slurm_submit(&w, &c->slurm);
  text_free(&command);
  free(folder);
  return ok;
}

static int study_all(int count, char **words)
{
  study_command c = {.study = {.out = "study"}, .shard = {1, 1}, .slurm = {.nodes = 1, .cpus = 1}};
  for (int i = 0, used; i < count; i += used) {
    used = parse_study_option(count, words, i, &c);
    if (used == 0) {
      return NOT_UNDERSTOOD;
    }
  }
  interrupt_catch();
  c.study.shard = c.shard.index;
  c.study.shards = c.shard.count;
  return finish(c.submit ? submit_study(&c) : study_run(&c.study));
}

static int sweep_scene(int count, char **words)
{
  sweep_options options;
  if (!sweep_parse(count, words, &options)) {
    return NOT_UNDERSTOOD;
  }
  bool bad_spec;
  interrupt_catch();
  bool ok = sweep(&options, &bad_spec);
  return bad_spec ? NOT_UNDERSTOOD : finish(ok);
}

static int obey(int count, char **words)
{
  if (count < 1) {
    complain("missing command; see 'tenon help'");
    return NOT_UNDERSTOOD;
  }
  const char *command = words[0];
  if (count > 1 && strcmp(words[count - 1], "--help") == 0) {
    return show_help();
  }
  if (strcmp(command, "run") == 0) {
    return run_scene(count - 1, words + 1);
  }
  if (strcmp(command, "batch") == 0) {
    return batch_scene(count - 1, words + 1);
  }
  if (strcmp(command, "compare") == 0) {
    return compare_scene(count - 1, words + 1);
  }
  if (strcmp(command, "study") == 0) {
    return study_all(count - 1, words + 1);
  }
  if (strcmp(command, "sweep") == 0) {
    return sweep_scene(count - 1, words + 1);
  }
  if (strcmp(command, "scenes") == 0) {
    return show_scenes(count - 1, words + 1) ? DONE : NOT_UNDERSTOOD;
  }
  if (strcmp(command, "replay") == 0) {
    return replay_recording(count - 1, words + 1);
  }
  if (strcmp(command, "export") == 0) {
    return export_scene(count - 1, words + 1);
  }
  if (strcmp(command, "check") == 0) {
    return check_file(count - 1, words + 1);
  }
  if (strcmp(command, "schema") == 0) {
    return show_schema(count - 1, words + 1);
  }
  bool helps = strcmp(command, "help") == 0 || strcmp(command, "--help") == 0;
  bool versions = strcmp(command, "version") == 0 || strcmp(command, "--version") == 0;
  if (!helps && !versions) {
    complain("unknown command '%s'; see 'tenon help'", command);
    return NOT_UNDERSTOOD;
  }
  if (count > 1) {
    complain("%s takes no arguments; unexpected '%s'", command, words[1]);
    return NOT_UNDERSTOOD;
  }
  return helps ? show_help() : show_version();
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
