// Models of robots (MJCF, URDF, scenes of the tutorial): refused with a line and a reason, or a
// model with a report, whose instance runs.
#include "fuzz.h"

#include <tenon/import.h>

#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed)
{
  return fuzz_mutate_text(data, size, capacity, seed);
}

typedef struct refusal {
  char text[64];
} refusal;

static void keep_message(tn_log_level level, const char *message, void *context)
{
  refusal *r = context;
  (void)level;
  strncpy(r->text, message, sizeof r->text - 1);
}

static void read_out(tn_model *model)
{
  char text[256];
  tn_model_write_report(model, true, text, sizeof text);
  int count;
  tn_model_report(model, &count);
  tn_model_body bodies[4];
  tn_model_counts has = tn_model_get_counts(model);
  for (int k = -1; k < has.keyframes && k < 4; ++k) {
    tn_model_bodies(model, k, bodies, 4);
  }
}

static void run(tn_model *model)
{
  tn_world_def def = fuzz_world_def();
  tn_world *world = tn_world_create(&def);
  tn_instance *instance = tn_instance_create(world, model, NULL);
  tn_model_counts has = tn_model_get_counts(model);
  if (instance && has.bodies < 200) {
    double *q = calloc((size_t)has.positions + 1, sizeof *q);
    if (q && tn_instance_positions(instance, q)) {
      tn_instance_set_positions(instance, q);
    }
    free(q);
    for (int i = 0; i < has.actuators && i < 8; ++i) {
      tn_instance_set_control(instance, i, 1.0);
    }
    tn_instance_advance(instance, 1.0f / 60.0f);
    fuzz_run_world(world, 2);
    for (int i = 0; i < has.sensors && i < 8; ++i) {
      double values[8];
      tn_instance_sensor(instance, i, values, 8);
    }
    tn_instance_apply_keyframe(instance, has.keyframes - 1);
  }
  tn_instance_destroy(instance);
  tn_world_destroy(world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  refusal why = {""};
  tn_import_def def = tn_default_import_def();
  def.log = keep_message;
  def.log_context = &why;
  def.meshes = false; // fuzz_mesh reads these
  tn_model *model = tn_model_parse("fuzz/model.xml", (const char *)data, size, &def);
  if (!model) {
    if (strncmp(why.text, "fuzz/model.xml", 14) != 0) {
      fuzz_fail("a model is refused without its place");
    }
    return 0;
  }
  read_out(model);
  run(model);
  tn_model_destroy(model);
  return 0;
}
