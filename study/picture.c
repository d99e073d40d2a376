// Pictures of scenes by the engine's own ray casts: one ray for each pixel, and one to the sun.
// Shapes and surfaces of soft bodies are seen, joints and particles are not. The file is a PNG with
// a palette and without compression, inside the report.
#include "picture.h"

#include "scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 240, HEIGHT = 150, FRAMES = 20, SUBSTEPS = 8 };
enum { HUES = 8, SHADES = 28, SKY = HUES * SHADES, COLORS = SKY + 1 };
enum { GROUND_HUE = 0, FIXED_HUE = 1, FIRST_HUE = 2 }; // moving bodies take turns with the others

static const double FIELD = 0.36; // tangent of half of the vertical field of view
static const float FAR = 60.0f;   // distances of the camera from its target

// ---------------------------------------------------------------------------------------------
// What rays cannot see otherwise

static void add_box_of_mass(scene_run *run, int number)
{
  tn_body_id body = run->bodies[number];
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  box.half_extents = scene_body_box(run, number);
  box.position = tn_body_mass(run->world, body).center;
  tn_shape_create(run->world, body, &box);
}

static tn_pos end_of(const tn_world *world, tn_body_id body, tn_pos p)
{
  return body.index ? tn_body_world_point(world, body, tn_v3((float)p.x, (float)p.y, (float)p.z))
                    : p;
}

// A rod from end to end, for springs, strings and rods.
static void add_rod(scene_run *run, tn_joint_id joint, float radius)
{
  tn_joint_def def = tn_joint_get_def(run->world, joint);
  tn_pos a = end_of(run->world, def.body_a, def.frame_a.p);
  tn_pos b = end_of(run->world, def.body_b, def.frame_b.p);
  tn_vec3 way = tn_between_points(a, b);
  float length = tn_length(way);
  if (def.kind != TN_JOINT_DISTANCE || length < 3.0f * radius) {
    return;
  }
  tn_body_def still = tn_default_body_def();
  still.type = TN_BODY_STATIC;
  still.position = tn_offset(a, tn_scale(0.5f, way));
  still.rotation = tn_quat_from_to(tn_v3(0.0f, 1.0f, 0.0f), tn_scale(1.0f / length, way));
  tn_shape_def rod = tn_default_shape_def(TN_SHAPE_CAPSULE);
  rod.radius = radius;
  rod.half_length = 0.5f * length;
  tn_shape_create(run->world, tn_body_create(run->world, &still), &rod);
}

