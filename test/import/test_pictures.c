// Height fields from pictures: PNG of all kinds of samples, with random filters, deflated in stored
// blocks, and two that zlib made with fixed and dynamic codes; and damaged ones.
#include "mesh.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 100000 };

typedef struct bytes {
  unsigned char at[MOST_BYTES];
  size_t count;
} bytes;

static unsigned draw(uint32_t *seed)
{
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 16;
}

static void put(bytes *b, unsigned value)
{
  assert_true(b->count < MOST_BYTES);
  b->at[b->count++] = (unsigned char)value;
}

static void put_u32(bytes *b, size_t value)
{
  for (int i = 3; i >= 0; --i) {
    put(b, (unsigned)(value >> (8 * i)) & 255u);
  }
}

// A part of the file; its checksum is not looked at.
static void put_part(bytes *b, const char *kind, const bytes *data)
{
  put_u32(b, data->count);
  for (int i = 0; i < 4; ++i) {
    put(b, (unsigned char)kind[i]);
  }
  for (size_t i = 0; i < data->count; ++i) {
    put(b, data->at[i]);
  }
  put_u32(b, 0);
}

static int paeth(int a, int b, int c)
{
  int pa = abs(b - c), pb = abs(a - c), pc = abs(a + b - 2 * c);
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

// The rows with a filter each, in stored blocks of at most 1,000 bytes.
static void pack(bytes *out, const unsigned char *rows, int height, int length, int pixel,
                 uint32_t *seed)
{
  bytes *plain = calloc(1, sizeof *plain);
  for (int r = 0; r < height; ++r) {
    unsigned filter = draw(seed) % 5;
    put(plain, filter);
    for (int i = 0; i < length; ++i) {
      const unsigned char *at = rows + r * length + i;
      int left = i >= pixel ? at[-pixel] : 0, up = r > 0 ? at[-length] : 0;
      int corner = i >= pixel && r > 0 ? at[-length - pixel] : 0;
      const int guess[5] = {0, left, up, (left + up) / 2, paeth(left, up, corner)};
      put(plain, (unsigned)(*at - guess[filter]) & 255u);
    }
  }
  put(out, 0x78);
  put(out, 1);
  for (size_t at = 0; at < plain->count;) {
    size_t count = plain->count - at < 1000 ? plain->count - at : 1000;
    put(out, at + count == plain->count);
    put(out, count & 255u);
    put(out, (unsigned)(count >> 8));
    put(out, ~count & 255u);
    put(out, (unsigned)(~count >> 8) & 255u);
    for (; count > 0; --count) {
      put(out, plain->at[at++]);
    }
  }
  free(plain);
}

static void make_picture(bytes *out, int kind, int depth, int width, int height, uint32_t *seed,
                         const unsigned char *rows, int length, int pixel)
{
  static const unsigned char start[8] = {137, 80, 78, 71, 13, 10, 26, 10};
  bytes *part = calloc(1, sizeof *part);
  out->count = 0;
  for (int i = 0; i < 8; ++i) {
    put(out, start[i]);
  }
  put_u32(part, (size_t)width);
  put_u32(part, (size_t)height);
  put(part, (unsigned)depth);
  put(part, (unsigned)kind);
  for (int i = 0; i < 3; ++i) {
    put(part, 0);
  }
  put_part(out, "IHDR", part);
  part->count = 0;
  for (int i = 0; i < 256 * 3 && kind == 3; ++i) {
    put(part, (unsigned)(i * 7) & 255u);
  }
  put_part(out, kind == 3 ? "PLTE" : "tEXt", part);
  part->count = 0;
  pack(part, rows, height, length, pixel, seed);
  put_part(out, "IDAT", part);
  free(part);
}

static void pictures_have_their_samples(void **state)
{
  (void)state;
  static const int channels[7] = {1, 0, 3, 1, 2, 0, 4};
  static const int kinds[15][2] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {2, 8}, {2, 16}, {3, 1},
                                   {3, 2}, {3, 4}, {3, 8}, {4, 8}, {4, 16}, {6, 8}, {6, 16}};
  uint32_t seed = 1;
  bytes *file = calloc(1, sizeof *file);
  unsigned char *rows = calloc(MOST_BYTES, 1);
  for (int trial = 0; trial < 60; ++trial) {
    int kind = kinds[trial % 15][0], depth = kinds[trial % 15][1];
    int width = 2 + (int)(draw(&seed) % 40), height = 2 + (int)(draw(&seed) % 40);
    int bits = depth * channels[kind], length = (width * bits + 7) / 8;
    for (int i = 0; i < length * height; ++i) {
      rows[i] = (unsigned char)draw(&seed);
    }
    make_picture(file, kind, depth, width, height, &seed, rows, length, bits < 8 ? 1 : bits / 8);
    memory m = {0};
    int h = 0, w = 0;
    const char *why = NULL;
    double *samples = png_read(&m, (const char *)file->at, file->count, &h, &w, &why);
    assert_non_null(samples);
    assert_int_equal(h, height);
    assert_int_equal(w, width);
    for (int i = 0; i < width * height; ++i) {
      int bit = i % width * bits;
      const unsigned char *at = rows + i / width * length + bit / 8;
      int value = depth < 8 ? *at >> (8 - depth - bit % 8) & ((1 << depth) - 1) : *at;
      double want = kind == 3   ? value * 21 % 256
                    : depth < 8 ? 255.0 * value / ((1 << depth) - 1)
                                : value;
      assert_close(samples[i], want, 1e-9);
    }
    memory_free(&m);
  }
  free(rows);
  free(file);
}

