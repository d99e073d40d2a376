// Height fields: MuJoCo's own binary format, and pictures.
#include "mesh.h"

#include <string.h>

void hfield_normalize(model_hfield *h, const double *heights, bool from_top)
{
  double lo = heights[0], hi = heights[0];
  int count = h->rows * h->columns;
  for (int i = 0; i < count; ++i) {
    lo = fmin(lo, heights[i]);
    hi = fmax(hi, heights[i]);
  }
  double range = hi - lo > 1e-12 ? hi - lo : 1.0;
  for (int i = 0; i < count; ++i) {
    int row = i / h->columns, column = i % h->columns;
    int to = from_top ? (h->rows - 1 - row) * h->columns + column : i;
    h->heights[to] = (heights[i] - lo) / range;
  }
}

// Two 32-bit integers, rows and columns, then floats row by row.
static double *read_own_format(memory *m, const char *text, size_t size, int *rows, int *columns,
                               const char **why)
{
  uint32_t r = size >= 8 ? read_u32(text) : 0, c = size >= 8 ? read_u32(text + 4) : 0;
  *why = "is neither a PNG nor in MuJoCo's format of height fields";
  if (r < 2 || c < 2 || r >= 32768 || c >= 32768 || (uint64_t)r * c * 4 + 8 != size) {
    return NULL;
  }
  double *heights = memory_take(m, (size_t)r * c, sizeof *heights);
  for (size_t i = 0; heights && i < (size_t)r * c; ++i) {
    heights[i] = read_f32(text + 8 + 4 * i);
    if (!(fabs(heights[i]) < 1e9)) {
      heights[i] = 0.0;
    }
  }
  *rows = (int)r;
  *columns = (int)c;
  return heights;
}

void hfield_load(reader *r, const char *path, model_hfield *h)
{
  memory *m = &r->model->memory;
  size_t size = 0;
  int rows = 0, columns = 0;
  const char *why = "cannot be read";
  char *text = import_file(r, path, h->at, &size);
  bool picture = text && size > 8 && memcmp(text, "\x89PNG\r\n\x1a\n", 8) == 0;
  double *heights = picture ? png_read(m, text, size, &rows, &columns, &why)
                    : text  ? read_own_format(m, text, size, &rows, &columns, &why)
                            : NULL;
  h->rows = h->columns = 0;
  if (!heights || r->failed) {
    model_note_add(r->model, TN_IMPORT_MISSING, h->at,
                   "hfield file '%.200s' %s; its geoms are left out", path, why);
    return;
  }
  h->heights = memory_take(m, (size_t)rows * (size_t)columns, sizeof *h->heights);
  if (h->heights) {
    h->rows = rows;
    h->columns = columns;
    hfield_normalize(h, heights, picture);
  }
}
