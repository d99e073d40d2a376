// The shortest path between two points around a sphere or a cylinder, as of a rope on a pulley.
#ifndef TENON_COLLIDE_PATH_WRAP_H
#define TENON_COLLIDE_PATH_WRAP_H

#include <tenon/math.h>

#include <stdbool.h>

// A cylinder has no ends. Directions may be of any length.
typedef struct path_solid {
  tn_pos center;
  double radius;
  tn_pos axis; // zero: a sphere
  tn_pos side; // where the path passes, from the centre; zero: the shorter way
  bool inside; // the path touches the surface once, from within or from outside
} path_solid;

// Where the path meets the surface: at 0, 1 or 2 points. The length of the path is that of its
// straight parts and `arc`, on the surface.
typedef struct path_wrap {
  int count;
  tn_pos at[2];
  double arc; // m
} path_wrap;

path_wrap path_wrap_find(const path_solid *solid, tn_pos a, tn_pos b);

#endif
