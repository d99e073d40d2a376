#include "film.h"

#include "gltf.h"
#include "look.h"
#include "skin.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Recording

typedef struct film_pose {
  float position[3], rotation[4];
} film_pose;

struct film {
  tn_body_id *bodies; // of the world, in the order of slots
  int body_count;
  double start;
  int frames;
  text times; // floats
  text poses; // frame by frame, all bodies of each
  skins *softs;
};

static film_pose *pose_at(const film *f, int frame, int body)
{
  film_pose *poses = (film_pose *)(void *)f->poses.bytes;
  return poses + (size_t)frame * (size_t)f->body_count + body;
}

film *film_create(const scene_run *run)
{
  film *f = calloc(1, sizeof *f);
  int count = tn_world_bodies(run->world, NULL, 0);
  if (f) {
    f->body_count = count;
    f->bodies = calloc((size_t)count + 1, sizeof *f->bodies);
    f->softs = skins_create(run);
  }
  if (!f || !f->bodies || !f->softs) {
    film_destroy(f);
    return NULL;
  }
  tn_world_bodies(run->world, f->bodies, count);
  return f;
}

void film_destroy(film *f)
{
  if (f) {
    free(f->bodies);
    text_free(&f->times);
    text_free(&f->poses);
    skins_destroy(f->softs);
    free(f);
  }
}

static film_pose pose_of(const tn_world *world, tn_body_id body)
{
  tn_transform at = tn_body_transform(world, body);
  film_pose pose = {{(float)at.p.x, (float)at.p.y, (float)at.p.z},
                    {at.q.x, at.q.y, at.q.z, at.q.w}};
  return pose;
}

// q and -q are the same rotation; choose the sign that interpolates over the shorter arc.
static void turn_the_short_way(film_pose *pose, const film_pose *last)
{
  float dot = 0.0f;
  for (int i = 0; i < 4; ++i) {
    dot += pose->rotation[i] * last->rotation[i];
  }
  for (int i = 0; i < 4 && dot < 0.0f; ++i) {
    pose->rotation[i] = -pose->rotation[i];
  }
}

bool film_record(film *f, const scene_run *run)
{
  for (int i = 0; i < f->body_count; ++i) {
    film_pose pose = pose_of(run->world, f->bodies[i]);
    if (f->frames > 0) {
      turn_the_short_way(&pose, pose_at(f, f->frames - 1, i));
    }
    text_add_bytes(&f->poses, &pose, sizeof pose);
  }
  f->start = f->frames > 0 ? f->start : run->time;
  float time = (float)(run->time - f->start);
  text_add_bytes(&f->times, &time, sizeof time);
  f->frames += 1;
  return skins_record(f->softs, run) && !f->poses.failed && !f->times.failed;
}

// ---------------------------------------------------------------------------------------------
// Shapes as meshes. Shapes of equal kind and size share their vertices.

enum { MOVING_COLORS = 5 };
static const float ORIGIN[3] = {0.0f, 0.0f, 0.0f}, UNTURNED[4] = {0.0f, 0.0f, 0.0f, 1.0f};

typedef struct drawn {
  tn_shape_def def;
  gltf_surface surface;
  int mesh[1 + MOVING_COLORS]; // mesh for each colour, or -1
} drawn;

typedef struct stage {
  const film *film;
  const scene_run *run;
  gltf *file;
  drawn own;  // the scene's own look for its bodies, if it has one
  text looks; // drawn
  int look_count;
  bool failed;
} stage;

static bool looks_same(const tn_shape_def *a, const tn_shape_def *b)
{
  return a->kind == b->kind && a->radius == b->radius && a->half_length == b->half_length &&
         a->half_extents.x == b->half_extents.x && a->half_extents.y == b->half_extents.y &&
         a->half_extents.z == b->half_extents.z && TN_SAME_ID(a->geometry, b->geometry);
}

static drawn *look_at(const stage *s, int i)
{
  return (drawn *)(void *)s->looks.bytes + i;
}

