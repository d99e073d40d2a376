// What the files of sensors share.
#ifndef TENON_IMPORT_SENSORS_H
#define TENON_IMPORT_SENSORS_H

#include "instance.h"

// A frame that moves with a body of the model: a body, geom or site.
typedef struct sensed_frame {
  int body;
  dpose at;            // in the world
  dvec velocity, spin; // of its origin, and angular; world axes
  dvec push, angular;  // their rates over the last step, without gravity
} sensed_frame;

bool sensor_is(const model_sensor *sensor, const char *type);
// The frame of an object by its kind and name. False if there is none.
bool sensor_find_frame(const tn_instance *instance, const char *kind, const char *name,
                       sensed_frame *frame);
int sensor_put(double *out, dvec v);

// Each fills in its values, at most 6, and returns their number; 0: not this kind.
int sense_at_site(const tn_instance *instance, const model_sensor *sensor, double *out);
int sense_ray(const tn_instance *instance, const model_sensor *sensor, double *out);
int sense_touch(const tn_instance *instance, const model_sensor *sensor, double *out);
int sense_actuator(tn_instance *instance, const model_sensor *sensor, double *out);
int sense_tendon(tn_instance *instance, const model_sensor *sensor, double *out);

#endif
