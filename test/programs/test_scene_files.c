// Scene files: written scenes are read back bit for bit, mistakes give one line with their place,
// and no text crashes the reader.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)

#include "contact_support.h"
#include "scene_file.h"

#include <string.h>
#include <unistd.h>

// ---------------------------------------------------------------------------------------------
// Helpers

// Reads a stream from its start; the caller frees the text.
static char *text_of(FILE *file, size_t *size)
{
  long end = ftell(file);
  assert_true(end >= 0);
  rewind(file);
  char *text = malloc((size_t)end + 1);
  assert_non_null(text);
  *size = fread(text, 1, (size_t)end, file);
  text[*size] = '\0';
  fclose(file);
  return text;
}

static char *export_text(const scene *which, const scene_settings *settings,
                         const tn_world_def *def, size_t *size)
{
  char error[SCENE_FILE_ERROR] = "";
  FILE *file = tmpfile();
  assert_non_null(file);
  if (!scene_file_write(which, settings, def, which->seconds, file, error)) {
    fail_msg("%s: %s", which->name, error);
  }
  return text_of(file, size);
}

static scene_file *parse_text(const char *text, size_t size)
{
  char error[SCENE_FILE_ERROR] = "";
  scene_file *file = scene_file_parse("scene.json", text, size, error);
  if (!file) {
    fail_msg("%s", error);
  }
  return file;
}

static scene_file *parse(const char *text)
{
  return parse_text(text, strlen(text));
}

// Returns the message for an invalid text.
static const char *complaint(const char *text)
{
  static char error[SCENE_FILE_ERROR];
  error[0] = '\0';
  scene_file *file = scene_file_parse("scene.json", text, strlen(text), error);
  if (file) {
    scene_file_free(file);
    fail_msg("nothing was found wrong with %s", text);
  }
  return error;
}

// ---------------------------------------------------------------------------------------------
// Every scene

static scene_settings small_settings(const scene *which)
{
  static const char *const names[] = {"count", "base", "layers", "across"};
  static const double most[] = {60.0, 8.0, 6.0, 15.0};
  scene_settings settings = scene_defaults(which);
  for (int i = 0; i < 4; ++i) {
    const scene_parameter *p = scene_parameter_find(which, names[i]);
    if (p && p->value > most[i] && p->lo <= most[i]) {
      scene_set(which, &settings, names[i], most[i]);
    }
  }
  return settings;
}

static void compare_metrics(const scene_run *a, const scene_run *b)
{
  scene_metric x[SCENE_MAX_METRICS], y[SCENE_MAX_METRICS];
  int count = scene_metrics(a, x, SCENE_MAX_METRICS);
  assert_int_equal(scene_metrics(b, y, SCENE_MAX_METRICS), count);
  for (int i = 0; i < count && i < SCENE_MAX_METRICS; ++i) {
    assert_string_equal(x[i].name, y[i].name);
    if (!(x[i].value == y[i].value)) {
      fail_msg("%s: %s is %.17g and %.17g", a->scene->name, x[i].name, x[i].value, y[i].value);
    }
  }
}

// The scene read from its file moves equally, step by step, and writes the same file.
static void compare_with_file(const scene *which, const scene_settings *settings, int frames)
{
  tn_world_def def = test_world_def(which->substeps, TN_METHOD_TENON);
  size_t size, again_size;
  char *text = export_text(which, settings, &def, &size);
  scene_file *file = parse_text(text, size);
  tn_world_def file_def = test_world_def(1, TN_METHOD_XPBD);
  scene_file_world(file, &file_def);
  scene_run *built = scene_create(which, settings, &def);
  scene_run *read = scene_create(scene_file_scene(file), NULL, &file_def);
  assert_non_null(built);
  assert_non_null(read);
  for (int i = 0; i <= frames; ++i) {
    if (tn_world_hash(built->world) != tn_world_hash(read->world)) {
      fail_msg("%s: the file's world differs after %d frames", which->name, i);
    }
    scene_step(built, 1.0f / 60.0f);
    scene_step(read, 1.0f / 60.0f);
  }
  compare_metrics(built, read);
  char *again = export_text(scene_file_scene(file), NULL, &file_def, &again_size);
  assert_int_equal(size, again_size);
  assert_memory_equal(text, again, size);
  scene_destroy(built);
  scene_destroy(read);
  scene_file_free(file);
  free(again);
  free(text);
}

