// Entry point for those who draw without three.js: numbers of all joints or contacts in one call, and
// triangles of shapes.
import { CONTACT, JOINT_STATE } from './layouts.js';

export { surfaceOf } from './surfaces.js';

/** Numbers of each contact point: position, normal force, share of the friction force, gap. */
export const CONTACT_NUMBERS = 10;
/** Numbers of each joint: force, torque, gap, error of the angle, 1 if it is broken. */
export const JOINT_NUMBERS = 9;

/** The contact points of a world, or of a body, CONTACT_NUMBERS each. */
export function readContacts(world, body = 0) {
  const m = world._begin();
  try {
    const list = (at, room) =>
      body
        ? m.x.tn_body_contacts(m.world, m.tempId(body), at, room)
        : m.x.tn_world_contacts(m.world, at, room);
    const count = list(0, 0);
    const at = m.temp(CONTACT.size * count);
    list(at, count);
    const out = new Float32Array(4 * count * CONTACT_NUMBERS);
    let used = 0;
    for (let i = 0; i < count; ++i) used = putPoints(m.v, at + CONTACT.size * i, out, used);
    return out.subarray(0, used);
  } finally {
    m.end();
  }
}

function putPoints(view, contact, out, used) {
  const f32 = (at) => view.getFloat32(at, true);
  const count = view.getInt32(contact + CONTACT.count, true);
  for (let i = 0; i < count; ++i) {
    const point = contact + CONTACT.points + CONTACT.point * i;
    const force = f32(point + CONTACT.normal_force);
    for (let k = 0; k < 3; ++k) {
      out[used + k] = view.getFloat64(point + 8 * k, true);
      out[used + 3 + k] = force * f32(contact + CONTACT.normal + 4 * k);
      out[used + 6 + k] = f32(contact + CONTACT.friction_force + 4 * k) / count;
    }
    out[used + 9] = f32(point + CONTACT.gap);
    used += CONTACT_NUMBERS;
  }
  return used;
}

/** What joints do now, JOINT_NUMBERS each. */
export function readJoints(world, ids) {
  const m = world._begin();
  try {
    const list = m.tempList(ids, 'id', 1).at;
    const at = m.temp(JOINT_STATE.size);
    const out = new Float32Array(ids.length * JOINT_NUMBERS);
    for (let i = 0; i < ids.length; ++i) {
      m.x.tn_joint_get_state(at, m.world, list + 12 * i);
      const { v } = m;
      const f32 = (offset) => v.getFloat32(at + offset, true);
      const to = i * JOINT_NUMBERS;
      for (let k = 0; k < 3; ++k) {
        out[to + k] = f32(JOINT_STATE.force + 4 * k);
        out[to + 3 + k] = f32(JOINT_STATE.torque + 4 * k);
      }
      out[to + 6] = f32(JOINT_STATE.elongation);
      out[to + 7] = f32(JOINT_STATE.angular_error);
      out[to + 8] = m.u8(at + JOINT_STATE.broken);
    }
    return out;
  } finally {
    m.end();
  }
}