static void add_shapes(scene_run *run)
{
  const scene_camera *camera = &run->scene->camera;
  float radius = 0.003f * tn_length(tn_sub(camera->target, camera->eye));
  for (int i = 0; i < run->joint_count; ++i) {
    add_rod(run, run->joints[i], radius);
  }
  for (int i = 0; i < run->body_count; ++i) {
    if (tn_body_shapes(run->world, run->bodies[i], NULL, 0) == 0) {
      add_box_of_mass(run, i);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// The rays

typedef struct view {
  const tn_world *world;
  tn_pos eye;
  tn_vec3 forward, right, up, sun;
  float far;
} view;

static view view_of(const scene_run *run)
{
  const scene_camera *camera = &run->scene->camera;
  tn_vec3 way = tn_sub(camera->target, camera->eye);
  view v = {.world = run->world, .far = FAR * tn_length(way)};
  v.eye = tn_p3((double)camera->eye.x, (double)camera->eye.y, (double)camera->eye.z);
  v.forward = tn_scale(1.0f / tn_length(way), way);
  tn_vec3 right = tn_cross(v.forward, tn_v3(0.0f, 1.0f, 0.0f));
  v.right = tn_scale(1.0f / fmaxf(tn_length(right), 1e-6f), right);
  v.up = tn_cross(v.right, v.forward);
  tn_vec3 sun = tn_add(tn_v3(0.0f, 1.4f, 0.0f), tn_sub(tn_scale(-0.5f, v.right), v.forward));
  v.sun = tn_scale(1.0f / tn_length(sun), sun);
  return v;
}

static int hue_of(const tn_world *world, const tn_hit *hit)
{
  if (hit->soft.index) {
    return FIRST_HUE + (int)(hit->soft.index % (HUES - FIRST_HUE));
  }
  if (hit->body.index && tn_body_get_type(world, hit->body) == TN_BODY_DYNAMIC) {
    return FIRST_HUE + (int)(hit->body.index * 5 % (HUES - FIRST_HUE));
  }
  return tn_shape_get_def(world, hit->shape).kind == TN_SHAPE_PLANE ? GROUND_HUE : FIXED_HUE;
}

// Index of the colour of a pixel: hue times shade, or the sky.
static uint8_t color_at(const view *v, int x, int y)
{
  double across = (2.0 * (x + 0.5) / WIDTH - 1.0) * FIELD * WIDTH / HEIGHT;
  double high = (1.0 - 2.0 * (y + 0.5) / HEIGHT) * FIELD;
  tn_vec3 way =
      tn_add(v->forward, tn_add(tn_scale((float)across, v->right), tn_scale((float)high, v->up)));
  tn_query_filter filter = tn_default_query_filter();
  tn_hit hit = tn_world_ray(v->world, v->eye, tn_scale(v->far, way), filter);
  if (!hit.hit) {
    return SKY;
  }
  tn_vec3 normal = tn_dot(hit.normal, way) > 0.0f ? tn_scale(-1.0f, hit.normal) : hit.normal;
  float light = fmaxf(tn_dot(normal, v->sun), 0.0f);
  if (light > 0.0f) {
    float gap = 2e-4f * v->far / FAR;
    tn_pos from = tn_offset(hit.point, tn_scale(gap, normal));
    light = tn_world_ray(v->world, from, tn_scale(v->far, v->sun), filter).hit ? 0.0f : light;
  }
  float shade = 0.42f + 0.12f * normal.y + 0.46f * light;
  int step = (int)(shade * (float)(SHADES - 1) + 0.5f);
  return (uint8_t)(hue_of(v->world, &hit) * SHADES + (step < 0         ? 0
                                                      : step >= SHADES ? SHADES - 1
                                                                       : step));
}

// ---------------------------------------------------------------------------------------------
// The file

typedef struct bytes {
  uint8_t data[WIDTH * HEIGHT + HEIGHT + 4 * COLORS + 256];
  size_t size;
} bytes;

static void put(bytes *b, const void *data, size_t size)
{
  memcpy(b->data + b->size, data, size);
  b->size += size;
}

static void put_number(bytes *b, uint32_t number)
{
  uint8_t big[4] = {(uint8_t)(number >> 24), (uint8_t)(number >> 16), (uint8_t)(number >> 8),
                    (uint8_t)number};
  put(b, big, sizeof big);
}

static uint32_t crc_of(const uint8_t *data, size_t size)
{
  uint32_t crc = 0xffffffffu;
  for (size_t i = 0; i < size; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) {
      crc = crc & 1 ? (crc >> 1) ^ 0xedb88320u : crc >> 1;
    }
  }
  return ~crc;
}

// Begins a chunk; returns where its name is.
static size_t begin_chunk(bytes *b, const char *name, size_t size)
{
  put_number(b, (uint32_t)size);
  put(b, name, 4);
  return b->size - 4;
}

static void end_chunk(bytes *b, size_t from)
{
  put_number(b, crc_of(b->data + from, b->size - from));
}

static void put_palette(bytes *b)
{
  static const uint8_t hues[HUES][3] = {{233, 226, 214}, {186, 179, 168}, {227, 177, 105},
                                        {214, 127, 92},  {147, 179, 150}, {117, 159, 186},
                                        {196, 154, 112}, {200, 190, 160}};
  size_t chunk = begin_chunk(b, "PLTE", (size_t)3 * COLORS);
  for (int i = 0; i < SKY; ++i) {
    for (int k = 0; k < 3; ++k) {
      uint8_t part = (uint8_t)(hues[i / SHADES][k] * (i % SHADES) / (SHADES - 1));
      put(b, &part, 1);
    }
  }
  put(b, (uint8_t[3]){243, 239, 232}, 3);
  end_chunk(b, chunk);
}

// Rows of pixels as one stored block of a zlib stream.
static void put_pixels(bytes *b, const view *v)
{
  enum { ROW = WIDTH + 1, ALL = ROW * HEIGHT };
  size_t chunk = begin_chunk(b, "IDAT", 2 + 5 + ALL + 4);
  put(b, (uint8_t[]){0x78, 0x01, 1, ALL & 255, ALL >> 8, 255 - (ALL & 255), 255 - (ALL >> 8)}, 7);
  uint32_t low = 1;
  uint32_t high = 0;
  for (int y = 0; y < HEIGHT; ++y) {
    for (int x = -1; x < WIDTH; ++x) {
      uint8_t value = x < 0 ? 0 : color_at(v, x, y); // each row begins with its filter, none
      put(b, &value, 1);
      low = (low + value) % 65521;
      high = (high + low) % 65521;
    }
  }
  put_number(b, high << 16 | low);
  end_chunk(b, chunk);
}

static void draw(bytes *b, const scene_run *run)
{
  view v = view_of(run);
  b->size = 0;
  put(b, "\x89PNG\r\n\x1a\n", 8);
  size_t chunk = begin_chunk(b, "IHDR", 13);
  put_number(b, WIDTH);
  put_number(b, HEIGHT);
  put(b, (uint8_t[]){8, 3, 0, 0, 0}, 5); // bits, palette, and the usual methods
  end_chunk(b, chunk);
  put_palette(b);
  put_pixels(b, &v);
  end_chunk(b, begin_chunk(b, "IEND", 0));
}

static void add_base64(text *out, const bytes *b)
{
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < b->size; i += 3) {
    uint32_t three = 0;
    for (size_t k = 0; k < 3; ++k) {
      three = three << 8 | (i + k < b->size ? b->data[i + k] : 0u);
    }
    char four[4];
    for (size_t k = 0; k < 4; ++k) {
      four[k] = i + k > b->size ? '=' : letters[three >> (18 - 6 * k) & 63];
    }
    text_add_bytes(out, four, 4);
  }
}

void page_picture(page *p, const char *scene_name)
{
  const scene *which = scene_find(scene_name);
  tn_world_def def = tn_default_world_def();
  def.substeps = SUBSTEPS;
  scene_run *run = which ? scene_create(which, NULL, &def) : NULL;
  bytes *b = malloc(sizeof *b);
  if (run && b) {
    for (int i = 0; i < FRAMES; ++i) {
      scene_advance(run, 1.0f / 60.0f);
    }
    add_shapes(run);
    draw(b, run);
    text_add(&p->body,
             "<img class=\"scene\" width=\"%d\" height=\"%d\" alt=\"The scene %s\" src=\"", WIDTH,
             HEIGHT, scene_name);
    text_add(&p->body, "data:image/png;base64,");
    add_base64(&p->body, b);
    text_add(&p->body, "\">\n");
  }
  free(b);
  if (run) {
    scene_destroy(run);
  }
}
