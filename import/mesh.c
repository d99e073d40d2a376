#include "mesh.h"

#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// STL

uint32_t read_u32(const char *bytes)
{
  const unsigned char *b = (const unsigned char *)bytes;
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

double read_f32(const char *bytes)
{
  uint32_t bits = read_u32(bytes);
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static bool add_vertex(mesh_data *out, const double v[3])
{
  for (int i = 0; i < 3; ++i) {
    double *value = LIST_ADD(out->memory, &out->vertices);
    if (!value) {
      return false;
    }
    *value = v[i];
  }
  return true;
}

static bool add_corner(mesh_data *out, int vertex)
{
  int *corner = LIST_ADD(out->memory, &out->triangles);
  if (corner) {
    *corner = vertex;
  }
  return corner;
}

static const char *read_binary_stl(const char *text, uint32_t count, mesh_data *out)
{
  if (count > IMPORT_MAX_VERTICES / 3) {
    return "has too many triangles";
  }
  for (uint32_t i = 0; i < count; ++i) {
    const char *corner = text + 84 + (size_t)50 * i + 12; // after the normal
    for (int k = 0; k < 3; ++k, corner += 12) {
      double v[3] = {read_f32(corner), read_f32(corner + 4), read_f32(corner + 8)};
      if (!add_vertex(out, v) || !add_corner(out, (int)(3 * i) + k)) {
        return "needs more memory than there is";
      }
    }
  }
  return NULL;
}

static const char *skip_blanks(const char *s)
{
  while (*s == ' ' || *s == '\t' || *s == '\r') {
    ++s;
  }
  return s;
}

static const char *next_line(const char *s)
{
  s += strcspn(s, "\n");
  return *s ? s + 1 : s;
}

static bool read_triple(const char *s, double v[3])
{
  for (int i = 0; i < 3; ++i) {
    s = skip_blanks(s);
    if (!parse_double(&s, &v[i])) {
      return false;
    }
  }
  return true;
}

static const char *read_text_stl(const char *text, mesh_data *out)
{
  int vertices = 0;
  for (const char *line = text; *line; line = next_line(line)) {
    const char *s = skip_blanks(line);
    double v[3];
    if (strncmp(s, "vertex", 6) != 0) {
      continue;
    }
    if (!read_triple(s + 6, v)) {
      return "has a vertex without three numbers";
    }
    if (vertices >= IMPORT_MAX_VERTICES) {
      return "has too many vertices";
    }
    if (!add_vertex(out, v) || !add_corner(out, vertices++)) {
      return "needs more memory than there is";
    }
  }
  if (vertices == 0 || vertices % 3 != 0) {
    return "is no STL: its facets are not triangles";
  }
  return NULL;
}

const char *mesh_read_stl(const char *text, size_t size, mesh_data *out)
{
  // Many binary files begin with the word solid, as text files do: the size tells them apart.
  uint32_t count = size >= 84 ? read_u32(text + 80) : 0;
  bool fits = size >= 84 && (uint64_t)count * 50 + 84 <= size;
  bool is_text = strncmp(text, "solid", 5) == 0 && strstr(text, "facet");
  if (fits && count > 0 && !(is_text && (uint64_t)count * 50 + 84 != size)) {
    return read_binary_stl(text, count, out);
  }
  if (is_text) {
    return read_text_stl(text, out);
  }
  return size >= 84 ? "is cut short: it has fewer triangles than it says" : "is no STL";
}

// ---------------------------------------------------------------------------------------------
// MSH, MuJoCo's own binary format of before: the numbers of vertices, normals, texture coordinates
// and faces, then those of 3, 3, 2 floats and 3 integers each

static const char *read_msh(const char *text, size_t size, mesh_data *out)
{
  static const uint64_t bytes[4] = {12, 12, 8, 12};
  uint32_t counts[4] = {0};
  uint64_t sum = 16, faces = 16;
  for (int i = 0; size >= 16 && i < 4; ++i) {
    counts[i] = read_u32(text + 4 * (size_t)i);
    sum += bytes[i] * counts[i];
    faces = i < 3 ? sum : faces;
  }
  if (size < 16 || sum != size || counts[0] > IMPORT_MAX_VERTICES) {
    return "is no MSH: its size is not that of the numbers it states";
  }
  for (uint32_t i = 0; i < counts[0]; ++i) {
    const char *at = text + 16 + (size_t)12 * i;
    double v[3] = {read_f32(at), read_f32(at + 4), read_f32(at + 8)};
    if (!add_vertex(out, v)) {
      return "needs more memory than there is";
    }
  }
  for (uint64_t i = 0; i < 3 * (uint64_t)counts[3]; ++i) {
    uint32_t corner = read_u32(text + faces + 4 * i);
    if (corner >= counts[0] || !add_corner(out, (int)corner)) {
      return "has a face with a vertex that is not there";
    }
  }
  return NULL;
}

// ---------------------------------------------------------------------------------------------
// OBJ

// A vertex of a face: "7", "7/1", "7//2" or "-1"; counted from 1, or back from the last.
static bool read_face_vertex(const char **s, int vertices, int *index)
{
  double value;
  if (!parse_double(s, &value) || value != floor(value)) {
    return false;
  }
  *s += strcspn(*s, " \t\r\n");
  double zero_based = value > 0.0 ? value - 1.0 : (double)vertices + value;
  if (!(zero_based >= 0.0 && zero_based < (double)vertices) || value == 0.0) {
    return false;
  }
  *index = (int)zero_based;
  return true;
}

// Polygons become fans.
static const char *read_face(const char *s, mesh_data *out)
{
  int first = 0, last = 0, count = 0, vertices = out->vertices.count / 3;
  for (s = skip_blanks(s); *s && *s != '\n' && *s != '#'; s = skip_blanks(s)) {
    int index;
    if (!read_face_vertex(&s, vertices, &index)) {
      return "has a face with a vertex that is not there";
    }
    if (count == 0) {
      first = index;
    } else if (count >= 2 &&
               (!add_corner(out, first) || !add_corner(out, last) || !add_corner(out, index))) {
      return "needs more memory than there is";
    }
    last = index;
    count += 1;
  }
  return NULL; // lines and points, of fewer than three vertices, bound no solid
}

const char *mesh_read_obj(const char *text, size_t size, mesh_data *out)
{
  (void)size;
  for (const char *line = text; *line; line = next_line(line)) {
    const char *s = skip_blanks(line), *why = NULL;
    double v[3];
    if (s[0] == 'v' && (s[1] == ' ' || s[1] == '\t')) {
      if (!read_triple(s + 1, v)) {
        return "has a vertex without three numbers";
      }
      if (out->vertices.count / 3 >= IMPORT_MAX_VERTICES) {
        return "has too many vertices";
      }
      why = add_vertex(out, v) ? NULL : "needs more memory than there is";
    } else if (s[0] == 'f' && (s[1] == ' ' || s[1] == '\t')) {
      why = read_face(s + 1, out);
    }
    if (why) {
      return why;
    }
  }
  return out->vertices.count >= 12 ? NULL : "has fewer than four vertices";
}

// ---------------------------------------------------------------------------------------------
// Files

static bool ends_with(const char *path, const char *ending)
{
  size_t length = strlen(path), tail = strlen(ending);
  for (size_t i = 0; length >= tail && i < tail; ++i) {
    char c = path[length - tail + i];
    if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != ending[i]) {
      return false;
    }
  }
  return length >= tail;
}

static const char *parse_file(reader *r, const char *path, const char *text, size_t size,
                              mesh_data *out)
{
  if (ends_with(path, ".stl")) {
    return mesh_read_stl(text, size, out);
  }
  if (ends_with(path, ".obj")) {
    return mesh_read_obj(text, size, out);
  }
  if (ends_with(path, ".gltf") || ends_with(path, ".glb")) {
    return mesh_read_gltf(r, path, text, size, out);
  }
  if (ends_with(path, ".msh")) {
    return read_msh(text, size, out);
  }
  return "is in a format that is not read (STL, OBJ, MSH and glTF are)";
}

static bool is_usable(const mesh_data *data)
{
  for (int i = 0; i < data->vertices.count; ++i) {
    if (!(fabs(data->vertices.items[i]) < 1e9)) {
      return false;
    }
  }
  return data->vertices.count >= 12;
}

static char *open_mesh(reader *r, model_mesh *mesh, size_t *size)
{
  char *text = r->def->meshes ? import_file(r, mesh->path, mesh->at, size) : NULL;
  const char *slash = strrchr(mesh->path, '/'), *base = slash ? slash + 1 : mesh->path;
  for (int i = 0; r->def->meshes && !text && !r->failed && i < r->def->search_path_count; ++i) {
    const char *folder = r->def->search_paths[i];
    char *joined = memory_take(&r->model->memory, strlen(folder) + strlen(base) + 2, 1);
    if (joined) {
      strcat(strcat(strcpy(joined, folder), "/"), base);
      text = import_file(r, joined, mesh->at, size);
    }
  }
  return text;
}

void mesh_check(reader *r, model_mesh *mesh)
{
  FILE *file = *mesh->path && !mesh->checked ? fopen(mesh->path, "rb") : NULL;
  if (!file && *mesh->path && !mesh->checked) {
    model_note_add(r->model, TN_IMPORT_MISSING, mesh->at,
                   "mesh file '%.200s' cannot be read; it is for the eye alone", mesh->path);
  }
  if (file) {
    fclose(file);
  }
  mesh->checked = true;
}

void mesh_load(reader *r, model_mesh *mesh)
{
  tn_model *model = r->model;
  size_t size = 0;
  char *text = open_mesh(r, mesh, &size);
  mesh->missing = true;
  if (r->failed) {
    return;
  }
  if (!text) {
    model_note_add(model, TN_IMPORT_MISSING, mesh->at, "mesh file '%.200s' %s", mesh->path,
                   r->def->meshes ? "cannot be read; its geoms are left out" : "was not asked for");
    return;
  }
  mesh_data data = {.memory = &model->memory};
  const char *why = parse_file(r, mesh->path, text, size, &data);
  if (!why && !is_usable(&data)) {
    why = "has too few vertices, or some that are too far away";
  }
  if (why) {
    model_note_add(model, TN_IMPORT_MISSING, mesh->at,
                   "mesh file '%.200s' %s; its geoms are left out", mesh->path, why);
    return;
  }
  mesh->missing = false;
  mesh->vertices = data.vertices.items;
  mesh->vertex_count = data.vertices.count / 3;
  mesh->triangles = data.triangles.items;
  mesh->triangle_count = data.triangles.count / 3;
  mesh_place(mesh);
}

void mesh_place(model_mesh *mesh)
{
  drot back = drot_inverse(mesh->refquat);
  bool mirrored = mesh->scale.x * mesh->scale.y * mesh->scale.z < 0.0;
  for (int i = 0; i < mesh->vertex_count; ++i) {
    double *v = mesh->vertices + (size_t)3 * (size_t)i;
    dvec p = drot_apply(back, dvec_sub(dvec_of(v[0], v[1], v[2]), mesh->refpos));
    v[0] = p.x * mesh->scale.x;
    v[1] = p.y * mesh->scale.y;
    v[2] = p.z * mesh->scale.z;
  }
  for (int i = 0; mirrored && i < mesh->triangle_count; ++i) {
    int *t = mesh->triangles + (size_t)3 * (size_t)i, swap = t[1];
    t[1] = t[2];
    t[2] = swap;
  }
}
