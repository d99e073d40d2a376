// Scene files: refused with a place and a reason, or a scene that runs and can be written.
#include "fuzz.h"
#include "scene_file.h"

#include <string.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed)
{
  return fuzz_mutate_text(data, size, capacity, seed);
}

static void run(const scene_file *file)
{
  tn_world_def def = fuzz_world_def();
  scene_file_world(file, &def);
  def.log = fuzz_log;
  def.threads = 1;
  def.substeps = def.substeps > 4 ? 4 : def.substeps;
  def.iterations = 1;
  scene_run *run = scene_create(scene_file_scene(file), NULL, &def);
  if (run) {
    fuzz_run_world(run->world, 2);
    scene_destroy(run);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char error[SCENE_FILE_ERROR] = "";
  scene_file *file = scene_file_parse("fuzz.json", (const char *)data, size, error);
  if (!file) {
    if (strncmp(error, "fuzz.json:", 10) != 0) {
      fuzz_fail("a scene file is refused without its place");
    }
    return 0;
  }
  run(file);
  scene_file_free(file);
  return 0;
}
