// An arm of two links, with a motor in each joint, follows a path of joint angles: iterative linear
// quadratic regulator (iLQR) with derivatives of each step along the present motion.
//
//   cost   the sum over steps of (x - r)^T Q (x - r) + s u^T u, x = (angles, rates), r the path
//   back   K = Quu^-1 Qux, k = Quu^-1 Qu for the quadratic model of the cost that remains
//   ahead  u <- u - a k - K (x - x_old), a = 1, 1/2, 1/4 ... until the cost falls
//
// Prints the cost of each iteration; exit status 0 if the angles follow within 0.01 rad.
#include <tenon/batch.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define STEPS 60
#define ITERATIONS 4
#define N 4 // two angles, two rates
#define M 2 // torques

static const float dt = 1.0f / 60.0f;
static const double weight[N] = {100.0, 100.0, 1e-3, 1e-3}, effort = 1e-5;

typedef struct motion {
  double x[STEPS + 1][N], u[STEPS][M], cost;
} motion;

typedef struct feedback {
  double k[STEPS][M], gain[STEPS][M][N];
} feedback;

typedef struct arm {
  tn_world *world;
  tn_body_id root;
  tn_articulation *joints;
  tn_batch *batch; // for derivatives
} arm;

static void path(int step, double r[N])
{
  double w = 2.0 * 3.14159265358979 / STEPS, t = w * step, rate = w / (double)dt;
  r[0] = 0.6 * (1.0 - cos(t));
  r[1] = -0.5 * (1.0 - cos(2.0 * t));
  r[2] = 0.6 * rate * sin(t);
  r[3] = -1.0 * rate * sin(2.0 * t);
}

static bool make_arm(arm *a)
{
  tn_world_def def = tn_default_world_def();
  a->world = tn_world_create(&def);
  tn_body_id last = {0};
  for (int i = 0; i < 2; ++i) {
    tn_body_def rod = tn_default_body_def();
    rod.position = tn_p3(0.0, -0.5 - i, 0.0);
    rod.mass = tn_mass_scaled_to(tn_mass_box(tn_v3(0.05f, 0.5f, 0.05f), 1000.0f), 1.0f);
    tn_body_id body = tn_body_create(a->world, &rod);
    tn_joint_def hinge = tn_default_joint_def(TN_JOINT_HINGE);
    hinge.body_a = last;
    hinge.body_b = body;
    tn_joint_def_at(a->world, &hinge, tn_p3(0.0, -i, 0.0), tn_v3(0.0f, 0.0f, 1.0f));
    tn_joint_create(a->world, &hinge);
    a->root = i == 0 ? body : a->root;
    last = body;
  }
  tn_articulation_def trees = tn_default_articulation_def();
  trees.roots = &a->root;
  trees.root_count = 1;
  a->joints = tn_articulation_create(a->world, &trees);
  tn_batch_def many = tn_default_batch_def();
  many.world = a->world;
  many.count = 12; // two runs for each of four states and two torques
  a->batch = tn_batch_create(&many);
  return a->joints && a->batch && tn_batch_articulate(a->batch, &trees);
}

// Moves the arm from rest by the torques of `old`, changed by the feedback if there is one.
static void run(arm *a, const motion *old, const feedback *f, double scale, motion *m)
{
  double x[N] = {0.0};
  m->cost = 0.0;
  tn_articulation_set_positions(a->joints, x, NULL);
  tn_articulation_set_velocities(a->joints, x + 2, NULL);
  for (int t = 0; t <= STEPS; ++t) {
    double r[N];
    path(t, r);
    tn_articulation_positions(a->joints, m->x[t]);
    tn_articulation_velocities(a->joints, m->x[t] + 2);
    for (int i = 0; i < N; ++i) {
      m->cost += weight[i] * (m->x[t][i] - r[i]) * (m->x[t][i] - r[i]);
    }
    for (int i = 0; i < M && t < STEPS; ++i) {
      m->u[t][i] = old->u[t][i] - (f ? scale * f->k[t][i] : 0.0);
      for (int n = 0; n < N && f; ++n) {
        m->u[t][i] -= f->gain[t][i][n] * (m->x[t][n] - old->x[t][n]);
      }
      m->cost += effort * m->u[t][i] * m->u[t][i];
    }
    if (t < STEPS) {
      tn_articulation_apply_forces(a->joints, m->u[t]);
      tn_world_step(a->world, dt);
    }
  }
}

static bool derivatives(arm *a, const motion *m, int t, double at[N][N], double bt[N][M])
{
  double q[12][2], rate[12][2];
  for (int w = 0; w < 12; ++w) {
    memcpy(q[w], m->x[t], sizeof q[w]);
    memcpy(rate[w], m->x[t] + 2, sizeof rate[w]);
  }
  tn_batch_rows q_rows = {.data = q, .type = TN_DOUBLE};
  tn_batch_rows rate_rows = {.data = rate, .type = TN_DOUBLE};
  return tn_batch_write(a->batch, TN_BATCH_Q, NULL, q_rows) &&
         tn_batch_write(a->batch, TN_BATCH_QD, NULL, rate_rows) &&
         tn_batch_derivatives(a->batch, dt, 1, 0.0, m->u[t], at[0], bt[0]);
}

