#include "film.h"

#include "gltf.h"
#include "look.h"

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
  float *times;
  film_pose *poses; // all bodies of the first frame, all of the second, and so on
  int frames, capacity;
};

film *film_create(const scene_run *run)
{
  film *f = calloc(1, sizeof *f);
  int count = tn_world_bodies(run->world, NULL, 0);
  if (f) {
    f->body_count = count;
    f->bodies = calloc((size_t)count + 1, sizeof *f->bodies);
  }
  if (!f || !f->bodies) {
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
    free(f->times);
    free(f->poses);
    free(f);
  }
}

static bool make_room(film *f)
{
  if (f->frames < f->capacity) {
    return true;
  }
  int wanted = f->capacity > 0 ? 2 * f->capacity : 64;
  float *times = realloc(f->times, (size_t)wanted * sizeof *times);
  f->times = times ? times : f->times;
  size_t poses_size = (size_t)wanted * (size_t)f->body_count * sizeof *f->poses;
  film_pose *poses = realloc(f->poses, poses_size + 1);
  f->poses = poses ? poses : f->poses;
  if (!times || !poses) {
    return false;
  }
  f->capacity = wanted;
  return true;
}

static film_pose pose_of(const tn_world *world, tn_body_id body)
{
  tn_transform at = tn_body_transform(world, body);
  film_pose pose = {{(float)at.p.x, (float)at.p.y, (float)at.p.z},
                    {at.q.x, at.q.y, at.q.z, at.q.w}};
  return pose;
}

// A rotation and its negative are the same, but not on the way to the next.
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
  if (!make_room(f)) {
    return false;
  }
  film_pose *poses = f->poses + (size_t)f->frames * (size_t)f->body_count;
  for (int i = 0; i < f->body_count; ++i) {
    poses[i] = pose_of(run->world, f->bodies[i]);
    if (f->frames > 0) {
      turn_the_short_way(&poses[i], &poses[i - f->body_count]);
    }
  }
  f->start = f->frames > 0 ? f->start : run->time;
  f->times[f->frames] = (float)(run->time - f->start);
  f->frames += 1;
  return true;
}

// ---------------------------------------------------------------------------------------------
// Shapes as meshes. Those that look the same share their points.

enum { MOVING_COLORS = 5 };

typedef struct drawn {
  tn_shape_def def;
  gltf_surface surface;
  int mesh[1 + MOVING_COLORS]; // in each colour, or -1
} drawn;

typedef struct stage {
  const film *film;
  const scene_run *run;
  gltf *file;
  drawn *looks;
  int look_count, look_capacity;
  bool failed;
} stage;

static bool looks_same(const tn_shape_def *a, const tn_shape_def *b)
{
  return a->kind == b->kind && a->radius == b->radius && a->half_length == b->half_length &&
         memcmp(&a->half_extents, &b->half_extents, sizeof a->half_extents) == 0 &&
         memcmp(&a->geometry, &b->geometry, sizeof a->geometry) == 0;
}

static drawn *find_look(const stage *s, const tn_shape_def *def)
{
  for (int i = 0; i < s->look_count; ++i) {
    if (looks_same(&s->looks[i].def, def)) {
      return &s->looks[i];
    }
  }
  return NULL;
}

static bool make_room_for_look(stage *s)
{
  if (s->look_count < s->look_capacity) {
    return true;
  }
  int wanted = s->look_capacity > 0 ? 2 * s->look_capacity : 16;
  drawn *looks = realloc(s->looks, (size_t)wanted * sizeof *looks);
  s->looks = looks ? looks : s->looks;
  s->look_capacity = looks ? wanted : s->look_capacity;
  return looks != NULL;
}

static drawn *add_look(stage *s, const tn_shape_def *def)
{
  scene_look look;
  if (!make_room_for_look(s) || !scene_look_make(s->run->world, def, &look)) {
    s->failed = true;
    return NULL;
  }
  drawn *d = &s->looks[s->look_count++];
  memset(d->mesh, -1, sizeof d->mesh);
  d->def = *def;
  d->surface = gltf_add_surface(s->file, look.points, look.normals, look.point_count,
                                look.triangles, look.triangle_count);
  scene_look_free(&look);
  return d;
}

static int mesh_of(stage *s, const tn_shape_def *def, int color)
{
  drawn *d = find_look(s, def);
  d = d ? d : add_look(s, def);
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

static void add_shape(stage *s, int body, const tn_shape_def *def)
{
  if (!def->sensor) {
    float position[3] = {def->position.x, def->position.y, def->position.z};
    float rotation[4] = {def->rotation.x, def->rotation.y, def->rotation.z, def->rotation.w};
    gltf_add_part(s->file, mesh_of(s, def, color_of(s, body)), position, rotation);
  }
}

// What has mass but no shape is shown as the box of its moments.
static void add_box_of_mass(stage *s, int body)
{
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  for (int i = 0; i < s->run->body_count; ++i) {
    if (TN_SAME_ID(s->run->bodies[i], s->film->bodies[body])) {
      box.half_extents = scene_body_box(s->run, i);
      box.position = tn_body_mass(s->run->world, s->run->bodies[i]).center;
    }
  }
  if (tn_dot(box.half_extents, box.half_extents) > 0.0f) {
    add_shape(s, body, &box);
  }
}

static void add_shapes(stage *s, int body)
{
  int count = tn_body_shapes(s->run->world, s->film->bodies[body], NULL, 0);
  tn_shape_id *ids = calloc((size_t)count + 1, sizeof *ids);
  s->failed = s->failed || !ids;
  if (ids) {
    tn_body_shapes(s->run->world, s->film->bodies[body], ids, count);
  }
  for (int i = 0; i < count && ids; ++i) {
    tn_shape_def def = tn_shape_get(s->run->world, ids[i]);
    add_shape(s, body, &def);
  }
  free(ids);
  if (count == 0) {
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
  const film_pose *pose = f->poses + body;
  for (int i = 0; i < f->frames; ++i) {
    memcpy(values + 3 * i, pose[(size_t)i * (size_t)f->body_count].position, 3 * sizeof *values);
  }
  gltf_add_channel(s->file, node, GLTF_TRANSLATION, times, values, f->frames);
  for (int i = 0; i < f->frames; ++i) {
    memcpy(values + 4 * i, pose[(size_t)i * (size_t)f->body_count].rotation, 4 * sizeof *values);
  }
  gltf_add_channel(s->file, node, GLTF_ROTATION, times, values, f->frames);
  free(values);
}

static void add_bodies(stage *s)
{
  const film *f = s->film;
  int times = gltf_add_times(s->file, f->times, f->frames);
  for (int i = 0; i < f->body_count && !s->failed; ++i) {
    add_shapes(s, i);
    char number[32];
    snprintf(number, sizeof number, "body %d", i);
    const char *name = tn_body_name(s->run->world, f->bodies[i]);
    int node =
        gltf_add_node(s->file, name[0] ? name : number, f->poses[i].position, f->poses[i].rotation);
    if (tn_body_get_type(s->run->world, f->bodies[i]) != TN_BODY_STATIC) {
      add_motion(s, i, node, times);
    }
  }
}

// Looks along -z; first lowered about x, then turned about y.
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
    gltf_add_material(s.file, colors[i]);
  }
  if (ok) {
    add_bodies(&s);
    add_camera(&s);
    ok = !s.failed && gltf_write(s.file, run->scene->title, file);
  }
  free(s.looks);
  gltf_destroy(s.file);
  return ok;
}
