// How close shapes must be for a contact, as shares of the smaller one's size: at rest, and more
// for what they may do in a step, but no more than the cap.
#ifndef TENON_DETECT_MARGIN_H
#define TENON_DETECT_MARGIN_H

#define TUNING_CONTACT_MARGIN 0.02f
#define TUNING_CONTACT_MARGIN_CAP 0.5f

#endif