static void every_scene_is_read_back_from_its_file(void **unused)
{
  (void)unused;
  int count;
  const scene *const *all = scene_list(&count);
  for (int i = 0; i < count; ++i) {
    scene_settings settings = small_settings(all[i]);
    compare_with_file(all[i], &settings, 10);
  }
}

// Each parameter is moved towards its lower end, where scenes are small.
static void parameters_that_changed_are_in_the_file(void **unused)
{
  (void)unused;
  int count;
  const scene *const *all = scene_list(&count);
  for (int i = 0; i < count; ++i) {
    scene_settings settings = small_settings(all[i]);
    for (int k = 0; k < SCENE_MAX_PARAMETERS && all[i]->parameters[k].name; ++k) {
      const scene_parameter *p = &all[i]->parameters[k];
      double value = 0.7 * settings.value[k] + 0.3 * p->lo;
      scene_set(all[i], &settings, p->name, p->whole ? floor(value) : value);
    }
    compare_with_file(all[i], &settings, 3);
  }
}

static void solver_settings_are_in_the_file(void **unused)
{
  (void)unused;
  scene_file *file = parse("{\"tenon\": 1, \"seconds\": 2.5, \"world\": {\"gravity\": [1, 2, 3], "
                           "\"method\": \"jacobi\", \"substeps\": 7, \"iterations\": 3, "
                           "\"sleeping\": false}}");
  tn_world_def def = tn_default_world_def();
  scene_file_world(file, &def);
  assert_int_equal(def.method, TN_METHOD_JACOBI);
  assert_int_equal(def.substeps, 7);
  assert_int_equal(def.iterations, 3);
  assert_false(def.sleeping);
  assert_true(def.gravity.x == 1.0f && def.gravity.y == 2.0f && def.gravity.z == 3.0f);
  const scene *s = scene_file_scene(file);
  assert_true(s->seconds == 2.5);
  assert_string_equal(s->name, "scene");
  scene_run *run = scene_create(s, NULL, &def);
  assert_true(tn_world_gravity(run->world).z == 3.0f);
  scene_destroy(run);
  scene_file_free(file);
}

// ---------------------------------------------------------------------------------------------
// Content of a file

static void hard_numbers_are_read_back_exactly(void **unused)
{
  (void)unused;
  scene_file *file =
      parse("{\"tenon\": 1, \"bodies\": [{\"position\": [0.1, 1e-320, 123456789.12345679],"
            "\"velocity\": [0.1, 1e-40, -0.0], \"angular_velocity\": [999999995904, 16777217, 1],"
            "\"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.3, \"filter\":"
            "{\"mask\": \"0xfffffffffffffffe\", \"category\": 9007199254740993}}]}]}");
  tn_world_def def = test_world_def(20, TN_METHOD_TENON);
  size_t size;
  char *text = export_text(scene_file_scene(file), NULL, &def, &size);
  scene_file *second = parse_text(text, size);
  scene_run *a = scene_create(scene_file_scene(file), NULL, &def);
  scene_run *b = scene_create(scene_file_scene(second), NULL, &def);
  assert_true(tn_world_hash(a->world) == tn_world_hash(b->world));
  tn_pos at = tn_body_position(b->world, b->bodies[0]);
  assert_true(at.x == 0.1 && at.y == 1e-320 && at.z == 123456789.12345679);
  tn_vec3 v = tn_body_velocity(b->world, b->bodies[0]);
  assert_true(v.x == 0.1f && v.y == 1e-40f && signbit(v.z));
  tn_shape_id shape;
  tn_body_shapes(b->world, b->bodies[0], &shape, 1);
  assert_true(tn_shape_get_def(b->world, shape).filter.mask == 0xfffffffffffffffeull);
  scene_destroy(a);
  scene_destroy(b);
  scene_file_free(second);
  scene_file_free(file);
  free(text);
}

