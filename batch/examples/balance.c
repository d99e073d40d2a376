// Balances a double pendulum upright with a motor at its base alone: a linear quadratic regulator
// (LQR) for the derivatives of a step.
//
//   x' = A x + B u, u = -K x, K minimises the sum of x^T x + r u^2 (discrete Riccati equation)
//
// Prints the largest angle in each second; exit status 0 if both angles are below 1e-3 rad at last.
#include <tenon/batch.h>

#include <math.h>
#include <stdio.h>

#define N 4 // two angles, two rates

static const float dt = 1.0f / 60.0f;

static tn_world *make_pendulum(tn_body_id *base)
{
  tn_world_def def = tn_default_world_def();
  tn_world *world = tn_world_create(&def);
  tn_body_id last = {0};
  for (int i = 0; i < 2; ++i) {
    tn_body_def rod = tn_default_body_def();
    rod.position = tn_p3(0.0, 0.5 + i, 0.0);
    rod.mass = tn_mass_scaled_to(tn_mass_box(tn_v3(0.05f, 0.5f, 0.05f), 1000.0f), 1.0f);
    tn_body_id body = tn_body_create(world, &rod);
    tn_joint_def hinge = tn_default_joint_def(TN_JOINT_HINGE);
    hinge.body_a = last;
    hinge.body_b = body;
    tn_joint_def_at(world, &hinge, tn_p3(0.0, i, 0.0), tn_v3(0.0f, 0.0f, 1.0f));
    tn_joint_create(world, &hinge);
    *base = i == 0 ? body : *base;
    last = body;
  }
  return world;
}

static bool derivatives(const tn_world *world, tn_body_id base, double a[N][N], double b[N])
{
  tn_batch_def def = tn_default_batch_def();
  def.world = world;
  def.count = 12; // two runs for each of four states and two torques
  tn_batch *batch = tn_batch_create(&def);
  tn_articulation_def trees = tn_default_articulation_def();
  trees.roots = &base;
  trees.root_count = 1;
  double torques[N][2];
  bool ok = batch && tn_batch_articulate(batch, &trees) &&
            tn_batch_derivatives(batch, dt, 1, 0.0, NULL, a[0], torques[0]);
  for (int i = 0; i < N && ok; ++i) {
    b[i] = torques[i][0]; // the motor at the base
  }
  tn_batch_destroy(batch);
  return ok;
}

// Iterates P = Q + A^T P (A - B K), K = B^T P A / (r + B^T P B) with Q = 1.
static void regulator(double a[N][N], const double b[N], double r, double k[N])
{
  double p[N][N] = {{0.0}}, pa[N][N], pb[N];
  for (int step = 0; step < 1000; ++step) {
    double bpb = r;
    for (int i = 0; i < N; ++i) {
      pb[i] = 0.0;
      for (int n = 0; n < N; ++n) {
        pb[i] += p[i][n] * b[n];
      }
      bpb += b[i] * pb[i];
    }
    for (int i = 0; i < N; ++i) {
      k[i] = 0.0;
      for (int n = 0; n < N; ++n) {
        k[i] += pb[n] * a[n][i] / bpb;
        pa[n][i] = 0.0;
        for (int m = 0; m < N; ++m) {
          pa[n][i] += p[n][m] * a[m][i];
        }
      }
    }
    for (int i = 0; i < N; ++i) {
      for (int n = 0; n <= i; ++n) {
        double sum = i == n ? 1.0 : 0.0;
        for (int m = 0; m < N; ++m) {
          sum += a[m][i] * (pa[m][n] - pb[m] * k[n]);
        }
        p[i][n] = p[n][i] = sum; // errors of rounding that break the symmetry would grow
      }
    }
  }
}

static double largest_angle(const double x[N])
{
  return fmax(fabs(x[0]), fabs(x[1]));
}

int main(void)
{
  tn_body_id base = {0};
  tn_world *world = make_pendulum(&base);
  double a[N][N], b[N], k[N], x[N] = {0.03, -0.05, 0.0, 0.0};
  if (!derivatives(world, base, a, b)) {
    return 1;
  }
  regulator(a, b, 0.1, k);
  printf("gains %.2f %.2f N m/rad, %.2f %.2f N m s/rad\n", k[0], k[1], k[2], k[3]);
  tn_articulation_def trees = tn_default_articulation_def();
  trees.roots = &base;
  trees.root_count = 1;
  tn_articulation *pendulum = tn_articulation_create(world, &trees);
  tn_articulation_set_positions(pendulum, x, NULL);
  for (int frame = 0; frame < 600; ++frame) {
    tn_articulation_positions(pendulum, x);
    tn_articulation_velocities(pendulum, x + 2);
    double torque[2] = {0.0, 0.0};
    for (int i = 0; i < N; ++i) {
      torque[0] -= k[i] * x[i];
    }
    tn_articulation_apply_forces(pendulum, torque);
    tn_world_step(world, dt);
    if (frame % 60 == 0) {
      printf("%2d s: %.5f rad\n", frame / 60, largest_angle(x));
    }
  }
  bool balanced = largest_angle(x) < 1e-3;
  printf("%s: %.2e rad after 10 s\n", balanced ? "balanced" : "fallen", largest_angle(x));
  tn_articulation_destroy(pendulum);
  tn_world_destroy(world);
  return balanced ? 0 : 1;
}
