// Soft bodies and attachments.
#include "loader.h"

#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Meshes

static double vertices_of(const file_mesh *m)
{
  const double x = m->cells[0], y = m->cells[1], z = m->cells[2];
  switch (m->kind) {
  case MESH_CLOTH:
    return (double)m->columns * (double)m->rows;
  case MESH_ROPE:
    return (double)m->segments + 1.0;
  case MESH_BOX:
  case MESH_BALL:
    return (x + 1.0) * (y + 1.0) * (z + 1.0);
  case MESH_TUBE:
    return x * (y + 1.0) * (z + 1.0);
  default:
    return 10.0 * (double)(1 << (2 * m->level)) + 2.0;
  }
}

static bool make_mesh(loader *l, const file_mesh *m, tn_soft_def *def)
{
  bool ok = false;
  switch (m->kind) {
  case MESH_CLOTH:
    ok = tn_soft_mesh_cloth(def, m->columns, m->rows, m->size_x, m->size_z);
    break;
  case MESH_ROPE:
    ok = tn_soft_mesh_rope(def, m->segments, m->length);
    break;
  case MESH_BOX:
    ok = tn_soft_mesh_box(def, m->cells, m->half_extents, m->tetrahedra);
    break;
  case MESH_BALL:
    ok = tn_soft_mesh_ball(def, m->cells[0], m->radius, m->tetrahedra);
    break;
  case MESH_TUBE:
    ok = tn_soft_mesh_tube(def, m->cells, m->inner_radius, m->outer_radius, m->half_length);
    break;
  default:
    ok = tn_soft_mesh_sphere(def, m->level, m->radius);
    break;
  }
  reader_enter(&l->r, "mesh");
  if (!ok) {
    return reader_fail(&l->r, "invalid mesh sizes");
  }
  reader_leave(&l->r);
  return true;
}

// Moves the list to the definition, which owns it from here.
static void *hand_over(number_list *list, int *count)
{
  void *items = list->items;
  *count = list->count;
  list->items = NULL;
  return items;
}

static void take_lists(file_soft *s)
{
  tn_soft_def *d = &s->def;
  d->vertices = hand_over(&s->vertices, &d->vertex_count);
  d->edges = hand_over(&s->edges, &d->edge_count);
  d->triangles = hand_over(&s->triangles, &d->triangle_count);
  d->tetrahedra = hand_over(&s->tetrahedra, &d->tetrahedron_count);
  d->hexahedra = hand_over(&s->hexahedra, &d->hexahedron_count);
}

// These can be combined with a mesh.
static bool take_tethers(loader *l, file_soft *s)
{
  int lengths = s->tethers.count;
  if (s->tether_lengths.items && s->tether_lengths.count != s->tethers.count) {
    reader_enter(&l->r, "tether_lengths");
    return reader_fail(&l->r, "must have %d items, one per tether, but has %d", s->tethers.count,
                       s->tether_lengths.count);
  }
  s->def.tethers = hand_over(&s->tethers, &s->def.tether_count);
  s->def.tether_lengths = hand_over(&s->tether_lengths, &lengths);
  return true;
}

static bool count_particles(loader *l, double count)
{
  l->particles += count;
  return l->particles <= MAX_PARTICLES ||
         reader_fail(&l->r, "more than %d particles in total", MAX_PARTICLES);
}

// Vertices and elements, from a mesh or from lists.
static bool take_elements(loader *l, file_soft *s, uint64_t seen)
{
  static const char *const lists[] = {"vertices", "edges", "triangles", "tetrahedra", "hexahedra"};
  bool mesh = was_seen(&type_soft, seen, "mesh");
  for (int i = 0; mesh && i < 5; ++i) {
    if (was_seen(&type_soft, seen, lists[i])) {
      return reader_fail(&l->r, "mesh and %s cannot be combined", lists[i]);
    }
  }
  if (!count_particles(l, mesh ? vertices_of(&s->mesh) : (double)s->vertices.count)) {
    return false;
  }
  if (mesh) {
    return make_mesh(l, &s->mesh, &s->def);
  }
  take_lists(s);
  return true;
}

// ---------------------------------------------------------------------------------------------
// Soft bodies

static bool is_for_all(loader *l, const number_list *list, int vertices, const char *key)
{
  if (list->items && list->count != vertices) {
    reader_enter(&l->r, key);
    return reader_fail(&l->r, "must have %d items, one per vertex, but has %d", vertices,
                       list->count);
  }
  return true;
}

// The library reports an element by kind and number: enter its path, unless it is from a mesh.
static void enter_element(loader *l, const cJSON *json)
{
  static const char *const kinds[][2] = {{"vertex", "vertices"},      {"edge", "edges"},
                                         {"triangle", "triangles"},   {"tetrahedron", "tetrahedra"},
                                         {"hexahedron", "hexahedra"}, {"tether", "tethers"}};
  const char *said = strstr(l->file->message, ": ");
  for (int i = 0; said && i < 6; ++i) {
    size_t length = strlen(kinds[i][0]);
    if (strncmp(said + 2, kinds[i][0], length) == 0 && said[2 + length] == ' ' &&
        cJSON_GetObjectItemCaseSensitive(json, kinds[i][1])) {
      reader_enter(&l->r, kinds[i][1]);
      reader_enter_item(&l->r, (int)strtol(said + 3 + length, NULL, 10));
      return;
    }
  }
}

