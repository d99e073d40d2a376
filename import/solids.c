#include "solids.h"

#include "mesh.h"

static const double PI = 3.14159265358979323846;

static model_mass diagonal(double mass, double x, double y, double z)
{
  model_mass m = {mass, {0.0, 0.0, 0.0}, {x, y, z, 0.0, 0.0, 0.0}};
  return m;
}

// ---------------------------------------------------------------------------------------------
// Solids

static model_mass ellipsoid(const double s[3])
{
  double m = 4.0 / 3.0 * PI * s[0] * s[1] * s[2];
  double x = s[0] * s[0], y = s[1] * s[1], z = s[2] * s[2];
  return diagonal(m, m * (y + z) / 5.0, m * (x + z) / 5.0, m * (x + y) / 5.0);
}

static model_mass box(const double s[3])
{
  double m = 8.0 * s[0] * s[1] * s[2];
  double x = s[0] * s[0], y = s[1] * s[1], z = s[2] * s[2];
  return diagonal(m, m * (y + z) / 3.0, m * (x + z) / 3.0, m * (x + y) / 3.0);
}

static model_mass cylinder(double r, double h)
{
  double m = 2.0 * PI * r * r * h;
  double side = m * (3.0 * r * r + 4.0 * h * h) / 12.0;
  return diagonal(m, side, side, 0.5 * m * r * r);
}

static model_mass capsule(double r, double h)
{
  model_mass middle = cylinder(r, h);
  double m =
      4.0 / 3.0 * PI * r * r * r; // both half balls, whose centres are 3/8 r from their faces
  double axial = 0.4 * m * r * r;
  double side = axial + m * h * (h + 0.75 * r);
  return diagonal(middle.mass + m, middle.inertia.xx + side, middle.inertia.xx + side,
                  middle.inertia.zz + axial);
}

// ---------------------------------------------------------------------------------------------
// Shells

static model_mass sphere_shell(double r)
{
  double m = 4.0 * PI * r * r, i = 2.0 / 3.0 * m * r * r;
  return diagonal(m, i, i, i);
}

static model_mass cylinder_shell(double r, double h)
{
  double side = 4.0 * PI * r * h, caps = 2.0 * PI * r * r;
  double across = side * (0.5 * r * r + h * h / 3.0) + caps * (0.25 * r * r + h * h);
  return diagonal(side + caps, across, across, side * r * r + 0.5 * caps * r * r);
}

static model_mass capsule_shell(double r, double h)
{
  double side = 4.0 * PI * r * h, caps = 4.0 * PI * r * r;
  double axial = side * r * r + 2.0 / 3.0 * caps * r * r;
  double across = side * (0.5 * r * r + h * h / 3.0) + caps * (2.0 / 3.0 * r * r + h * h + r * h);
  return diagonal(side + caps, across, across, axial);
}

static model_mass box_shell(const double s[3])
{
  double total = 0.0, moment[3] = {0.0, 0.0, 0.0}; // integrals of x^2, y^2, z^2
  for (int i = 0; i < 3; ++i) {
    double b = s[(i + 1) % 3], c = s[(i + 2) % 3], faces = 8.0 * b * c;
    total += faces;
    moment[i] += faces * s[i] * s[i];
    moment[(i + 1) % 3] += faces * b * b / 3.0;
    moment[(i + 2) % 3] += faces * c * c / 3.0;
  }
  return diagonal(total, moment[1] + moment[2], moment[0] + moment[2], moment[0] + moment[1]);
}

model_mass solid_of_unit_density(tn_model *model, const model_geom *g)
{
  double ball[3] = {g->size[0], g->size[0], g->size[0]};
  switch (g->type) {
  case MODEL_SPHERE:
    return g->shell ? sphere_shell(g->size[0]) : ellipsoid(ball);
  case MODEL_ELLIPSOID:
    if (g->shell) {
      model_note_add(model, TN_IMPORT_APPROXIMATED, g->at,
                     "<geom> shellinertia of an ellipsoid: its mass is solid");
    }
    return ellipsoid(g->size);
  case MODEL_BOX:
    return g->shell ? box_shell(g->size) : box(g->size);
  case MODEL_CYLINDER:
    return g->shell ? cylinder_shell(g->size[0], g->size[1]) : cylinder(g->size[0], g->size[1]);
  case MODEL_CAPSULE:
    return g->shell ? capsule_shell(g->size[0], g->size[1]) : capsule(g->size[0], g->size[1]);
  default:
    return diagonal(0.0, 0.0, 0.0, 0.0);
  }
}

