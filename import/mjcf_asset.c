// Assets of MJCF: meshes and height fields. Textures and materials are for the eye.
#include "mesh.h"
#include "mjcf.h"

#include <string.h>

typedef struct mesh_attributes {
  model_mesh mesh;
  const char *file;
  const xml_node *node;
} mesh_attributes;

static void apply_mesh(mjcf *m, const xml_node *node, void *out)
{
  static const char *const inertias[] = {"legacy", "exact", "convex", "shell", NULL};
  mesh_attributes *a = out;
  int inertia;
  double quat[4];
  const char *file = xml_get(node, "file");
  a->file = file ? file : a->file;
  xml_vector(m->r, node, "scale", &a->mesh.scale);
  xml_vector(m->r, node, "refpos", &a->mesh.refpos);
  if (xml_numbers(m->r, node, "refquat", 4, 4, quat)) {
    a->mesh.refquat = drot_normalize((drot){quat[0], quat[1], quat[2], quat[3]});
  }
  if (xml_word(m->r, node, "inertia", inertias, &inertia)) {
    a->mesh.inertia = (model_mesh_inertia)inertia;
  }
}

// The file's name without folder and ending, as the name of a mesh that has none.
static const char *name_from_file(mjcf *m, const char *file)
{
  const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
  const char *dot = strrchr(base, '.');
  return memory_text(&m->model->memory, base, dot ? (size_t)(dot - base) : strlen(base));
}

static const char *asset_path(mjcf *m, const char *file)
{
  const char *slash = strrchr(file, '/');
  if (slash && m->compiler.strip_path) {
    file = slash + 1;
  }
  const char *folder = m->compiler.mesh_folder;
  size_t length = strlen(folder), rest = strlen(file);
  if (file[0] == '/' || length == 0) {
    return import_path(m->r, m->compiler.base, file);
  }
  char *joined = memory_take(&m->model->memory, length + rest + 2, 1);
  if (!joined) {
    return "";
  }
  memcpy(joined, folder, length);
  joined[length] = '/';
  memcpy(joined + length + (folder[length - 1] != '/'), file, rest);
  return import_path(m->r, m->compiler.base, joined);
}

// Vertices and faces that the file itself has.
static void read_inline(mjcf *m, const xml_node *node, model_mesh *mesh)
{
  int count = 0, corners = 0;
  double *vertices = xml_list(m->r, node, "vertex", &count);
  double *faces = xml_list(m->r, node, "face", &corners);
  if (count % 3 != 0 || corners % 3 != 0 || count < 12) {
    import_fail(m->r, node->at, "a mesh needs four vertices or more, and faces of three");
    return;
  }
  mesh->vertices = vertices;
  mesh->vertex_count = count / 3;
  mesh->triangles = memory_take(&m->model->memory, (size_t)corners + 1, sizeof *mesh->triangles);
  mesh->triangle_count = mesh->triangles ? corners / 3 : 0;
  for (int i = 0; mesh->triangles && i < corners; ++i) {
    if (!(faces[i] >= 0.0 && faces[i] < (double)mesh->vertex_count)) {
      import_fail(m->r, node->at, "a face names vertex %g of %d", faces[i], mesh->vertex_count);
      return;
    }
    mesh->triangles[i] = (int)faces[i];
  }
}

static void read_mesh(mjcf *m, const xml_node *node)
{
  mesh_attributes a = {
      .mesh = {.scale = {1.0, 1.0, 1.0}, .refquat = {1.0, 0.0, 0.0, 0.0}, .path = ""}};
  mjcf_apply(m, node, NULL, "mesh", apply_mesh, &a);
  model_mesh *mesh = LIST_ADD(&m->model->memory, &m->model->meshes);
  if (!mesh) {
    return;
  }
  *mesh = a.mesh;
  mesh->at = node->at;
  mesh->name = xml_text(node, "name");
  if (!a.file && !xml_has(node, "vertex")) {
    mesh->missing = true;
    model_note_add(m->model, TN_IMPORT_IGNORED, node->at, "mesh without file and vertices");
    return;
  }
  if (a.file) {
    mesh->path = asset_path(m, a.file);
    mesh->name = *mesh->name ? mesh->name : name_from_file(m, a.file);
  } else {
    read_inline(m, node, mesh);
    mesh_place(mesh);
  }
}

static void read_hfield(mjcf *m, const xml_node *node)
{
  tn_model *model = m->model;
  model_hfield *h = LIST_ADD(&model->memory, &model->hfields);
  if (!h) {
    return;
  }
  h->name = xml_text(node, "name");
  h->at = node->at;
  xml_integer(m->r, node, "nrow", &h->rows);
  xml_integer(m->r, node, "ncol", &h->columns);
  if (!xml_numbers(m->r, node, "size", 4, 4, h->size)) {
    import_fail(m->r, node->at, "an hfield needs four sizes");
  }
  const char *file = xml_get(node, "file");
  if (file) {
    h->name = *h->name ? h->name : name_from_file(m, file);
    hfield_load(m->r, asset_path(m, file), h);
    return;
  }
  bool fits = h->rows > 1 && h->columns > 1 && h->rows < 32768 && h->columns < 32768;
  if (!fits) {
    import_fail(m->r, node->at, "an hfield needs 2 to 32767 rows and columns");
    return;
  }
  int count, wanted = h->rows * h->columns;
  double *given = xml_list(m->r, node, "elevation", &count);
  h->heights = memory_take(&model->memory, (size_t)wanted, sizeof *h->heights);
  if (count != 0 && count != wanted) {
    import_fail(m->r, node->at, "elevation has %d numbers instead of %d", count, wanted);
  }
  if (count == wanted && h->heights && !m->r->failed) {
    hfield_normalize(h, given, true);
  }
}

static bool read_asset(mjcf *m, const xml_node *node)
{
  if (xml_is(node, "mesh")) {
    read_mesh(m, node);
  } else if (xml_is(node, "hfield")) {
    read_hfield(m, node);
  } else {
    return false;
  }
  return true;
}

void mjcf_read_assets(mjcf *m, const xml_node *root)
{
  mjcf_visit(m, root, "asset", read_asset);
}