static drawn *find_look(const stage *s, const tn_shape_def *def)
{
  for (int i = 0; i < s->look_count; ++i) {
    if (looks_same(&look_at(s, i)->def, def)) {
      return look_at(s, i);
    }
  }
  return NULL;
}

static void draw_look(stage *s, scene_look *look, drawn *d)
{
  memset(d->mesh, -1, sizeof d->mesh);
  d->surface = gltf_add_surface(s->file, look->points, look->normals, look->point_count,
                                look->triangles, look->triangle_count);
  scene_look_free(look);
}

static drawn *add_look(stage *s, const tn_shape_def *def)
{
  scene_look look;
  if (!scene_look_make(s->run->world, def, &look)) {
    s->failed = true;
    return NULL;
  }
  drawn d = {.def = *def};
  draw_look(s, &look, &d);
  text_add_bytes(&s->looks, &d, sizeof d);
  s->failed = s->failed || s->looks.failed;
  return s->failed ? NULL : look_at(s, s->look_count++);
}

static int mesh_of(stage *s, drawn *d, int color)
{
  if (d && d->mesh[color] < 0) {
    d->mesh[color] = gltf_add_mesh(s->file, d->surface, color);
  }
  return d ? d->mesh[color] : 0;
}

static int color_of(const stage *s, int body)
{
  bool moves = tn_body_get_type(s->run->world, s->film->bodies[body]) != TN_BODY_STATIC;
  return moves ? 1 + body % MOVING_COLORS : 0;
}

static void add_shape(stage *s, const tn_shape_def *def, int color)
{
  if (!def->sensor) {
    float position[3] = {def->position.x, def->position.y, def->position.z};
    float rotation[4] = {def->rotation.x, def->rotation.y, def->rotation.z, def->rotation.w};
    drawn *d = find_look(s, def);
    d = d ? d : add_look(s, def);
    gltf_add_part(s->file, mesh_of(s, d, color), position, rotation);
  }
}

// Index among the run's bodies; -1 for none.
static int number_of(const stage *s, int body)
{
  for (int i = 0; i < s->run->body_count; ++i) {
    if (TN_SAME_ID(s->run->bodies[i], s->film->bodies[body])) {
      return i;
    }
  }
  return -1;
}

// A body without shapes is drawn as the box with its moments of inertia.
static void add_box_of_mass(stage *s, int body)
{
  int number = number_of(s, body);
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  if (number >= 0) {
    box.half_extents = scene_body_box(s->run, number);
    box.position = tn_body_mass(s->run->world, s->run->bodies[number]).center;
    add_shape(s, &box, color_of(s, body));
  }
}

static void add_own_look(stage *s, int body)
{
  gltf_add_part(s->file, mesh_of(s, &s->own, color_of(s, body)), ORIGIN, UNTURNED);
}

// Returns the number of shapes of the body; the null id is the world.
static int add_shapes_of(stage *s, tn_body_id body, int color)
{
  int count = tn_body_shapes(s->run->world, body, NULL, 0);
  tn_shape_id *ids = calloc((size_t)count + 1, sizeof *ids);
  s->failed = s->failed || !ids;
  if (ids) {
    tn_body_shapes(s->run->world, body, ids, count);
  }
  for (int i = 0; i < count && ids; ++i) {
    tn_shape_def def = tn_shape_get_def(s->run->world, ids[i]);
    add_shape(s, &def, color);
  }
  free(ids);
  return count;
}

static void add_shapes(stage *s, int body)
{
  if (s->run->scene->look && number_of(s, body) >= 0) {
    add_own_look(s, body);
  } else if (add_shapes_of(s, s->film->bodies[body], color_of(s, body)) == 0) {
    add_box_of_mass(s, body);
  }
}

// ---------------------------------------------------------------------------------------------
// The file

