// A program that uses an installed Tenon; built as C and as C++. A body falls for one second.
#include <tenon/tenon.h>

#include <math.h>
#include <stdio.h>

int main(void)
{
  tn_world_def world_def = tn_default_world_def();
  world_def.gravity = tn_v3(0.0f, -9.81f, 0.0f);
  tn_world *world = tn_world_create(&world_def);

  tn_body_def body_def = tn_default_body_def();
  body_def.type = TN_BODY_DYNAMIC;
  body_def.mass = tn_mass_sphere(0.1f, 1000.0f);
  tn_body_id body = tn_body_create(world, &body_def);

  uint32_t status = TN_STEP_OK;
  for (int i = 0; i < 60; i++) {
    status |= tn_world_step(world, 1.0f / 60.0f);
  }
  double height = tn_body_position(world, body).y;
  float speed = tn_length(tn_body_velocity(world, body));
  tn_world_destroy(world);

  double expected = -0.5 * 9.81;
  printf("%s\n", tn_config());
  printf("height %.4f m, -g t^2 / 2 is %.4f m; speed %.4f m/s\n", height, expected, (double)speed);
  bool fell = fabs(height - expected) < 0.02 * fabs(expected) && fabsf(speed - 9.81f) < 0.01f;
  return status == TN_STEP_OK && fell ? 0 : 1;
}
