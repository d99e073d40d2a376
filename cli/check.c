#include "check.h"

#include "options.h"

#include <tenon/import.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_option(int count, char **words, int *i, check_options *options)
{
  if (strcmp(words[*i], "--json") == 0) {
    options->json = true;
    return true;
  }
  if (strcmp(words[*i], "--path") != 0) {
    complain("check has no option '%s'; see 'tenon help'", words[*i]);
    return false;
  }
  if (*i + 1 == count || options->path_count == CHECK_MAX_PATHS) {
    complain("--path needs the name of a folder, at most %d times", CHECK_MAX_PATHS);
    return false;
  }
  options->paths[options->path_count++] = words[++*i];
  return true;
}

bool check_parse(int count, char **words, check_options *options)
{
  memset(options, 0, sizeof *options);
  if (count < 1) {
    complain("check needs a file");
    return false;
  }
  options->file = words[0];
  for (int i = 1; i < count; ++i) {
    if (!parse_option(count, words, &i, options)) {
      return false;
    }
  }
  return true;
}

// Builds the model once, so that the report has what a world cannot do of it.
static bool try_model(tn_model *model)
{
  tn_world_def def = tn_default_world_def();
  tn_world *world = tn_world_create(&def);
  tn_instance *instance = tn_instance_create(world, model, NULL);
  bool ok = instance;
  tn_instance_destroy(instance);
  tn_world_destroy(world);
  return ok;
}

bool check_model(const check_options *options)
{
  tn_import_def def = tn_default_import_def();
  def.search_paths = options->paths;
  def.search_path_count = options->path_count;
  tn_model *model = tn_model_load(options->file, &def);
  if (model && !try_model(model)) {
    complain("%s cannot be built in a world", options->file);
    tn_model_destroy(model);
    return false;
  }
  size_t size = model ? tn_model_write_report(model, options->json, NULL, 0) : 0;
  char *text = size ? malloc(size) : NULL;
  if (text) {
    tn_model_write_report(model, options->json, text, size);
    fputs(text, stdout);
  } else if (model) {
    complain("not enough memory for the report");
  }
  free(text);
  tn_model_destroy(model);
  return text;
}
