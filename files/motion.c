// Motions of a scene file: targets of servos over time.
#include "loader.h"

#include <math.h>
#include <stdlib.h>

static bool fail_at(loader *l, const char *key, const char *why)
{
  reader_enter(&l->r, key);
  return reader_fail(&l->r, "%s", why);
}

static bool check_times(loader *l, const file_motion *m)
{
  const float *times = m->times.items;
  if (m->times.count < 1 || m->times.count != m->targets.count) {
    return fail_at(l, "targets", "needs as many numbers as times, at least one");
  }
  for (int i = 0; i < m->times.count; ++i) {
    if (!(times[i] >= 0.0f) || (i > 0 && !(times[i] > times[i - 1]))) {
      return fail_at(l, "times", "must grow from 0 or more");
    }
  }
  if (m->repeat && !(times[m->times.count - 1] > 0.0f)) {
    return fail_at(l, "repeat", "needs a last time above 0");
  }
  return true;
}

static bool check_target(loader *l, const file_motion *m)
{
  const scene_run *run = l->run;
  bool joint = m->joint >= 0, coupling = m->coupling >= 0;
  if (joint == coupling) {
    return reader_fail(&l->r, "needs either a joint or a coupling");
  }
  if (joint && m->joint >= run->joint_count) {
    return fail_at(l, "joint", "no joint with this index");
  }
  if (coupling && m->coupling >= run->coupling_count) {
    return fail_at(l, "coupling", "no coupling with this index");
  }
  float stiffness =
      joint ? tn_joint_get_def(run->world, run->joints[m->joint]).axis[m->axis].drive.stiffness
            : tn_coupling_get_def(run->world, run->couplings[m->coupling]).drive.stiffness;
  return stiffness > 0.0f || reader_fail(&l->r, "needs a drive with stiffness");
}

static bool load_motion(loader *l, const cJSON *json, file_motion *m)
{
  type_motion.usual(m);
  return read_object(&l->r, json, &type_motion, m, NULL) && check_times(l, m) && check_target(l, m);
}

void motions_free(scene_file *file)
{
  for (int i = 0; i < file->motion_count; ++i) {
    free_lists(&type_motion, &file->motions[i]);
  }
  free(file->motions);
  file->motions = NULL;
  file->motion_count = 0;
}

bool load_motions(loader *l)
{
  const cJSON *all = l->file->content.motions, *item;
  if (!is_list(l, all, "motions", MAX_THINGS) || !all) {
    return !l->r.failed;
  }
  motions_free(l->file);
  l->file->motions = calloc((size_t)cJSON_GetArraySize(all) + 1, sizeof *l->file->motions);
  if (!l->file->motions) {
    return reader_fail(&l->r, "not enough memory");
  }
  reader_enter(&l->r, "motions");
  cJSON_ArrayForEach(item, all)
  {
    int i = l->file->motion_count++;
    reader_enter_item(&l->r, i);
    if (!load_motion(l, item, &l->file->motions[i])) {
      return false;
    }
    reader_leave(&l->r);
  }
  reader_leave(&l->r);
  return true;
}

// Straight between the given times, constant outside.
static float target_at(const file_motion *m, double time)
{
  const float *times = m->times.items, *targets = m->targets.items;
  int last = m->times.count - 1, i = 0;
  double period = (double)times[last];
  double t = m->repeat ? time - period * floor(time / period) : time;
  while (i < last && t >= (double)times[i + 1]) {
    ++i;
  }
  if (i == last || t <= (double)times[i]) {
    return targets[i];
  }
  double share = (t - (double)times[i]) / ((double)times[i + 1] - (double)times[i]);
  return targets[i] + (float)share * (targets[i + 1] - targets[i]);
}

void motions_drive(const scene_file *file, scene_run *run, double time)
{
  for (int i = 0; i < file->motion_count; ++i) {
    const file_motion *m = &file->motions[i];
    if (m->joint >= 0) {
      tn_joint_id joint = run->joints[m->joint];
      tn_drive drive = tn_joint_get_def(run->world, joint).axis[m->axis].drive;
      drive.target = target_at(m, time);
      tn_joint_set_drive(run->world, joint, (tn_joint_axis)m->axis, drive);
    } else {
      tn_coupling_drive drive = tn_coupling_get_drive(run->world, run->couplings[m->coupling]);
      drive.target = target_at(m, time);
      tn_coupling_set_drive(run->world, run->couplings[m->coupling], drive);
    }
  }
}
