// Sensors at sites: inertial ones, load cells, range finders and touch, in the axes of the site.
#include "sensors.h"

#include <string.h>

// The joint of the world that carries a body of the model, and where it acts on that body.
static tn_joint_state carrying_joint(const tn_instance *in, int body, bool *found, dvec *point)
{
  int owner = in->owners[body];
  const model_body *b = &in->model->bodies.items[owner];
  tn_joint_id id = {0, 0, 0};
  if (b->joint_count > 0) {
    id = in->joints[b->first_joint + b->joint_count - 1];
  }
  *found = !TN_IS_NULL(id);
  if (!*found) {
    return (tn_joint_state){0};
  }
  tn_joint_def def = tn_joint_get_def(in->world, id);
  tn_transform at = tn_body_transform(in->world, def.body_b);
  dpose base = {dvec_of_pos(at.p),
                {(double)at.q.w, (double)at.q.x, (double)at.q.y, (double)at.q.z}};
  *point = dpose_apply(base, dvec_of_pos(def.frame_b.p));
  return tn_joint_get_state(in->world, id);
}

static int sense_load(const tn_instance *in, const model_sensor *s, const sensed_frame *f,
                      double *out)
{
  bool found;
  dvec point = {0.0, 0.0, 0.0};
  tn_joint_state state = carrying_joint(in, f->body, &found, &point);
  dvec force = dvec_of_vec3(state.force);
  dvec arm = dvec_sub(point, f->at.p);
  dvec torque = dvec_add(dvec_of_vec3(state.torque), dvec_cross(arm, force));
  dvec value = sensor_is(s, "force") ? force : torque;
  return sensor_put(out, drot_apply(drot_inverse(f->at.q), value));
}

int sense_at_site(const tn_instance *in, const model_sensor *s, double *out)
{
  sensed_frame f;
  if (strcmp(s->object_type, "site") != 0 || !sensor_find_frame(in, "site", s->object, &f)) {
    return 0;
  }
  if (sensor_is(s, "force") || sensor_is(s, "torque")) {
    return sense_load(in, s, &f, out);
  }
  const struct {
    const char *type;
    dvec value;
  } kinds[] = {{"gyro", f.spin},
               {"velocimeter", f.velocity},
               {"accelerometer", f.push},
               {"magnetometer", drot_apply(in->place.q, in->model->option.magnetic)}};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
    if (sensor_is(s, kinds[i].type)) {
      return sensor_put(out, drot_apply(drot_inverse(f.at.q), kinds[i].value));
    }
  }
  return 0;
}

// ---------------------------------------------------------------------------------------------
// Range finders

typedef struct ray_search {
  tn_body_id own;
  float nearest; // fraction of the way
} ray_search;

static float meet(const tn_hit *hit, void *context)
{
  ray_search *search = context;
  if (TN_SAME_ID(hit->body, search->own)) {
    return -1.0f;
  }
  search->nearest = fminf(search->nearest, hit->fraction);
  return hit->fraction;
}

// Distance along the site's z axis to a shape of another body; -1: none within a kilometre.
int sense_ray(const tn_instance *in, const model_sensor *s, double *out)
{
  sensed_frame f;
  if (!sensor_is(s, "rangefinder") || !sensor_find_frame(in, "site", s->object, &f)) {
    return 0;
  }
  double reach = s->cutoff > 0.0 ? s->cutoff : 1000.0;
  dvec way = drot_apply(f.at.q, dvec_of(0.0, 0.0, reach));
  ray_search search = {tn_instance_body(in, f.body), 2.0f};
  tn_world_ray_all(in->world, pos_of(f.at.p), vec3_of(way), tn_default_query_filter(), meet,
                   &search);
  out[0] = search.nearest <= 1.0f ? reach * (double)search.nearest : -1.0;
  return 1;
}

// ---------------------------------------------------------------------------------------------
// Touch: normal forces of all contacts of the body that the site is on

int sense_touch(const tn_instance *in, const model_sensor *s, double *out)
{
  sensed_frame f;
  if (!sensor_is(s, "touch") || !sensor_find_frame(in, "site", s->object, &f)) {
    return 0;
  }
  enum { MOST = 64 };
  tn_contact contacts[MOST];
  tn_body_id id = tn_instance_body(in, f.body);
  int count = TN_IS_NULL(id) ? 0 : tn_body_contacts(in->world, id, contacts, MOST);
  out[0] = 0.0;
  for (int i = 0; i < count && i < MOST; ++i) {
    for (int k = 0; k < contacts[i].count; ++k) {
      out[0] += (double)contacts[i].points[k].normal_force;
    }
  }
  return 1;
}
