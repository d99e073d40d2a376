#include "record.h"

#include "build.h"

#include <stdlib.h>
#include <string.h>

bool record_body(scene_record *record, const tn_body_def *def, bool scenery)
{
  if (!record) {
    return true;
  }
  void *bodies = record->bodies;
  if (!scene_grow(&bodies, record->body_count, &record->body_capacity, sizeof *record->bodies)) {
    return false;
  }
  record->bodies = bodies;
  recorded_body *b = &record->bodies[record->body_count++];
  memset(b, 0, sizeof *b);
  b->def = *def;
  if (def->name) {
    strncpy(b->name, def->name, sizeof b->name - 1);
  }
  b->def.name = NULL;
  b->scenery = scenery;
  return true;
}

void record_spread(scene_record *record, float mass)
{
  if (record) {
    recorded_body *b = &record->bodies[record->body_count - 1];
    b->spread = true;
    b->mass = mass;
  }
}

// ---------------------------------------------------------------------------------------------
// Soft bodies

// Returns null if there is nothing to copy; sets a flag if a copy failed.
static const void *copy(const void *items, int count, size_t size, bool *ok)
{
  if (!items || count <= 0) {
    return NULL;
  }
  void *bytes = malloc((size_t)count * size);
  if (bytes) {
    memcpy(bytes, items, (size_t)count * size);
  }
  *ok = *ok && bytes;
  return bytes;
}

static void free_arrays(const tn_soft_def *def)
{
  const void *arrays[8] = {def->vertices,  def->edges,   def->triangles,      def->tetrahedra,
                           def->hexahedra, def->tethers, def->tether_lengths, def->masses};
  for (int i = 0; i < 8; ++i) {
    free((void *)arrays[i]);
  }
}

bool record_soft(scene_record *record, const tn_soft_def *def)
{
  if (!record) {
    return true;
  }
  void *softs = record->softs;
  if (!scene_grow(&softs, record->soft_count, &record->soft_capacity, sizeof *record->softs)) {
    return false;
  }
  record->softs = softs;
  tn_soft_def *s = &record->softs[record->soft_count++];
  bool ok = true;
  *s = *def;
  s->vertices = copy(def->vertices, def->vertex_count, sizeof *def->vertices, &ok);
  s->masses = copy(def->masses, def->vertex_count, sizeof *def->masses, &ok);
  s->edges = copy(def->edges, def->edge_count, 2 * sizeof(int), &ok);
  s->triangles = copy(def->triangles, def->triangle_count, 3 * sizeof(int), &ok);
  s->tetrahedra = copy(def->tetrahedra, def->tetrahedron_count, 4 * sizeof(int), &ok);
  s->hexahedra = copy(def->hexahedra, def->hexahedron_count, 8 * sizeof(int), &ok);
  s->tethers = copy(def->tethers, def->tether_count, 2 * sizeof(int), &ok);
  s->tether_lengths =
      copy(def->tether_lengths, def->tether_count, sizeof *def->tether_lengths, &ok);
  return ok;
}

void record_free(scene_record *record)
{
  for (int i = 0; i < record->soft_count; ++i) {
    free_arrays(&record->softs[i]);
  }
  free(record->softs);
  free(record->bodies);
  memset(record, 0, sizeof *record);
}
