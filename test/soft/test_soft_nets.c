// Coarse levels of nets: large cloth keeps its size, both momenta and its energy; what folds,
// unrolls or opens without stretching is free to.
#include "soft_support.h"

#include <math.h>
#include <stdlib.h>

typedef struct stretch {
  double rms, most; // relative
} stretch;

static stretch stretch_of(const tn_world *world, tn_soft_id soft, const tn_soft_def *def)
{
  stretch s = {0.0, 0.0};
  for (int i = 0; i < def->edge_count; ++i) {
    int a = def->edges[2 * i], b = def->edges[2 * i + 1];
    double rest = (double)tn_length(tn_sub(def->vertices[b], def->vertices[a]));
    double now = (double)tn_length(
        tn_between_points(tn_soft_position(world, soft, a), tn_soft_position(world, soft, b)));
    s.rms += (now / rest - 1.0) * (now / rest - 1.0) / def->edge_count;
    s.most = fmax(s.most, now / rest - 1.0);
  }
  s.rms = sqrt(s.rms);
  return s;
}

// Hung by two corners for some steps.
static stretch hang(int columns, int rows, float width, float height, int substeps, int steps)
{
  tn_world *world = test_world(substeps, TN_METHOD_TENON);
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_cloth(&def, columns, rows, width, height));
  def.linear_damping = 3.0f;
  tn_soft_id soft = tn_soft_create(world, &def);
  tn_soft_set_pinned(world, soft, 0, true);
  tn_soft_set_pinned(world, soft, columns - 1, true);
  test_run(world, dt, steps);
  stretch s = stretch_of(world, soft, &def);
  tn_soft_mesh_free(&def);
  tn_world_destroy(world);
  return s;
}

// 25,000 particles at 4 substeps.
static void large_cloth_does_not_stretch(void **unused)
{
  (void)unused;
  stretch s = hang(158, 158, 2.0f, 2.0f, 4, 180);
  assert_below(s.rms, 0.002);
  assert_below(s.most, 0.05);
}

static void cloth_of_any_size_does_not_stretch(void **unused)
{
  (void)unused;
  uint32_t random = 4;
  for (int i = 0; i < test_cases(12, 100); ++i) {
    int columns = 12 + test_index(&random, 40), rows = 12 + test_index(&random, 40);
    float cell = 0.01f + 0.09f * test_random(&random);
    int substeps = 3 + test_index(&random, 10);
    stretch s = hang(columns, rows, cell * (float)columns, cell * (float)rows, substeps, 240);
    assert_below(s.rms, 0.005);
    assert_below(s.most, 0.05);
  }
}

// Weightless cloth that is stretched and moves at random.
static void nets_conserve_momentum(void **unused)
{
  (void)unused;
  enum { N = 13 };
  uint32_t random = 5;
  for (int round = 0; round < 20; ++round) {
    tn_world *world = test_world(1 + test_index(&random, 4), TN_METHOD_TENON);
    tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
    tn_soft_def def = tn_default_soft_def();
    assert_true(tn_soft_mesh_cloth(&def, N, N, 1.0f, 1.0f));
    tn_soft_id soft = tn_soft_create(world, &def);
    tn_vec3 v[N * N];
    tn_pos x[N * N];
    float scale = round % 2 ? 1.3f : 1.0f, mass[N * N];
    double impulse = 0.0, energy = 0.0;
    for (int i = 0; i < N * N; ++i) {
      v[i] = test_vector(&random, 1.0f);
      x[i] = tn_offset(origin, tn_add(tn_scale(scale, def.vertices[i]),
                                      test_vector(&random, round % 2 ? 0.05f : 0.0f)));
    }
    tn_soft_set_positions(world, soft, x, N * N);
    tn_soft_set_velocities(world, soft, v, N * N);
    tn_soft_masses(world, soft, mass, N * N);
    for (int i = 0; i < N * N; ++i) {
      impulse += (double)(mass[i] * tn_length(v[i]));
    }
    energy = tn_soft_energy(world, soft).kinetic;
    tn_momentum a = tn_soft_momentum(world, soft, origin);
    for (int i = 0; i < 60; ++i) {
      test_run(world, dt, 1);
      tn_momentum b = tn_soft_momentum(world, soft, origin);
      assert_below(apart3(a.linear, b.linear), 1e-5 * impulse);
      assert_below(apart3(a.angular, b.angular), 1e-5 * impulse);
      assert_true(round % 2 || tn_soft_energy(world, soft).kinetic < 1.0001 * energy);
    }
    tn_soft_mesh_free(&def);
    tn_world_destroy(world);
  }
}

