#include "skin.h"

#include "look.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Morph targets per mesh: viewers need not support more than 256.
enum { MOST_KEYS = 240, FIT_ROUNDS = 30 };

typedef struct skin {
  tn_soft_id id;
  scene_look look; // of the last frame; its triangles hold for all frames
  text points;     // frame by frame
} skin;

struct skins {
  skin *list;
  int count, frames;
};

// ---------------------------------------------------------------------------------------------
// Recording

skins *skins_create(const scene_run *run)
{
  skins *s = calloc(1, sizeof *s);
  int count = tn_world_softs(run->world, NULL, 0);
  tn_soft_id *ids = calloc((size_t)count + 1, sizeof *ids);
  skin *list = calloc((size_t)count + 1, sizeof *list);
  if (!s || !ids || !list) {
    free(s);
    free(ids);
    free(list);
    return NULL;
  }
  tn_world_softs(run->world, ids, count);
  for (int i = 0; i < count; ++i) {
    list[i].id = ids[i];
  }
  free(ids);
  s->list = list;
  s->count = count;
  return s;
}

void skins_destroy(skins *s)
{
  if (s) {
    for (int i = 0; i < s->count; ++i) {
      scene_look_free(&s->list[i].look);
      text_free(&s->list[i].points);
    }
    free(s->list);
    free(s);
  }
}

// A tear changes the vertices of triangles but not their number and order. Converts the recorded
// frames, which use the points of `old`, to the points of the look after the tear.
static bool remap_frames(skin *k, const scene_look *old, int frames)
{
  const scene_look *now = &k->look;
  text points = {0};
  size_t size = (size_t)now->point_count * sizeof *now->points;
  tn_vec3 *frame = malloc(size + 1);
  for (int i = 0; i < frames && frame; ++i) {
    const tn_vec3 *from = (const tn_vec3 *)(const void *)k->points.bytes;
    from += (size_t)i * (size_t)old->point_count;
    for (int corner = 0; corner < 3 * now->triangle_count; ++corner) {
      frame[now->triangles[corner]] = from[old->triangles[corner]];
    }
    text_add_bytes(&points, frame, size);
  }
  bool ok = frame && !points.failed;
  free(frame);
  text_free(&k->points);
  k->points = points;
  return ok;
}

// Adds the points of a soft body's look. The triangles of a torn rope do not correspond to those
// before: it keeps its last shape.
static bool record_skin(skin *k, const tn_world *world, int frames)
{
  scene_look old = k->look;
  if (!scene_look_soft(world, k->id, &k->look)) {
    k->look = old;
    return false;
  }
  bool ok = true;
  if (frames > 0 && k->look.point_count != old.point_count) {
    if (k->look.triangle_count == old.triangle_count) {
      ok = remap_frames(k, &old, frames);
    } else {
      scene_look_free(&k->look);
      k->look = old;
      old = (scene_look){0};
    }
  }
  scene_look_free(&old);
  text_add_bytes(&k->points, k->look.points, (size_t)k->look.point_count * sizeof *k->look.points);
  return ok && !k->points.failed;
}

bool skins_record(skins *s, const scene_run *run)
{
  bool ok = true;
  for (int i = 0; i < s->count && ok; ++i) {
    ok = record_skin(&s->list[i], run->world, s->frames);
  }
  s->frames += 1;
  return ok;
}

static const tn_vec3 *points_at(const skin *k, int frame)
{
  const tn_vec3 *points = (const tn_vec3 *)(const void *)k->points.bytes;
  return points + (size_t)frame * (size_t)k->look.point_count;
}

// ---------------------------------------------------------------------------------------------
// Rigid motion

typedef struct pose {
  tn_vec3 center;
  tn_quat turn;
} pose;

static tn_vec3 center_of(const tn_vec3 *points, int count)
{
  double x = 0.0, y = 0.0, z = 0.0;
  for (int i = 0; i < count; ++i) {
    x += (double)points[i].x, y += (double)points[i].y, z += (double)points[i].z;
  }
  return tn_v3((float)(x / count), (float)(y / count), (float)(z / count));
}

// The rotation closest to a matrix of three columns, from an initial guess: Mueller et al. 2016,
// A robust method to extract the rotational part of deformations.
static tn_quat rotation_of(const tn_vec3 *column, tn_quat q)
{
  static const tn_vec3 axes[3] = {{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}};
  for (int round = 0; round < FIT_ROUNDS; ++round) {
    tn_vec3 torque = {0.0f, 0.0f, 0.0f};
    float along = 0.0f;
    for (int i = 0; i < 3; ++i) {
      tn_vec3 axis = tn_rotate(q, axes[i]);
      torque = tn_add(torque, tn_cross(axis, column[i]));
      along += tn_dot(axis, column[i]);
    }
    float size = tn_length(torque);
    if (!(size > 1e-6f * fabsf(along))) {
      break;
    }
    float angle = size / (fabsf(along) + 1e-9f * size);
    q = tn_quat_mul(tn_quat_axis_angle(torque, angle), q);
  }
  float length = sqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  return (tn_quat){q.x / length, q.y / length, q.z / length, q.w / length};
}

// Rigid motion from the first frame to another; the sign of the rotation follows the last one.
static pose pose_at(const skin *k, int frame, tn_quat last)
{
  const tn_vec3 *start = points_at(k, 0), *now = points_at(k, frame);
  int count = k->look.point_count;
  tn_vec3 from = center_of(start, count), column[3] = {{0}};
  pose p = {center_of(now, count), last};
  for (int i = 0; i < count; ++i) {
    tn_vec3 a = tn_sub(start[i], from), b = tn_sub(now[i], p.center);
    column[0] = tn_add(column[0], tn_scale(a.x, b));
    column[1] = tn_add(column[1], tn_scale(a.y, b));
    column[2] = tn_add(column[2], tn_scale(a.z, b));
  }
  p.turn = rotation_of(column, last);
  return p;
}