// c = a^T b for matrices of `n` rows, with `r` and `s` columns.
static void transposed_times(int n, int r, int s, const double *a, const double *b, double *c)
{
  for (int i = 0; i < r; ++i) {
    for (int k = 0; k < s; ++k) {
      c[i * s + k] = 0.0;
      for (int j = 0; j < n; ++j) {
        c[i * s + k] += a[j * r + i] * b[j * s + k];
      }
    }
  }
}

// One step back: the cost that remains is p^T dx + dx^T P dx / 2 about the motion. P is symmetric.
static void step_back(const motion *m, int t, double a[N][N], double b[N][M], double big_p[N][N],
                      double p[N], feedback *f)
{
  double pa[N][N], pb[N][M], qx[N], qu[M], qxx[N][N], quu[M][M], qux[M][N], r[N];
  path(t, r);
  transposed_times(N, N, N, big_p[0], a[0], pa[0]);
  transposed_times(N, N, M, big_p[0], b[0], pb[0]);
  transposed_times(N, N, N, a[0], pa[0], qxx[0]);
  transposed_times(N, M, M, b[0], pb[0], quu[0]);
  transposed_times(N, M, N, b[0], pa[0], qux[0]);
  transposed_times(N, N, 1, a[0], p, qx);
  transposed_times(N, M, 1, b[0], p, qu);
  for (int i = 0; i < N; ++i) {
    qx[i] += 2.0 * weight[i] * (m->x[t][i] - r[i]);
    qxx[i][i] += 2.0 * weight[i];
  }
  for (int i = 0; i < M; ++i) {
    qu[i] += 2.0 * effort * m->u[t][i];
    quu[i][i] += 2.0 * effort;
  }
  double det = quu[0][0] * quu[1][1] - quu[0][1] * quu[1][0];
  double inverse[M][M] = {{quu[1][1] / det, -quu[1][0] / det}, {-quu[0][1] / det, quu[0][0] / det}};
  transposed_times(M, M, 1, inverse[0], qu, f->k[t]);
  transposed_times(M, M, N, inverse[0], qux[0], f->gain[t][0]);
  for (int i = 0; i < N; ++i) {
    p[i] = qx[i] - qux[0][i] * f->k[t][0] - qux[1][i] * f->k[t][1];
    for (int n = 0; n <= i; ++n) {
      big_p[i][n] = big_p[n][i] =
          qxx[i][n] - qux[0][i] * f->gain[t][0][n] - qux[1][i] * f->gain[t][1][n];
    }
  }
}

static bool go_back(arm *a, const motion *m, feedback *f)
{
  double big_p[N][N] = {{0.0}}, p[N], r[N];
  path(STEPS, r);
  for (int i = 0; i < N; ++i) {
    p[i] = 2.0 * weight[i] * (m->x[STEPS][i] - r[i]);
    big_p[i][i] = 2.0 * weight[i];
  }
  for (int t = STEPS - 1; t >= 0; --t) {
    double at[N][N], bt[N][M];
    if (!derivatives(a, m, t, at, bt)) {
      return false;
    }
    step_back(m, t, at, bt, big_p, p, f);
  }
  return true;
}

static double largest_error(const motion *m)
{
  double worst = 0.0, r[N];
  for (int t = 0; t <= STEPS; ++t) {
    path(t, r);
    worst = fmax(worst, fmax(fabs(m->x[t][0] - r[0]), fabs(m->x[t][1] - r[1])));
  }
  return worst;
}

int main(void)
{
  static motion now, next;
  static feedback f;
  arm a = {0};
  bool ok = make_arm(&a);
  if (ok) {
    run(&a, &now, NULL, 0.0, &now); // without torques
    printf("at first: cost %.4g, error %.4f rad\n", now.cost, largest_error(&now));
  }
  for (int i = 1; i <= ITERATIONS && ok; ++i) {
    ok = go_back(&a, &now, &f);
    next.cost = HUGE_VAL;
    for (double scale = 1.0; scale > 1e-3 && ok && !(next.cost < now.cost); scale *= 0.5) {
      run(&a, &now, &f, scale, &next);
    }
    now = next.cost < now.cost ? next : now;
    printf("iteration %d: cost %.4g, error %.4f rad\n", i, now.cost, largest_error(&now));
  }
  ok = ok && largest_error(&now) < 0.01;
  printf("%s\n", ok ? "on the path" : "off the path");
  tn_batch_destroy(a.batch);
  tn_articulation_destroy(a.joints);
  tn_world_destroy(a.world);
  return ok ? 0 : 1;
}