// Put into another shape in which all edges have their length, a net stays there, 10 steps long.
static void assert_stays(const tn_soft_def *def, const tn_pos *x, double allowed)
{
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
  tn_soft_id soft = tn_soft_create(world, def);
  tn_soft_set_positions(world, soft, x, def->vertex_count);
  assert_below(stretch_of(world, soft, def).most, 1e-4);
  test_run(world, dt, 10);
  for (int i = 0; i < def->vertex_count; ++i) {
    tn_pos now = tn_soft_position(world, soft, i);
    assert_below((double)tn_length(tn_between_points(now, x[i])), allowed);
  }
  tn_world_destroy(world);
}

// Nearly a full turn around a cylinder, of one cell's width on the plane.
static void a_cylinder_unrolls(void **unused)
{
  (void)unused;
  enum { AROUND = 40, ALONG = 8 };
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_cloth(&def, AROUND, ALONG, 1.0f, 0.2f));
  tn_vec3 curved[AROUND * ALONG];
  tn_pos flat[AROUND * ALONG];
  const float turn = 6.0f / (AROUND - 1), cell = 1.0f / (AROUND - 1);
  const float radius = 0.5f * cell / sinf(0.5f * turn);
  for (int i = 0; i < AROUND * ALONG; ++i) {
    float angle = turn * (float)(i % AROUND);
    curved[i] = tn_v3(radius * cosf(angle), radius * sinf(angle), def.vertices[i].z);
    flat[i] = tn_offset(origin, def.vertices[i]);
  }
  tn_soft_def rolled = def;
  rolled.vertices = curved;
  rolled.mass = 1.0f;
  assert_stays(&rolled, flat, 1e-3);
  tn_soft_mesh_free(&def);
}

// A sheet with a slit from the middle of its lower border to its centre: one of the two legs is
// folded up at right angles.
static void a_slit_opens(void **unused)
{
  (void)unused;
  enum { N = 25, MID = N / 2, COUNT = N * N + N - 1 - MID };
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_cloth(&def, N, N, 1.0f, 1.0f));
  tn_vec3 at[COUNT];
  tn_pos open[COUNT];
  int *edges = malloc(2 * sizeof *edges * (size_t)(def.edge_count + N)), count = 0;
  for (int i = 0; i < COUNT; ++i) { // the last ones are the right side of the slit
    int from = i < N * N ? i : (MID + 1 + i - N * N) * N + MID;
    at[i] = def.vertices[from];
    bool leg = from / N > MID && (from % N > MID || i >= N * N);
    float down = fabsf(at[i].z - def.vertices[MID * N].z);
    open[i] = leg ? tn_p3((double)at[i].x, (double)down, (double)def.vertices[MID * N].z)
                  : tn_offset(origin, at[i]);
  }
  for (int i = 0; i < def.edge_count; ++i) {
    int v[2] = {def.edges[2 * i], def.edges[2 * i + 1]};
    bool right = v[0] % N > MID || v[1] % N > MID;
    for (int k = 0; k < 2; ++k) {
      bool lip = v[k] % N == MID && v[k] / N > MID;
      edges[count++] = right && lip ? N * N + v[k] / N - MID - 1 : v[k];
    }
  }
  for (int i = N * N; i < COUNT; ++i) { // along the right side of the slit
    edges[count++] = i == N * N ? MID * N + MID : i - 1;
    edges[count++] = i;
  }
  tn_soft_def slit = tn_default_soft_def();
  slit.vertices = at;
  slit.vertex_count = COUNT;
  slit.edges = edges;
  slit.edge_count = count / 2;
  assert_stays(&slit, open, 5e-3); // fails: nodes at its end span the slit
  free(edges);
  tn_soft_mesh_free(&def);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(large_cloth_does_not_stretch),
      cmocka_unit_test(cloth_of_any_size_does_not_stretch),
      cmocka_unit_test(nets_conserve_momentum),
      cmocka_unit_test(a_cylinder_unrolls),
      cmocka_unit_test(a_slit_opens),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