static void add_motion(stage *s, int body, int node, int times)
{
  const film *f = s->film;
  float *values = malloc((size_t)f->frames * 4 * sizeof *values);
  if (!values) {
    s->failed = true;
    return;
  }
  for (int i = 0; i < f->frames; ++i) {
    memcpy(values + (size_t)3 * (size_t)i, pose_at(f, i, body)->position, 3 * sizeof *values);
  }
  gltf_add_channel(s->file, node, GLTF_TRANSLATION, times, values, (size_t)f->frames);
  for (int i = 0; i < f->frames; ++i) {
    memcpy(values + (size_t)4 * (size_t)i, pose_at(f, i, body)->rotation, 4 * sizeof *values);
  }
  gltf_add_channel(s->file, node, GLTF_ROTATION, times, values, (size_t)f->frames);
  free(values);
}

static void add_bodies(stage *s, int times)
{
  const film *f = s->film;
  for (int i = 0; i < f->body_count && !s->failed; ++i) {
    add_shapes(s, i);
    char number[32];
    snprintf(number, sizeof number, "body %d", i);
    const char *name = tn_body_name(s->run->world, f->bodies[i]);
    const film_pose *pose = pose_at(f, 0, i);
    int node = gltf_add_node(s->file, name[0] ? name : number, pose->position, pose->rotation);
    if (tn_body_get_type(s->run->world, f->bodies[i]) != TN_BODY_STATIC) {
      add_motion(s, i, node, times);
    }
  }
}

// Shapes of the world, such as the ground and walls of most scene files.
static void add_world(stage *s)
{
  tn_body_id world = {0};
  if (add_shapes_of(s, world, 0) > 0) {
    gltf_add_node(s->file, "world", ORIGIN, UNTURNED);
  }
}

static void add_all(stage *s)
{
  const film *f = s->film;
  const float *seconds = (const float *)(const void *)f->times.bytes;
  int times = gltf_add_times(s->file, seconds, f->frames);
  add_bodies(s, times);
  add_world(s);
  s->failed = s->failed ||
              !skins_write(f->softs, s->file, seconds, times, 1 + MOVING_COLORS, MOVING_COLORS);
}

// A glTF camera looks along -z: pitch about x, then yaw about y.
static void add_camera(stage *s)
{
  scene_camera camera = s->run->scene->camera;
  tn_vec3 back = tn_sub(camera.eye, camera.target);
  float level = sqrtf(back.x * back.x + back.z * back.z);
  tn_quat lowered = tn_quat_axis_angle(tn_v3(1.0f, 0.0f, 0.0f), -tn_atan2(back.y, level));
  tn_quat turned = tn_quat_axis_angle(tn_v3(0.0f, 1.0f, 0.0f), tn_atan2(back.x, back.z));
  tn_quat q = tn_quat_mul(turned, lowered);
  float position[3] = {camera.eye.x, camera.eye.y, camera.eye.z};
  float rotation[4] = {q.x, q.y, q.z, q.w};
  gltf_add_camera(s->file, position, rotation);
}

bool film_write(const film *f, const scene_run *run, FILE *file)
{
  static const float colors[1 + MOVING_COLORS][3] = {{0.55f, 0.57f, 0.60f}, {0.80f, 0.25f, 0.16f},
                                                     {0.12f, 0.36f, 0.70f}, {0.90f, 0.62f, 0.12f},
                                                     {0.15f, 0.55f, 0.36f}, {0.50f, 0.30f, 0.62f}};
  stage s = {.film = f, .run = run, .file = gltf_create()};
  bool ok = s.file && f->frames > 0;
  for (int i = 0; ok && i < 1 + MOVING_COLORS; ++i) {
    gltf_add_material(s.file, colors[i], false);
  }
  for (int i = 0; ok && i < MOVING_COLORS; ++i) {
    gltf_add_material(s.file, colors[1 + (i + 2) % MOVING_COLORS], true); // of soft bodies
  }
  scene_look own;
  if (ok && run->scene->look) {
    ok = run->scene->look(&own);
    if (ok) {
      draw_look(&s, &own, &s.own);
    }
  }
  if (ok) {
    add_all(&s);
    add_camera(&s);
    ok = !s.failed && gltf_write(s.file, run->scene->title, file);
  }
  text_free(&s.looks);
  gltf_destroy(s.file);
  return ok;
}
