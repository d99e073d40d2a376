// Gap up to which shapes get a contact, relative to the smaller shape's bounding radius L:
//
//   margin = 0.02 L + min(closing distance of the step, 0.5 L)
//
// The second term makes contacts speculative; without the cap fast shapes get contacts with
// everything around them. Motion beyond the cap needs continuous collision detection.
#ifndef TENON_DETECT_MARGIN_H
#define TENON_DETECT_MARGIN_H

#define TUNING_CONTACT_MARGIN 0.02f
#define TUNING_CONTACT_MARGIN_CAP 0.5f

#endif
