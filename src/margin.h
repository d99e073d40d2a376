// How close shapes must be for a contact, as shares of the smaller one's size: at rest, and more
// for what they may do in a step, but no more than the cap.
#ifndef TENON_MARGIN_H
#define TENON_MARGIN_H

#define MARGIN 0.02f
#define MARGIN_CAP 0.5f

#endif