// Mass by number, by density, in full; the reference is that of the ball and the box.
static void masses_match_their_definition(void **unused)
{
  (void)unused;
  scene_file *file = parse(
      "{\"tenon\": 1, \"bodies\": ["
      "{\"mass\": 3, \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.5}]},"
      "{\"shapes\": [{\"kind\": \"box\", \"half_extents\": [1, 0.5, 0.25], \"density\": 10}]},"
      "{\"mass\": {\"mass\": 2, \"center\": [0, 1, 0], \"inertia\": [1, 2, 2.5, 0, 0, 0]}}]}");
  tn_world_def def = test_world_def(20, TN_METHOD_TENON);
  scene_run *run = scene_create(scene_file_scene(file), NULL, &def);
  tn_mass ball = tn_body_mass(run->world, run->bodies[0]);
  assert_close(ball.mass, 3.0, 1e-6);
  assert_close(ball.inertia.xx, 0.4 * 3.0 * 0.25, 1e-6);
  tn_mass box = tn_body_mass(run->world, run->bodies[1]);
  assert_close(box.mass, 10.0, 1e-5);
  assert_close(box.inertia.xx, 10.0 / 3.0 * (0.25 + 0.0625), 1e-5);
  tn_mass given = tn_body_mass(run->world, run->bodies[2]);
  assert_true(given.mass == 2.0f && given.center.y == 1.0f && given.inertia.zz == 2.5f);
  assert_close(run->weighing_mass, 15.0, 1e-5);
  scene_destroy(run);
  scene_file_free(file);
}

static void joints_can_be_placed_in_three_ways(void **unused)
{
  (void)unused;
  scene_file *file = parse(
      "{\"tenon\": 1, \"bodies\": [{\"name\": \"a\", \"position\": [1, 0, 0]},"
      "{\"name\": \"b\", \"position\": [3, 4, 0], \"rotation\": {\"axis\": [0, 0, 2], "
      "\"degrees\": 90}}], \"joints\": ["
      "{\"kind\": \"hinge\", \"bodies\": [null, \"a\"], \"at\": [0, 0, 0], \"axis\": [0, 0, 1]},"
      "{\"kind\": \"distance\", \"bodies\": [\"a\", \"b\"], \"from\": [1, 0, 0], \"to\": [4, 4, "
      "0]},"
      "{\"kind\": \"ball\", \"bodies\": [\"a\", 1], \"frame_b\": {\"position\": [0, 1, 0]}},"
      "{\"kind\": \"distance\", \"bodies\": [null, 0], \"from\": [0, 0, 0], \"to\": [1, 0, 0],"
      "\"linear\": [[null, 2]]}]}");
  tn_world_def def = test_world_def(20, TN_METHOD_TENON);
  scene_run *run = scene_create(scene_file_scene(file), NULL, &def);
  tn_joint_def hinge = tn_joint_get_def(run->world, run->joints[0]);
  assert_close(hinge.frame_b.p.x, -1.0, 1e-12);
  assert_close(tn_rotate(hinge.frame_a.q, tn_v3(1.0f, 0.0f, 0.0f)).z, 1.0, 1e-6);
  tn_joint_def rod = tn_joint_get_def(run->world, run->joints[1]);
  assert_close(rod.linear[0].lo, 5.0, 1e-6);
  assert_close(rod.frame_b.p.y, -1.0, 1e-6); // 1 m along x, in a frame rotated by 90 degrees
  assert_true(tn_joint_get_def(run->world, run->joints[2]).frame_b.p.y == 1.0);
  tn_range rope = tn_joint_get_def(run->world, run->joints[3]).linear[0];
  assert_true(rope.lo == -INFINITY && rope.hi == 2.0f);
  scene_destroy(run);
  scene_file_free(file);
}

// Every kind of geometry, every mesh, materials by name, an attachment.
static void all_kinds_of_objects_are_read_back(void **unused)
{
  (void)unused;
  scene_file *file = scene_file_load(SCENE_FILES "/all_kinds.json", (char[SCENE_FILE_ERROR]){0});
  assert_non_null(file);
  const scene *s = scene_file_scene(file);
  compare_with_file(s, NULL, 30);
  tn_world_def def = test_world_def(20, TN_METHOD_TENON);
  scene_run *run = scene_create(s, NULL, &def);
  tn_counters counters = tn_world_counters(run->world);
  assert_int_equal(counters.geometries, 4);
  assert_int_equal(counters.softs, 7);
  assert_int_equal(tn_world_attachments(run->world, NULL, 0), 2);
  assert_int_equal(run->body_count, counters.bodies - 2); // without the scenery
  scene_destroy(run);
  scene_file_free(file);
}

