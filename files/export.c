// Writes a scene as a file. Bodies and soft bodies are written from their definitions, all else
// from the state of the world.
#include "loader.h"
#include "record.h"
#include "write.h"

#include <stdlib.h>
#include <string.h>

typedef struct exporter {
  writer w;
  const scene *scene;
  const scene_run *run;
  const scene_record *record;
  tn_body_id *bodies; // of the world
  tn_geometry_id *geometries;
  int body_count, geometry_count, geometry_capacity;
  bool failed; // out of memory
} exporter;

// ---------------------------------------------------------------------------------------------
// Shapes and geometries

static int geometry_number(exporter *e, tn_geometry_id id)
{
  for (int i = e->geometry_count - 1; i >= 0; --i) {
    if (TN_SAME_ID(e->geometries[i], id)) {
      return i;
    }
  }
  if (e->geometry_count == e->geometry_capacity) {
    int wanted = 2 * e->geometry_capacity + 16;
    tn_geometry_id *grown = realloc(e->geometries, (size_t)wanted * sizeof *grown);
    if (!grown) {
      e->failed = true;
      return 0;
    }
    e->geometries = grown;
    e->geometry_capacity = wanted;
  }
  e->geometries[e->geometry_count] = id;
  return e->geometry_count++;
}

static void name_geometry(const exporter *e, int number, char *name, size_t size)
{
  tn_geometry_source source = tn_geometry_get_source(e->run->world, e->geometries[number]);
  snprintf(name, size, "%s_%d", field_word(&type_shape, "kind", (int)source.kind), number);
}

static void write_material(exporter *e, const tn_material *material)
{
  file_material m, usual;
  type_material.usual(&usual);
  m = usual;
  m.material = *material;
  if (fields_differ(&type_material, &m, &usual)) {
    write_key(&e->w, "material");
    write_flat(&e->w, &type_material, &m, &usual);
  }
}

static void write_shape(exporter *e, tn_shape_id id)
{
  char name[40];
  file_shape s, usual;
  type_shape.usual(&usual);
  s = usual;
  s.def = tn_shape_get_def(e->run->world, id);
  if (!TN_IS_NULL(s.def.geometry)) {
    name_geometry(e, geometry_number(e, s.def.geometry), name, sizeof name);
    s.geometry = name;
  }
  bool was_flat = e->w.flat;
  write_item(&e->w);
  write_open(&e->w, '{');
  e->w.flat = true;
  write_fields(&e->w, &type_shape, &s, &usual);
  write_material(e, &s.def.material);
  write_close(&e->w, '}', was_flat);
}

// Shapes of a body, or of the world for a null id. Without a writer it only numbers geometries.
static void write_shapes(exporter *e, tn_body_id body, bool write)
{
  int count = tn_body_shapes(e->run->world, body, NULL, 0);
  tn_shape_id *ids = calloc((size_t)count + 1, sizeof *ids);
  e->failed = e->failed || !ids;
  if (!ids || count == 0) {
    free(ids);
    return;
  }
  tn_body_shapes(e->run->world, body, ids, count);
  for (int i = 0; i < count && !write; ++i) {
    tn_geometry_id geometry = tn_shape_get_def(e->run->world, ids[i]).geometry;
    if (!TN_IS_NULL(geometry)) {
      geometry_number(e, geometry);
    }
  }
  if (write) {
    write_key(&e->w, "shapes");
    write_open(&e->w, '[');
    for (int i = 0; i < count; ++i) {
      write_shape(e, ids[i]);
    }
    write_close(&e->w, ']', false);
  }
  free(ids);
}