static const unsigned char by_zlib[] = {
    137, 80,  78,  71,  13,  10,  26,  10,  0,   0,   0,   13,  73,  72,  68,  82,  0,
    0,   0,   30,  0,   0,   0,   24,  8,   0,   0,   0,   0,   200, 2,   18,  99,  0,
    0,   0,   61,  73,  68,  65,  84,  120, 218, 237, 207, 49,  1,   192, 0,   16,  194,
    64,  148, 160, 4,   37,  40,  121, 37,  40,  65,  96,  199, 78,  84,  65,  179, 220,
    28,  224, 187, 20,  148, 111, 225, 64,  87,  46,  120, 112, 149, 69,  141, 99,  52,
    17,  98,  118, 33,  162, 57,  47,  254, 177, 127, 236, 229, 1,   144, 25,  213, 223,
    37,  141, 204, 119, 0,   0,   0,   0,   73,  69,  78,  68,  174, 66,  96,  130,
};

static const unsigned char by_fixed_codes[] = {
    137, 80,  78,  71,  13,  10,  26,  10,  0,   0,   0,   13,  73,  72,  68,  82,  0,   0,   0,
    30,  0,   0,   0,   24,  8,   0,   0,   0,   0,   200, 2,   18,  99,  0,   0,   0,   72,  73,
    68,  65,  84,  120, 1,   99,  96,  192, 15,  166, 109, 97,  144, 179, 137, 170, 192, 69,  69,
    77,  99,  176, 169, 216, 34,  135, 139, 146, 171, 96,  136, 218, 98,  51,  13,  23,  181, 37,
    138, 161, 66,  110, 154, 13,  78,  202, 134, 97,  90,  148, 220, 22,  92,  148, 141, 28,  195,
    150, 105, 21,  81,  184, 168, 81,  143, 141, 122, 12,  65,  1,   0,   144, 25,  213, 223, 51,
    201, 255, 107, 0,   0,   0,   0,   73,  69,  78,  68,  174, 66,  96,  130,
};

// Sample (row r, column c) is (r c + 5 r) mod 7 times 30.
static void codes_of_zlib_are_read(void **state)
{
  (void)state;
  for (int trial = 0; trial < 2; ++trial) {
    memory m = {0};
    int rows = 0, columns = 0;
    const char *why = NULL;
    const unsigned char *text = trial ? by_fixed_codes : by_zlib;
    size_t size = trial ? sizeof by_fixed_codes : sizeof by_zlib;
    double *samples = png_read(&m, (const char *)text, size, &rows, &columns, &why);
    assert_non_null(samples);
    assert_int_equal(rows, 24);
    assert_int_equal(columns, 30);
    for (int i = 0; i < rows * columns; ++i) {
      int r = i / columns, c = i % columns;
      assert_true(samples[i] == (double)((r * c + 5 * r) % 7 * 30));
    }
    memory_free(&m);
  }
}

// A file that is cut anywhere, or in which a bit is turned, is refused or read, within its bounds.
static void damaged_pictures_are_refused(void **state)
{
  (void)state;
  int refused = 0;
  uint32_t seed = 3;
  char *text = malloc(sizeof by_zlib);
  for (size_t i = 0; i < sizeof by_zlib * 2; ++i) {
    size_t size = i < sizeof by_zlib ? i : sizeof by_zlib;
    memory m = {0};
    int rows, columns;
    const char *why = NULL;
    memcpy(text, by_zlib, sizeof by_zlib);
    if (i >= sizeof by_zlib) {
      text[i - sizeof by_zlib] = (char)(text[i - sizeof by_zlib] ^ (char)(1 << draw(&seed) % 8));
    }
    double *samples = png_read(&m, text, size, &rows, &columns, &why);
    assert_true(samples || why);
    refused += !samples;
    memory_free(&m);
  }
  free(text);
  assert_true(refused > (int)sizeof by_zlib - 30);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pictures_have_their_samples),
      cmocka_unit_test(codes_of_zlib_are_read),
      cmocka_unit_test(damaged_pictures_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