// A servo follows its motion, lagging by damping / stiffness times the rate, and begins again.
static void motions_move_servos(void **unused)
{
  (void)unused;
  scene_file *file =
      parse("{\"tenon\": 1, \"world\": {\"gravity\": [0, 0, 0]}, \"bodies\": [{\"name\": \"arm\", "
            "\"position\": [0.5, 0, 0], \"mass\": 0.1, \"shapes\": [{\"kind\": \"sphere\", "
            "\"radius\": 0.1}]}], \"joints\": [{\"kind\": \"hinge\", \"bodies\": [null, \"arm\"], "
            "\"at\": [0, 0, 0], \"axis\": [0, 0, 1], \"angular_a\": {\"drive\": {\"stiffness\": "
            "5000, \"damping\": 50}}}], "
            "\"motions\": [{\"joint\": 0, \"times\": [0, 1, 2], \"targets\": [0, 1, 0], "
            "\"repeat\": true}]}");
  const scene *s = scene_file_scene(file);
  compare_with_file(s, NULL, 30);
  tn_world_def def = test_world_def(20, TN_METHOD_TENON);
  scene_run *run = scene_create(s, NULL, &def);
  for (int frame = 1; frame <= 210; ++frame) {
    scene_step(run, 1.0f / 60.0f);
    double angle = (double)tn_joint_get_state(run->world, run->joints[0]).angle.x;
    if (frame == 30) {
      assert_close(angle, 0.5, 0.02);
    } else if (frame == 90) {
      assert_close(angle, 0.5, 0.02);
    } else if (frame == 168) {
      assert_close(angle, 0.8, 0.02);
    }
  }
  scene_destroy(run);
  scene_file_free(file);
}

// ---------------------------------------------------------------------------------------------
// Mistakes

// scene_files/bad.txt has the message for each file of scene_files/bad.
static void bad_files_get_one_line_each(void **unused)
{
  (void)unused;
  FILE *list = fopen(SCENE_FILES "/bad.txt", "rb");
  assert_non_null(list);
  char line[SCENE_FILE_ERROR], error[SCENE_FILE_ERROR], path[600];
  int count = 0;
  while (fgets(line, sizeof line, list)) {
    line[strcspn(line, "\n")] = '\0';
    int name = (int)strcspn(line, ":");
    snprintf(path, sizeof path, SCENE_FILES "/bad/%.*s", name, line);
    assert_null(scene_file_load(path, error));
    assert_true(strncmp(error, SCENE_FILES "/bad/", sizeof SCENE_FILES + 4) == 0);
    assert_string_equal(error + sizeof SCENE_FILES + 4, line);
    count += 1;
  }
  fclose(list);
  assert_in_range(count, 20, 1000);
}

static void unreadable_files_are_reported(void **unused)
{
  (void)unused;
  char error[SCENE_FILE_ERROR];
  assert_null(scene_file_load(SCENE_FILES "/none.json", error));
  assert_non_null(strstr(error, "none.json: No such file"));
  assert_null(scene_file_load(SCENE_FILES, error));
  assert_non_null(strstr(error, "Is a directory"));
}