static void write_geometry(exporter *e, int number)
{
  tn_geometry_source source = tn_geometry_get_source(e->run->world, e->geometries[number]);
  file_geometry g;
  type_geometry.usual(&g);
  int n = source.wire_point_count;
  tn_vec3 *split = calloc(2 * (size_t)n + 1, sizeof *split);
  e->failed = e->failed || !split;
  for (int i = 0; split && i < n; ++i) {
    split[i] = source.wire_points[i].position;
    split[n + i] = source.wire_points[i].tangent;
  }
  g.kind = source.kind == TN_SHAPE_HULL           ? GEOMETRY_HULL
           : source.kind == TN_SHAPE_MESH         ? GEOMETRY_MESH
           : source.kind == TN_SHAPE_HEIGHT_FIELD ? GEOMETRY_HEIGHT_FIELD
                                                  : GEOMETRY_WIRE;
  bool wire = g.kind == GEOMETRY_WIRE;
  g.points =
      wire ? (number_list){split, n} : (number_list){(void *)source.points, source.point_count};
  g.tangents = (number_list){split + n, n};
  g.triangles = (number_list){(void *)source.triangles, source.triangle_count};
  g.heights = (number_list){(void *)source.heights, source.columns * source.rows};
  g.max_vertices = source.max_vertices;
  g.columns = source.columns;
  g.rows = source.rows;
  g.spacing_x = source.spacing_x;
  g.spacing_z = source.spacing_z;
  g.closed = source.closed;
  if (split) {
    write_open(&e->w, '{');
    write_fields(&e->w, &type_geometry, &g, NULL);
    write_close(&e->w, '}', false);
  }
  free(split);
}

static void write_geometries(exporter *e)
{
  tn_body_id world = {0, 0, 0};
  write_shapes(e, world, false);
  for (int i = 0; i < e->body_count; ++i) {
    write_shapes(e, e->bodies[i], false);
  }
  if (e->geometry_count > 0) {
    write_key(&e->w, "geometries");
    write_open(&e->w, '{');
    for (int i = 0; i < e->geometry_count; ++i) {
      char name[40];
      name_geometry(e, i, name, sizeof name);
      write_key(&e->w, name);
      write_geometry(e, i);
    }
    write_close(&e->w, '}', false);
  }
}

// ---------------------------------------------------------------------------------------------
// Bodies and joints

static void write_mass(exporter *e, int number)
{
  const recorded_body *b = &e->record->bodies[number];
  tn_mass usual = scene_body_def().mass;
  if (b->spread) {
    if (b->mass > 0.0f) {
      write_key(&e->w, "mass");
      write_float(&e->w, b->mass);
    }
    return;
  }
  bool by_shapes = b->def.type == TN_BODY_DYNAMIC &&
                   tn_body_shapes(e->run->world, e->bodies[number], NULL, 0) > 0;
  if (by_shapes || fields_differ(&type_mass, &b->def.mass, &usual)) {
    write_key(&e->w, "mass");
    write_flat(&e->w, &type_mass, &b->def.mass, NULL);
  }
}

static void write_body(exporter *e, int number)
{
  const recorded_body *recorded = &e->record->bodies[number];
  file_body b, usual;
  type_body.usual(&usual);
  b = usual;
  b.def = recorded->def;
  b.def.name = recorded->name[0] ? recorded->name : NULL;
  b.scenery = recorded->scenery;
  write_item(&e->w);
  write_open(&e->w, '{');
  write_fields(&e->w, &type_body, &b, &usual);
  write_mass(e, number);
  write_shapes(e, e->bodies[number], true);
  write_close(&e->w, '}', false);
}

static void write_bodies(exporter *e)
{
  tn_body_id world = {0, 0, 0};
  write_shapes(e, world, true);
  if (e->body_count > 0) {
    write_key(&e->w, "bodies");
    write_open(&e->w, '[');
    for (int i = 0; i < e->body_count; ++i) {
      write_body(e, i);
    }
    write_close(&e->w, ']', false);
  }
}

// Writes its name or its index; ids are in the order of slots.
static void write_reference(exporter *e, tn_body_id id)
{
  int lo = 0, hi = e->body_count;
  if (TN_IS_NULL(id)) {
    write_raw(&e->w, "null");
    return;
  }
  while (hi - lo > 1) {
    int middle = lo + (hi - lo) / 2;
    *(e->bodies[middle].index <= id.index ? &lo : &hi) = middle;
  }
  const char *name = e->record->bodies[lo].name;
  char number[16];
  snprintf(number, sizeof number, "%d", lo);
  if (name[0]) {
    write_text(&e->w, name);
  } else {
    write_raw(&e->w, number);
  }
}

