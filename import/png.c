// Pictures in PNG (ISO/IEC 15948): the first channel of those that are not interlaced, through the
// deflate format (RFC 1951). Sums that protect the data are not checked.
#include "mesh.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------
// Deflate

typedef struct bit_stream {
  const unsigned char *at, *end;
  uint32_t bits;
  int count;   // of bits that are held
  bool failed; // read beyond the end, or met a code that is not there
} bit_stream;

static uint32_t take_bits(bit_stream *s, int count)
{
  while (s->count < count) {
    s->failed = s->failed || s->at == s->end;
    s->bits |= (uint32_t)(s->at < s->end ? *s->at++ : 0) << s->count;
    s->count += 8;
  }
  uint32_t out = s->bits & ((1u << count) - 1u);
  s->bits >>= count;
  s->count -= count;
  return out;
}

enum { MAX_CODE = 15, MAX_SYMBOLS = 288 };

// A canonical code: how many symbols have each length, and the symbols in the order of codes.
typedef struct prefix_code {
  int count[MAX_CODE + 1];
  int symbol[MAX_SYMBOLS];
} prefix_code;

static void make_code(prefix_code *code, const unsigned char *lengths, int symbols)
{
  int next[MAX_CODE + 2] = {0};
  memset(code, 0, sizeof *code);
  for (int i = 0; i < symbols; ++i) {
    code->count[lengths[i]] += 1;
  }
  code->count[0] = 0;
  for (int i = 1; i <= MAX_CODE; ++i) {
    next[i + 1] = next[i] + code->count[i];
  }
  for (int i = 0; i < symbols; ++i) {
    if (lengths[i]) {
      code->symbol[next[lengths[i]]++] = i;
    }
  }
}

static int take_symbol(bit_stream *s, const prefix_code *code)
{
  int value = 0, first = 0, before = 0;
  for (int length = 1; length <= MAX_CODE; ++length) {
    value |= (int)take_bits(s, 1);
    if (value - first < code->count[length]) {
      return code->symbol[before + value - first];
    }
    before += code->count[length];
    first = (first + code->count[length]) << 1;
    value <<= 1;
  }
  s->failed = true;
  return 0;
}

static void fixed_codes(prefix_code *literals, prefix_code *distances)
{
  unsigned char lengths[MAX_SYMBOLS];
  for (int i = 0; i < MAX_SYMBOLS; ++i) {
    lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
  }
  make_code(literals, lengths, MAX_SYMBOLS);
  memset(lengths, 5, 30);
  make_code(distances, lengths, 30);
}

static void take_codes(bit_stream *s, prefix_code *literals, prefix_code *distances)
{
  static const unsigned char order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                          11, 4,  12, 3, 13, 2, 14, 1, 15};
  unsigned char lengths[320] = {0};
  int literal_count = (int)take_bits(s, 5) + 257, distance_count = (int)take_bits(s, 5) + 1;
  int used = (int)take_bits(s, 4) + 4, total = literal_count + distance_count;
  for (int i = 0; i < used; ++i) {
    lengths[order[i]] = (unsigned char)take_bits(s, 3);
  }
  prefix_code of_lengths;
  make_code(&of_lengths, lengths, 19);
  memset(lengths, 0, sizeof lengths);
  for (int i = 0; i < total && !s->failed;) {
    int symbol = take_symbol(s, &of_lengths), repeat = 1, value = symbol;
    if (symbol == 16) {
      repeat = 3 + (int)take_bits(s, 2);
      value = i > 0 ? lengths[i - 1] : 0;
    } else if (symbol > 16) {
      repeat = symbol == 17 ? 3 + (int)take_bits(s, 3) : 11 + (int)take_bits(s, 7);
      value = 0;
    }
    for (; repeat > 0 && i < total; --repeat) {
      lengths[i++] = (unsigned char)value;
    }
  }
  s->failed = s->failed || literal_count > 286;
  make_code(literals, lengths, literal_count < MAX_SYMBOLS ? literal_count : MAX_SYMBOLS);
  make_code(distances, lengths + literal_count, distance_count);
}

typedef struct byte_buffer {
  unsigned char *bytes;
  size_t count, capacity;
} byte_buffer;