static void mistakes_are_located_in_any_layout(void **unused)
{
  (void)unused;
  assert_string_equal(complaint(""), "scene.json:1: invalid JSON: unexpected end of file");
  assert_string_equal(complaint("{\"tenon\":1,\"a\\u0062\":[{\"}\":1}],\n\"seconds\":-1}"),
                      "scene.json:1: ab: unknown key; known keys are $schema, tenon, name, title, "
                      "source, seconds, conserves, energy_scale, camera, world, behaviour, "
                      "materials, geometries, shapes, bodies, joints, couplings, soft_bodies, "
                      "attachments, motions");
  assert_string_equal(complaint("\n{\"tenon\":1,\r\n\"name\":\"}],{\\\"\",\n\"seconds\" \n: -1}"),
                      "scene.json:4: seconds: must be above 0, up to 36000");
  assert_string_equal(complaint("{\"tenon\":1}\n{}"), "scene.json:2: invalid JSON at '{}'");
  assert_string_equal(complaint("{\"tenon\":1,\n\"bodies\":[{},\n{\"mass\":true}]}"),
                      "scene.json:3: bodies[1].mass: must be a number");
  assert_string_equal(complaint("{\"tenon\":1,\n\"bodies\":[{},{\"name\":\n\"a\\nb\", \"x\":1}]}"),
                      "scene.json:3: bodies[1].x: unknown key; known keys are name, type, "
                      "position, rotation, velocity, angular_velocity, mass, gravity_scale, "
                      "linear_damping, angular_damping, max_speed, max_angular_speed, can_sleep, "
                      "bullet, scenery, shapes");
}

static void size_limits_are_enforced(void **unused)
{
  (void)unused;
  enum { MUCH = 12 << 20 };
  char *text = malloc(MUCH + 1);
  assert_non_null(text);
  memset(text, '[', MUCH);
  text[MUCH] = '\0';
  assert_non_null(strstr(complaint(text), "nested too deeply"));
  for (int i = 1; i < MUCH; i += 2) {
    text[i - 1] = ',';
    text[i] = '1';
  }
  text[0] = '[';
  assert_non_null(strstr(complaint(text), "too many values"));
  memset(text, '9', MUCH);
  assert_non_null(strstr(complaint(text), "word or number too long"));
  size_t size = (size_t)sprintf(text, "{\"tenon\": 1,\n\"bodies\": [");
  for (int i = 0; i <= 100000; ++i) {
    size += (size_t)sprintf(text + size, "%s{}", i ? "," : "");
  }
  sprintf(text + size, "]}");
  assert_string_equal(complaint(text), "scene.json:2: bodies: has more than 100000 items");
  free(text);
}

// ---------------------------------------------------------------------------------------------
// Fuzzing: valid texts with random changes, the same on every machine

