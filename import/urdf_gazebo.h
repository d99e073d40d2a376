// <gazebo> elements of URDF: what they say about the motion.
#ifndef TENON_IMPORT_URDF_GAZEBO_H
#define TENON_IMPORT_URDF_GAZEBO_H

#include "xml.h"

// Applies them to the bodies and joints that they name.
void urdf_read_gazebo(reader *r, const xml_node *root);

#endif