static void write_joint(exporter *e, tn_joint_id id)
{
  file_joint j, usual;
  type_joint.usual(&usual);
  j = usual;
  j.def = tn_joint_get_def(e->run->world, id);
  usual.def = tn_default_joint_def(j.def.kind);
  write_item(&e->w);
  write_open(&e->w, '{');
  write_key(&e->w, "bodies");
  write_raw(&e->w, "[");
  write_reference(e, j.def.body_a);
  write_raw(&e->w, ", ");
  write_reference(e, j.def.body_b);
  write_raw(&e->w, "]");
  write_fields(&e->w, &type_joint, &j, &usual);
  write_close(&e->w, '}', false);
}

static void write_joints(exporter *e)
{
  int count = tn_world_joints(e->run->world, NULL, 0);
  tn_joint_id *ids = calloc((size_t)count + 1, sizeof *ids);
  e->failed = e->failed || !ids;
  if (ids && count > 0) {
    tn_world_joints(e->run->world, ids, count);
    write_key(&e->w, "joints");
    write_open(&e->w, '[');
    for (int i = 0; i < count; ++i) {
      write_joint(e, ids[i]);
    }
    write_close(&e->w, ']', false);
  }
  free(ids);
}

// Index of a joint in the list that write_joints() writes.
static int joint_number(const exporter *e, tn_joint_id id)
{
  int count = tn_world_joints(e->run->world, NULL, 0), number = 0;
  tn_joint_id *ids = calloc((size_t)count + 1, sizeof *ids);
  if (ids) {
    tn_world_joints(e->run->world, ids, count);
    while (number < count && !TN_SAME_ID(ids[number], id)) {
      number += 1;
    }
  }
  free(ids);
  return number;
}

static void write_axes(exporter *e, const tn_coupling_def *def)
{
  write_key(&e->w, "axes");
  write_open(&e->w, '[');
  for (int i = 0; i < def->axis_count; ++i) {
    file_axis a = {def->axes[i], joint_number(e, def->axes[i].joint)}, usual;
    type_coupling_axis.usual(&usual);
    write_item(&e->w);
    write_open(&e->w, '{');
    e->w.flat = true;
    write_fields(&e->w, &type_coupling_axis, &a, &usual);
    write_close(&e->w, '}', false);
  }
  write_close(&e->w, ']', false);
}

static void write_points(exporter *e, const tn_coupling_def *def)
{
  write_key(&e->w, "points");
  write_open(&e->w, '[');
  for (int i = 0; i < def->point_count; ++i) {
    file_point p = {def->points[i], NULL}, usual;
    type_coupling_point.usual(&usual);
    write_item(&e->w);
    write_open(&e->w, '{');
    e->w.flat = true;
    write_key(&e->w, "body");
    write_reference(e, p.point.body);
    write_fields(&e->w, &type_coupling_point, &p, &usual);
    write_close(&e->w, '}', false);
  }
  write_close(&e->w, ']', false);
}

static void write_couplings(exporter *e)
{
  int count = tn_world_couplings(e->run->world, NULL, 0);
  tn_coupling_id *ids = calloc((size_t)count + 1, sizeof *ids);
  e->failed = e->failed || !ids;
  if (ids && count > 0) {
    tn_world_couplings(e->run->world, ids, count);
    write_key(&e->w, "couplings");
    write_open(&e->w, '[');
    for (int i = 0; i < count; ++i) {
      file_coupling k, usual;
      type_coupling.usual(&usual);
      k = usual;
      k.def = tn_coupling_get_def(e->run->world, ids[i]);
      k.range[0] = k.def.range;
      write_item(&e->w);
      write_open(&e->w, '{');
      if (k.def.axis_count > 0) {
        write_axes(e, &k.def);
      }
      if (k.def.point_count > 0) {
        write_points(e, &k.def);
      }
      write_fields(&e->w, &type_coupling, &k, &usual);
      write_close(&e->w, '}', false);
    }
    write_close(&e->w, ']', false);
  }
  free(ids);
}

// ---------------------------------------------------------------------------------------------
// Soft bodies