static void put_byte(bit_stream *s, byte_buffer *out, unsigned value)
{
  if (out->count < out->capacity) {
    out->bytes[out->count++] = (unsigned char)value;
  } else {
    s->failed = true;
  }
}

static void take_stored(bit_stream *s, byte_buffer *out)
{
  s->bits = 0;
  s->count = 0;
  uint32_t length = take_bits(s, 16);
  take_bits(s, 16); // its complement
  for (; length > 0 && !s->failed; --length) {
    put_byte(s, out, take_bits(s, 8));
  }
}

// A copy of what came `distance` bytes before. Lengths and distances have a base and further bits.
static void take_copy(bit_stream *s, byte_buffer *out, int symbol, const prefix_code *distances)
{
  static const short lengths[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                    31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
  static const short bases[30] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                  33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                  1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
  int more = symbol < 8 || symbol == 28 ? 0 : (symbol - 4) / 4;
  if (symbol > 28) {
    s->failed = true;
    return;
  }
  int length = lengths[symbol] + (int)take_bits(s, more);
  int code = take_symbol(s, distances);
  if (code > 29) {
    s->failed = true;
    return;
  }
  size_t distance = (size_t)bases[code] + take_bits(s, code < 4 ? 0 : (code - 2) / 2);
  s->failed = s->failed || distance > out->count;
  for (; length > 0 && !s->failed; --length) {
    put_byte(s, out, out->bytes[out->count - distance]);
  }
}

// Fills `out`; false if the data ends before, or is no deflate.
static bool inflate(const unsigned char *data, size_t size, byte_buffer *out)
{
  bit_stream s = {.at = data, .end = data + size};
  for (bool last = false; !last && !s.failed && out->count < out->capacity;) {
    last = take_bits(&s, 1);
    uint32_t kind = take_bits(&s, 2);
    prefix_code literals, distances;
    if (kind == 0) {
      take_stored(&s, out);
      continue;
    }
    if (kind == 1) {
      fixed_codes(&literals, &distances);
    } else {
      s.failed = s.failed || kind == 3;
      take_codes(&s, &literals, &distances);
    }
    for (int symbol = 0; symbol != 256 && !s.failed;) {
      symbol = take_symbol(&s, &literals);
      if (symbol < 256) {
        put_byte(&s, out, (unsigned)symbol);
      } else if (symbol > 256) {
        take_copy(&s, out, symbol - 257, &distances);
      }
    }
  }
  return !s.failed && out->count == out->capacity;
}

// ---------------------------------------------------------------------------------------------
// Pictures

typedef struct picture {
  uint32_t columns, rows;
  int depth, kind, channels; // bits of a sample; colour type; samples of a pixel
  const unsigned char *palette;
  size_t colours;
} picture;

static uint32_t big_u32(const unsigned char *b)
{
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
}

static const char *read_header(const unsigned char *b, size_t size, picture *p)
{
  static const int channels[7] = {1, 0, 3, 1, 2, 0, 4};
  if (size < 33 || memcmp(b + 12, "IHDR", 4) != 0) {
    return "is no PNG: it has no header";
  }
  p->columns = big_u32(b + 16);
  p->rows = big_u32(b + 20);
  p->depth = b[24];
  p->kind = b[25];
  p->channels = p->kind < 7 ? channels[p->kind] : 0;
  bool small = p->depth == 1 || p->depth == 2 || p->depth == 4;
  bool one = p->kind == 0 || p->kind == 3;
  if (p->channels == 0 || !(p->depth == 8 || p->depth == 16 || (small && one))) {
    return "has samples of a kind that PNG does not have";
  }
  if (p->columns < 2 || p->rows < 2 || p->columns >= 32768 || p->rows >= 32768) {
    return "must have 2 to 32767 rows and columns";
  }
  return b[28] ? "is an interlaced PNG, which is not read" : NULL;
}

// Puts the parts of the data behind each other, and finds the palette.
static size_t collect_data(const unsigned char *b, size_t size, picture *p, unsigned char *to)
{
  size_t count = 0;
  for (size_t at = 8; at + 12 <= size;) {
    size_t length = big_u32(b + at);
    const unsigned char *kind = b + at + 4, *data = b + at + 8;
    if (length > size - at - 12) {
      break;
    }
    if (memcmp(kind, "IDAT", 4) == 0) {
      memcpy(to + count, data, length);
      count += length;
    } else if (memcmp(kind, "PLTE", 4) == 0) {
      p->palette = data;
      p->colours = length / 3;
    }
    at += 12 + length;
  }
  return count;
}

static int predict(int filter, int left, int up, int corner)
{
  int to_left = up - corner, to_up = left - corner, to_corner = to_left + to_up;
  to_left = to_left < 0 ? -to_left : to_left;
  to_up = to_up < 0 ? -to_up : to_up;
  to_corner = to_corner < 0 ? -to_corner : to_corner;
  switch (filter) {
  case 1:
    return left;
  case 2:
    return up;
  case 3:
    return (left + up) / 2;
  case 4:
    return to_left <= to_up && to_left <= to_corner ? left : to_up <= to_corner ? up : corner;
  default:
    return 0;
  }
}

// Rows of a byte that names the filter and then `length` bytes, in place.
static void remove_filters(unsigned char *bytes, uint32_t rows, size_t length, size_t pixel)
{
  for (uint32_t r = 0; r < rows; ++r) {
    unsigned char *row = bytes + r * (length + 1) + 1;
    const unsigned char *above = r > 0 ? row - length - 1 : NULL;
    for (size_t i = 0; i < length; ++i) {
      int left = i >= pixel ? row[i - pixel] : 0, up = above ? above[i] : 0;
      int corner = above && i >= pixel ? above[i - pixel] : 0;
      row[i] = (unsigned char)(row[i] + predict(row[-1], left, up, corner));
    }
  }
}

// The first sample of a pixel, or the red of its colour; of 16 bits the high byte, as MuJoCo has
// it.
static double first_sample(const picture *p, const unsigned char *row, uint32_t column)
{
  if (p->depth >= 8) {
    unsigned value = row[(size_t)column * (size_t)p->channels * (size_t)p->depth / 8];
    bool known = p->kind == 3 && value < p->colours;
    return p->kind != 3 ? value : known ? p->palette[(size_t)3 * value] : 0;
  }
  size_t bit = (size_t)column * (size_t)p->depth;
  unsigned most = (1u << p->depth) - 1u;
  unsigned shift = 8u - (unsigned)p->depth - (unsigned)(bit % 8);
  unsigned value = ((unsigned)row[bit / 8] >> shift) & most;
  if (p->kind == 3) {
    return value < p->colours ? p->palette[(size_t)3 * value] : 0;
  }
  return 255.0 * value / most;
}

double *png_read(memory *m, const char *text, size_t size, int *rows, int *columns,
                 const char **why)
{
  picture p = {0};
  const unsigned char *b = (const unsigned char *)text;
  if ((*why = read_header(b, size, &p))) {
    return NULL;
  }
  size_t bits = (size_t)p.channels * (size_t)p.depth, length = (p.columns * bits + 7) / 8;
  byte_buffer out = {.capacity = p.rows * (length + 1)};
  *why = "is a PNG that is cut short";
  if (out.capacity / 1100 > size) { // more than deflate can hold
    return NULL;
  }
  out.bytes = memory_take(m, out.capacity, 1);
  unsigned char *data = memory_take(m, size, 1);
  double *heights = memory_take(m, (size_t)p.rows * p.columns, sizeof *heights);
  size_t count = data ? collect_data(b, size, &p, data) : 0;
  if (!out.bytes || !heights || count < 2 || !inflate(data + 2, count - 2, &out)) {
    return NULL;
  }
  remove_filters(out.bytes, p.rows, length, bits < 8 ? 1 : bits / 8);
  for (uint32_t r = 0; r < p.rows; ++r) {
    for (uint32_t c = 0; c < p.columns; ++c) {
      heights[(size_t)r * p.columns + c] = first_sample(&p, out.bytes + r * (length + 1) + 1, c);
    }
  }
  *rows = (int)p.rows;
  *columns = (int)p.columns;
  return heights;
}