static uint32_t next_random(uint32_t *state)
{
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

typedef struct mutant {
  char *text;
  size_t size, capacity;
} mutant;

static void replace(mutant *m, size_t from, size_t length, const char *with, size_t with_length)
{
  if (from + length > m->size || m->size - length + with_length > m->capacity) {
    return;
  }
  memmove(m->text + from + with_length, m->text + from + length, m->size - from - length);
  memcpy(m->text + from, with, with_length);
  m->size = m->size - length + with_length;
}

static void mutate(mutant *m, uint32_t *state)
{
  static const char *const words[] = {
      "null",    "true",      "-1",      "0",   "1e999", "1e-999", "\"\"", "[]",   "{}",
      "[",       "]",         "{",       "}",   ",",     ":",      "\"",   "\\",   "NaN",
      "\\u0000", "\\ud800",   "1e38",    "0.5", "-0.0",  "2147",   "1e7",  "\xff", "\n",
      "4294967", "\"world\"", "[0,0,0]", "99",  "1e-7",  "/*",     "[[1]]"};
  size_t at = next_random(state) % (m->size + 1), other = next_random(state) % (m->size + 1);
  size_t length = next_random(state) % 12;
  const char *word = words[next_random(state) % (sizeof words / sizeof words[0])];
  char copy[64];
  switch (next_random(state) % 6) {
  case 0: // changes a byte
    copy[0] = (char)(next_random(state) & 0xff);
    replace(m, at, 1, copy, 1);
    break;
  case 1: // deletes a piece
    replace(m, at, length, "", 0);
    break;
  case 2: // inserts a word
    replace(m, at, 0, word, strlen(word));
    break;
  case 3: // replaces a number or word
    while (at < m->size && !strchr("0123456789\"", m->text[at])) {
      at += 1;
    }
    length = at < m->size ? strcspn(m->text + at + 1, ",]} \n:") + 1 : 0;
    replace(m, at, length, word, strlen(word));
    break;
  case 4: // copies a piece elsewhere
    length = other + sizeof copy < m->size ? sizeof copy : 0;
    memcpy(copy, m->text + other, length);
    replace(m, at, 0, copy, length);
    break;
  default: // truncates, rarely
    m->size = next_random(state) % 10 == 0 ? at : m->size;
    break;
  }
  m->text[m->size] = '\0';
}

// Returns whether the text is still a valid scene.
static bool check_mutant(const mutant *m)
{
  char error[SCENE_FILE_ERROR] = "";
  scene_file *file = scene_file_parse("f.json", m->text, m->size, error);
  if (file) {
    scene_file_free(file);
    return true;
  }
  char *end;
  bool told = strncmp(error, "f.json:", 7) == 0 && strtol(error + 7, &end, 10) >= 1 && *end == ':';
  if (!told || strlen(end) < 5 || strpbrk(error, "\n\r")) {
    fail_msg("'%s' for\n%s", error, m->text);
  }
  return false;
}

static int fuzz(const char *text, size_t size, int rounds, uint32_t seed)
{
  mutant m = {malloc(2 * size + 1001), 0, 2 * size + 1000};
  assert_non_null(m.text);
  int good = 0;
  for (int i = 0; i < rounds; ++i) {
    memcpy(m.text, text, size);
    m.size = size;
    m.text[size] = '\0';
    int changes = 1 + (int)(next_random(&seed) % 4);
    for (int k = 0; k < changes; ++k) {
      mutate(&m, &seed);
    }
    good += check_mutant(&m);
  }
  free(m.text);
  return good;
}

static void no_text_crashes_the_reader(void **unused)
{
  (void)unused;
  static const char *const names[] = {"steering", "arch", "joint_zoo", "marble_impulse"};
  enum { ROUNDS = 1000 };
  int good = 0;
  FILE *said = tmpfile();
  assert_non_null(said);
  int kept = dup(STDERR_FILENO);
  dup2(fileno(said), STDERR_FILENO);
  for (int i = 0; i < 4; ++i) {
    const scene *which = scene_find(names[i]);
    tn_world_def def = test_world_def(which->substeps, TN_METHOD_TENON);
    size_t size;
    char *text = export_text(which, NULL, &def, &size);
    good += fuzz(text, size, ROUNDS, 17u + (uint32_t)i);
    free(text);
  }
  FILE *file = fopen(SCENE_FILES "/all_kinds.json", "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  size_t size;
  char *text = text_of(file, &size);
  good += fuzz(text, size, ROUNDS, 99u);
  free(text);
  fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  assert_int_equal(fseek(said, 0, SEEK_END), 0);
  assert_int_equal(ftell(said), 0); // nothing but the message
  fclose(said);
  assert_in_range(good, 100, 5 * ROUNDS - 1000); // some stay valid, most do not
}

// ---------------------------------------------------------------------------------------------
// The schema

static void the_published_schema_is_that_of_the_reader(void **unused)
{
  (void)unused;
  size_t size, published_size;
  FILE *now = tmpfile(), *published = fopen(SCENE_SCHEMA, "rb");
  assert_non_null(now);
  assert_non_null(published); // 'tenon schema' prints it
  scene_file_write_schema(now);
  fseek(published, 0, SEEK_END);
  char *a = text_of(now, &size), *b = text_of(published, &published_size);
  assert_int_equal(size, published_size);
  assert_memory_equal(a, b, size);
  free(a);
  free(b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_scene_is_read_back_from_its_file),
      cmocka_unit_test(parameters_that_changed_are_in_the_file),
      cmocka_unit_test(solver_settings_are_in_the_file),
      cmocka_unit_test(hard_numbers_are_read_back_exactly),
      cmocka_unit_test(masses_match_their_definition),
      cmocka_unit_test(joints_can_be_placed_in_three_ways),
      cmocka_unit_test(all_kinds_of_objects_are_read_back),
      cmocka_unit_test(motions_move_servos),
      cmocka_unit_test(bad_files_get_one_line_each),
      cmocka_unit_test(unreadable_files_are_reported),
      cmocka_unit_test(mistakes_are_located_in_any_layout),
      cmocka_unit_test(size_limits_are_enforced),
      cmocka_unit_test(no_text_crashes_the_reader),
      cmocka_unit_test(the_published_schema_is_that_of_the_reader),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