// Velocities are written per vertex if they are not all equal.
static void take_velocities(exporter *e, tn_soft_id id, file_soft *s)
{
  int count = s->def.vertex_count;
  tn_vec3 *v = calloc((size_t)count + 1, sizeof *v);
  e->failed = e->failed || !v;
  bool differ = false;
  for (int i = v ? tn_soft_velocities(e->run->world, id, v, count) - 1 : -1; i >= 0; --i) {
    tn_vec3 usual = s->def.velocity;
    if (tn_soft_is_pinned(e->run->world, id, i)) {
      usual = tn_v3(0.0f, 0.0f, 0.0f);
    }
    differ = differ || bits_differ(&v[i], &usual, sizeof usual);
  }
  s->velocities = (number_list){v, differ ? count : 0};
}

static void take_pins(exporter *e, tn_soft_id id, file_soft *s)
{
  int *pins = calloc((size_t)s->def.vertex_count + 1, sizeof *pins);
  e->failed = e->failed || !pins;
  s->pinned = (number_list){pins, 0};
  for (int i = 0; pins && i < s->def.vertex_count; ++i) {
    if (tn_soft_is_pinned(e->run->world, id, i)) {
      pins[s->pinned.count++] = i;
    }
  }
}

static void write_soft(exporter *e, tn_soft_id id, const tn_soft_def *def)
{
  file_soft s, usual;
  type_soft.usual(&usual);
  s = usual;
  s.def = *def;
  s.vertices = (number_list){(void *)def->vertices, def->vertex_count};
  s.edges = (number_list){(void *)def->edges, def->edge_count};
  s.triangles = (number_list){(void *)def->triangles, def->triangle_count};
  s.tetrahedra = (number_list){(void *)def->tetrahedra, def->tetrahedron_count};
  s.hexahedra = (number_list){(void *)def->hexahedra, def->hexahedron_count};
  s.tethers = (number_list){(void *)def->tethers, def->tether_count};
  s.tether_lengths =
      (number_list){(void *)def->tether_lengths, def->tether_lengths ? def->tether_count : 0};
  s.masses = (number_list){(void *)def->masses, def->masses ? def->vertex_count : 0};
  take_velocities(e, id, &s);
  take_pins(e, id, &s);
  write_item(&e->w);
  write_open(&e->w, '{');
  write_fields(&e->w, &type_soft, &s, &usual);
  write_material(e, &def->material);
  write_close(&e->w, '}', false);
  free(s.velocities.items);
  free(s.pinned.items);
}

static void write_softs(exporter *e)
{
  int count = e->record->soft_count;
  tn_soft_id *ids = calloc((size_t)count + 1, sizeof *ids);
  e->failed = e->failed || !ids;
  if (ids && count > 0) {
    tn_world_softs(e->run->world, ids, count);
    write_key(&e->w, "soft_bodies");
    write_open(&e->w, '[');
    for (int i = 0; i < count; ++i) {
      write_soft(e, ids[i], &e->record->softs[i]);
    }
    write_close(&e->w, ']', false);
  }
  free(ids);
}

static int soft_number(exporter *e, tn_soft_id id)
{
  int count = e->record->soft_count, number = 0;
  tn_soft_id *ids = calloc((size_t)count + 1, sizeof *ids);
  e->failed = e->failed || !ids;
  for (int i = ids ? tn_world_softs(e->run->world, ids, count) - 1 : -1; i >= 0; --i) {
    number = TN_SAME_ID(ids[i], id) ? i : number;
  }
  free(ids);
  return number;
}

static void write_attachment(exporter *e, tn_attachment_id id)
{
  file_attachment a, usual;
  char number[16];
  type_attachment.usual(&usual);
  a = usual;
  a.def = tn_attachment_get_def(e->run->world, id);
  snprintf(number, sizeof number, "%d", soft_number(e, a.def.soft));
  write_item(&e->w);
  write_open(&e->w, '{');
  e->w.flat = true;
  write_key(&e->w, "soft_body");
  write_raw(&e->w, number);
  write_key(&e->w, "body");
  write_reference(e, a.def.body);
  write_fields(&e->w, &type_attachment, &a, &usual);
  write_close(&e->w, '}', false);
}

static void write_attachments(exporter *e)
{
  int count = tn_world_attachments(e->run->world, NULL, 0);
  tn_attachment_id *ids = calloc((size_t)count + 1, sizeof *ids);
  e->failed = e->failed || !ids;
  if (ids && count > 0) {
    tn_world_attachments(e->run->world, ids, count);
    write_key(&e->w, "attachments");
    write_open(&e->w, '[');
    for (int i = 0; i < count; ++i) {
      write_attachment(e, ids[i]);
    }
    write_close(&e->w, ']', false);
  }
  free(ids);
}