static void find_poses(const skin *k, int frames, pose *poses)
{
  tn_quat last = tn_quat_identity();
  for (int i = 0; i < frames; ++i) {
    poses[i] = i == 0 ? (pose){center_of(points_at(k, 0), k->look.point_count), last}
                      : pose_at(k, i, last);
    last = poses[i].turn;
  }
}

// ---------------------------------------------------------------------------------------------
// Keys

static int key_stride(int frames)
{
  return (frames + MOST_KEYS - 2) / (MOST_KEYS - 1);
}

// The last frame is always a key.
static int key_count(int frames)
{
  int stride = key_stride(frames);
  return 1 + (frames - 1 + stride - 1) / stride;
}

static int key_frame(int key, int frames)
{
  int frame = key * key_stride(frames);
  return frame < frames ? frame : frames - 1;
}

// Writes the points and normals at a frame to `look`.
static void form_at(const skin *k, int frame, pose p, scene_look *look)
{
  const tn_vec3 *points = points_at(k, frame);
  tn_quat back = tn_quat_conjugate(p.turn);
  for (int i = 0; i < look->point_count; ++i) {
    look->points[i] = tn_rotate(back, tn_sub(points[i], p.center));
  }
  scene_look_shade(look);
}

// ---------------------------------------------------------------------------------------------
// Writing

typedef struct writer {
  gltf *file;
  int frames, keys, times, key_times; // the last two are accessors
  const float *weights;
} writer;

static void subtract(tn_vec3 *from, const tn_vec3 *what, int count)
{
  for (int i = 0; i < count; ++i) {
    from[i] = tn_sub(from[i], what[i]);
  }
}

// The first key is the mesh, the others are its morph targets. `work` has room for all of them.
static int add_forms(const writer *w, const skin *k, const pose *poses, tn_vec3 *work, int material)
{
  int count = k->look.point_count;
  size_t all = (size_t)w->keys * (size_t)count;
  scene_look form = k->look;
  for (int key = 0; key < w->keys; ++key) {
    int frame = key_frame(key, w->frames);
    form.points = work + (size_t)key * (size_t)count;
    form.normals = form.points + all;
    form_at(k, frame, poses[frame], &form);
  }
  tn_vec3 *normals = work + all;
  gltf_surface first =
      gltf_add_surface(w->file, work, normals, count, k->look.triangles, k->look.triangle_count);
  for (int key = 1; key < w->keys; ++key) {
    subtract(work + (size_t)key * (size_t)count, work, count);
    subtract(normals + (size_t)key * (size_t)count, normals, count);
  }
  return gltf_add_morphed_mesh(w->file, first, material, work + count, normals + count, count,
                               w->keys - 1);
}

static bool add_motion(const writer *w, const pose *poses, int node)
{
  size_t count = (size_t)w->frames;
  float *values = malloc(4 * count * sizeof *values);
  if (!values) {
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    memcpy(values + 3 * i, &poses[i].center, 3 * sizeof *values);
  }
  gltf_add_channel(w->file, node, GLTF_TRANSLATION, w->times, values, count);
  for (size_t i = 0; i < count; ++i) {
    memcpy(values + 4 * i, &poses[i].turn, 4 * sizeof *values);
  }
  gltf_add_channel(w->file, node, GLTF_ROTATION, w->times, values, count);
  free(values);
  gltf_add_channel(w->file, node, GLTF_WEIGHTS, w->key_times, w->weights,
                   (size_t)w->keys * (size_t)(w->keys - 1));
  return true;
}

static bool write_skin(const writer *w, const skin *k, int number, int material)
{
  pose *poses = malloc((size_t)w->frames * sizeof *poses);
  size_t room = 2 * (size_t)w->keys * (size_t)k->look.point_count;
  tn_vec3 *work = malloc(room * sizeof *work);
  bool ok = poses && work;
  if (ok) {
    find_poses(k, w->frames, poses);
    int mesh = add_forms(w, k, poses, work, material);
    char name[32];
    snprintf(name, sizeof name, "soft body %d", number);
    float position[3] = {poses[0].center.x, poses[0].center.y, poses[0].center.z};
    float rotation[4] = {0.0f, 0.0f, 0.0f, 1.0f};
    int node = gltf_add_mesh_node(w->file, name, mesh, position, rotation);
    ok = add_motion(w, poses, node);
  }
  free(poses);
  free(work);
  return ok;
}

// At key i only target i - 1 has weight 1, at the first key none.
static float *make_weights(int keys)
{
  size_t targets = (size_t)(keys - 1);
  float *weights = calloc((size_t)keys * targets + 1, sizeof *weights);
  for (size_t i = 0; i < targets && weights; ++i) {
    weights[(i + 1) * targets + i] = 1.0f;
  }
  return weights;
}

bool skins_write(const skins *s, gltf *file, const float *times, int times_accessor,
                 int first_material, int materials)
{
  if (s->count == 0 || s->frames < 2) {
    return true; // a single frame has no motion
  }
  writer w = {file, s->frames, key_count(s->frames), times_accessor, 0, NULL};
  float key_times[MOST_KEYS];
  for (int i = 0; i < w.keys; ++i) {
    key_times[i] = times[key_frame(i, s->frames)];
  }
  w.key_times = gltf_add_times(file, key_times, w.keys);
  float *weights = make_weights(w.keys);
  w.weights = weights;
  bool ok = weights != NULL;
  for (int i = 0; i < s->count && ok; ++i) {
    ok = write_skin(&w, &s->list[i], i, first_material + i % materials);
  }
  free(weights);
  return ok;
}
