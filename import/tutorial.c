// Scenes of the tutorial on joints.
#include "json.h"
#include "read.h"

bool read_tutorial(reader *r, const char *path, const char *text, size_t size)
{
  const char *why;
  int line;
  if (!json_parse(&r->model->memory, text, size, &why, &line)) {
    place at = {path, line};
    return import_fail(r, at, "%s", why);
  }
  place at = {path, 1};
  return import_fail(r, at, "not supported yet");
}
