// Of the device module: functions that are exact or correctly rounded on every target.
#ifndef TENON_DEVICE_MATH_H
#define TENON_DEVICE_MATH_H

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VAL __builtin_huge_val()
#define isfinite(x) __builtin_isfinite(x)
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)
#define signbit(x) __builtin_signbit(x)
#define sqrtf __builtin_sqrtf
#define sqrt __builtin_sqrt
#define fabsf __builtin_fabsf
#define fabs __builtin_fabs
#define floorf __builtin_floorf
#define floor __builtin_floor
#define ceil __builtin_ceil
#define fminf __builtin_fminf
#define fmaxf __builtin_fmaxf
#define fmin __builtin_fmin
#define fmax __builtin_fmax

// Not by the name that compilers know: they would put an inexact instruction in its place.
#define fmod device_fmod
double device_fmod(double x, double y);

#endif