// ---------------------------------------------------------------------------------------------
// Primitives that fit a mesh

// The frame of the principal axes of a mesh, z along its longest side and x along its shortest, and
// half sizes of the box with the same moments of inertia.
static bool inertia_box(const model_mesh *mesh, memory *m, dpose *pose, double half[3])
{
  model_mass mass;
  if (!mesh_mass(mesh, mesh->inertia, m, &mass)) {
    return false;
  }
  dsym s = dsym_scale(1.0 / mass.mass, mass.inertia); // that of a small mesh underflows in float
  tn_mass unit = {1.0f,
                  {0.0f, 0.0f, 0.0f},
                  {(float)s.xx, (float)s.yy, (float)s.zz, (float)s.xy, (float)s.xz, (float)s.yz}};
  tn_principal_axes axes = tn_mass_principal_axes(unit);
  const double *i = axes.moments; // ascending: the first is about the longest side
  const double *q = axes.rotation;
  drot x_to_z = drot_from_axes(dvec_of(0.0, 0.0, 1.0), dvec_of(0.0, 1.0, 0.0));
  drot frame = {q[3], q[0], q[1], q[2]};
  *pose = (dpose){mass.center, drot_normalize(drot_mul(frame, drot_inverse(x_to_z)))};
  half[0] = sqrt(fmax(1.5 * (i[0] + i[1] - i[2]), 0.0));
  half[1] = sqrt(fmax(1.5 * (i[0] + i[2] - i[1]), 0.0));
  half[2] = sqrt(fmax(1.5 * (i[1] + i[2] - i[0]), 0.0));
  return true;
}

// Moves the frame to the middle of the box around the vertices along its axes.
static void bounding_box(const model_mesh *mesh, dpose *pose, double half[3])
{
  double lo[3] = {1e300, 1e300, 1e300}, hi[3] = {-1e300, -1e300, -1e300};
  dpose inverse = dpose_inverse(*pose);
  for (int i = 0; i < mesh->vertex_count; ++i) {
    const double *v = mesh->vertices + (size_t)3 * (size_t)i;
    dvec p = dpose_apply(inverse, dvec_of(v[0], v[1], v[2]));
    const double local[3] = {p.x, p.y, p.z};
    for (int k = 0; k < 3; ++k) {
      lo[k] = fmin(lo[k], local[k]);
      hi[k] = fmax(hi[k], local[k]);
    }
  }
  for (int k = 0; k < 3; ++k) {
    half[k] = 0.5 * (hi[k] - lo[k]);
  }
  dvec middle = dvec_of(0.5 * (lo[0] + hi[0]), 0.5 * (lo[1] + hi[1]), 0.5 * (lo[2] + hi[2]));
  pose->p = dpose_apply(*pose, middle);
}

// Sizes of a primitive that stands for a box: round ones enclose a bounding box and average an
// inertia box, as in MuJoCo.
static void fit(model_geom *g, dpose pose, const double half[3], bool encloses)
{
  double f = g->fit_scale;
  double round = encloses ? fmax(half[0], half[1]) : 0.5 * (half[0] + half[1]);
  g->pose = dpose_mul(g->pose, pose);
  switch (g->type) {
  case MODEL_SPHERE:
    g->size[0] = f * (encloses ? fmax(round, half[2]) : (half[0] + half[1] + half[2]) / 3.0);
    break;
  case MODEL_CAPSULE:
    g->size[0] = f * round;
    g->size[1] = f * fmax(half[2] - (encloses ? round : 0.5 * round), 0.0);
    break;
  case MODEL_CYLINDER:
    g->size[0] = f * round;
    g->size[1] = f * half[2];
    break;
  default:
    for (int i = 0; i < 3; ++i) {
      g->size[i] = f * half[i];
    }
  }
}

bool solids_fit(reader *r)
{
  tn_model *model = r->model;
  for (int i = 0; i < model->geoms.count; ++i) {
    model_geom *g = &model->geoms.items[i];
    bool round_or_box = g->type >= MODEL_SPHERE && g->type <= MODEL_BOX;
    if (g->mesh < 0 || !round_or_box || g->left_out) {
      continue;
    }
    dpose pose;
    double half[3];
    const model_mesh *mesh = &model->meshes.items[g->mesh];
    if (!inertia_box(mesh, &model->memory, &pose, half)) {
      return import_fail(r, g->at, "the mesh of this geom has no volume to fit");
    }
    if (model->rules.fit_boxes) {
      bounding_box(mesh, &pose, half);
    }
    fit(g, pose, half, model->rules.fit_boxes);
  }
  return true;
}