static void write_motions(exporter *e)
{
  int count;
  const file_motion *motions = scene_motions(e->scene, &count);
  if (count == 0) {
    return;
  }
  file_motion usual;
  type_motion.usual(&usual);
  write_key(&e->w, "motions");
  write_open(&e->w, '[');
  for (int i = 0; i < count; ++i) {
    write_item(&e->w);
    write_open(&e->w, '{');
    write_fields(&e->w, &type_motion, &motions[i], &usual);
    write_close(&e->w, '}', false);
  }
  write_close(&e->w, ']', false);
}

// ---------------------------------------------------------------------------------------------
// The scene

static void write_behaviour(exporter *e)
{
  const scene *behaviour = scene_behaviour(e->scene);
  if (!behaviour) {
    return;
  }
  write_key(&e->w, "behaviour");
  write_open(&e->w, '{');
  write_key(&e->w, "scene");
  write_text(&e->w, behaviour->name);
  write_key(&e->w, "parameters");
  write_open(&e->w, '{');
  e->w.flat = true;
  for (int i = 0; i < SCENE_MAX_PARAMETERS && behaviour->parameters[i].name; ++i) {
    write_key(&e->w, behaviour->parameters[i].name);
    write_double(&e->w, e->run->settings.value[i]);
  }
  write_close(&e->w, '}', false);
  write_close(&e->w, '}', false);
}

static void write_scene(exporter *e, const tn_world_def *def, double seconds)
{
  const scene *s = e->scene;
  file_scene content;
  memset(&content, 0, sizeof content);
  content.version = 1;
  content.name = s->name;
  content.title = s->title;
  content.source = s->source;
  content.seconds = seconds;
  content.conserves = s->conserves;
  content.energy_scale = e->run->energy_scale;
  content.camera = (file_camera){s->camera.eye, s->camera.target};
  content.world = *def;
  content.world.gravity = tn_world_gravity(e->run->world);
  write_open(&e->w, '{');
  write_fields(&e->w, &type_scene, &content, NULL);
  write_behaviour(e);
  write_geometries(e);
  write_bodies(e);
  write_joints(e);
  write_couplings(e);
  write_softs(e);
  write_attachments(e);
  write_motions(e);
  write_close(&e->w, '}', false);
  write_raw(&e->w, "\n");
}

// True if scenes/build.h recorded the definition of every body and soft body.
static bool is_complete(const exporter *e)
{
  return e->body_count == e->record->body_count &&
         tn_world_softs(e->run->world, NULL, 0) == e->record->soft_count;
}

static bool write_run(const scene_run *run, const scene_record *record, const tn_world_def *def,
                      double seconds, FILE *out, char *error)
{
  exporter e = {.w = {.out = out}, .scene = run->scene, .run = run, .record = record};
  e.body_count = tn_world_bodies(run->world, NULL, 0);
  e.bodies = calloc((size_t)e.body_count + 1, sizeof *e.bodies);
  if (!is_complete(&e)) {
    snprintf(error, SCENE_FILE_ERROR, "%s creates bodies whose definitions were not recorded",
             run->scene->name);
    free(e.bodies);
    return false;
  }
  e.failed = !e.bodies;
  if (e.bodies) {
    tn_world_bodies(run->world, e.bodies, e.body_count);
    write_scene(&e, def, seconds);
  }
  free(e.bodies);
  free(e.geometries);
  if (e.failed || ferror(out)) {
    snprintf(error, SCENE_FILE_ERROR, "%s could not be written", run->scene->name);
    return false;
  }
  return true;
}

bool scene_file_write(const scene *which, const scene_settings *settings, const tn_world_def *def,
                      double seconds, FILE *out, char *error)
{
  scene_record record = {0};
  scene_run *run = scene_create_recorded(which, settings, def, &record);
  bool ok = run && write_run(run, &record, def, seconds, out, error);
  if (!run) {
    snprintf(error, SCENE_FILE_ERROR, "%s could not be created", which->name);
  }
  scene_destroy(run);
  record_free(&record);
  return ok;
}