static bool make_soft(loader *l, const cJSON *json, file_soft *s)
{
  int vertices = s->def.vertex_count;
  tn_soft_id id = scene_add_soft(l->run, &s->def); // frees the arrays
  if (l->run->failed) {
    enter_element(l, json);
    return loader_fail(l);
  }
  l->softs[l->soft_count++] = id;
  for (int i = 0; i < s->pinned.count; ++i) {
    int particle = ((const int *)s->pinned.items)[i];
    if (particle >= vertices) {
      reader_enter(&l->r, "pinned");
      reader_enter_item(&l->r, i);
      return reader_fail(&l->r, "no vertex with index %d; there are %d", particle, vertices);
    }
    scene_pin(l->run, id, particle);
  }
  if (s->velocities.items &&
      !tn_soft_set_velocities(l->run->world, id, s->velocities.items, vertices)) {
    return loader_fail(l);
  }
  return !l->run->failed || loader_fail(l);
}

static bool read_soft(loader *l, const cJSON *json, file_soft *s)
{
  uint64_t seen;
  if (!read_object(&l->r, json, &type_soft, s, &seen) ||
      !load_material(l, s->material, &s->def.material) || !take_elements(l, s, seen) ||
      !take_tethers(l, s) || !is_for_all(l, &s->masses, s->def.vertex_count, "masses") ||
      !is_for_all(l, &s->velocities, s->def.vertex_count, "velocities")) {
    return false;
  }
  s->def.masses = s->masses.items;
  return true;
}

static bool load_soft(loader *l, const cJSON *json)
{
  file_soft s;
  type_soft.usual(&s);
  bool ok = read_soft(l, json, &s);
  if (ok && s.name && !names_add(&l->soft_names, s.name, l->soft_count)) {
    ok = reader_fail(&l->r, "not enough memory for its name");
  }
  ok = ok && make_soft(l, json, &s);
  tn_soft_mesh_free(&s.def);
  free_lists(&type_soft, &s);
  return ok;
}

static bool check_soft_names(loader *l)
{
  int first, again = names_sort(&l->soft_names, &first);
  if (again >= 0) {
    reader_enter(&l->r, "soft_bodies");
    reader_enter_item(&l->r, again);
    reader_enter(&l->r, "name");
    return reader_fail(&l->r, "soft_bodies[%d] already has this name", first);
  }
  return true;
}

bool load_softs(loader *l)
{
  const cJSON *all = l->file->content.softs, *item;
  if (!is_list(l, all, "soft_bodies", MAX_THINGS)) {
    return false;
  }
  l->softs = calloc((size_t)cJSON_GetArraySize(all) + 1, sizeof *l->softs);
  if (!l->softs) {
    return reader_fail(&l->r, "not enough memory for the soft bodies");
  }
  reader_enter(&l->r, "soft_bodies");
  cJSON_ArrayForEach(item, all)
  {
    reader_enter_item(&l->r, l->soft_count);
    if (!load_soft(l, item)) {
      return false;
    }
    reader_leave(&l->r);
  }
  reader_leave(&l->r);
  return check_soft_names(l);
}

bool find_soft(loader *l, const cJSON *json, tn_soft_id *id)
{
  double number = cJSON_IsNumber(json) ? json->valuedouble : -1.0;
  if (cJSON_IsString(json)) {
    number = names_find(&l->soft_names, json->valuestring);
    if (number < 0.0) {
      return reader_fail(&l->r, "no soft body named '%.60s'", json->valuestring);
    }
  } else if (!cJSON_IsNumber(json)) {
    return reader_fail(&l->r, "must be the name or index of a soft body");
  } else if (!(number >= 0.0 && number < l->soft_count) || number != (double)(int)number) {
    return reader_fail(&l->r, "no soft body with index %g; there are %d, counted from 0", number,
                       l->soft_count);
  }
  *id = l->softs[(int)number];
  return true;
}

// ---------------------------------------------------------------------------------------------
// Attachments

static bool load_attachment(loader *l, const cJSON *json)
{
  file_attachment a;
  type_attachment.usual(&a);
  if (!read_object(&l->r, json, &type_attachment, &a, NULL)) {
    return false;
  }
  reader_enter(&l->r, "soft_body");
  if (!find_soft(l, a.soft, &a.def.soft)) {
    return false;
  }
  reader_leave(&l->r);
  reader_enter(&l->r, "body");
  if (!find_body(l, a.body, &a.def.body)) {
    return false;
  }
  reader_leave(&l->r);
  return !TN_IS_NULL(tn_attachment_create(l->run->world, &a.def)) || loader_fail(l);
}

bool load_attachments(loader *l)
{
  const cJSON *all = l->file->content.attachments, *item;
  if (!is_list(l, all, "attachments", MAX_THINGS)) {
    return false;
  }
  int i = 0;
  reader_enter(&l->r, "attachments");
  cJSON_ArrayForEach(item, all)
  {
    reader_enter_item(&l->r, i++);
    if (!load_attachment(l, item)) {
      return false;
    }
    reader_leave(&l->r);
  }
  reader_leave(&l->r);
  return true;
}
