import type { BodyId, JointId, ShapeDef, World } from './index.js';

/** Vertices and triangles of a hull, mesh, height field or wire in its own frame; null for others. */
export function surfaceOf(
  world: World,
  shape: Pick<ShapeDef, 'kind' | 'geometry' | 'radius'>,
): { vertices: Float32Array; indices: Uint32Array } | null;

/** Numbers of each contact point: position, normal force, share of the friction force, gap. */
export const CONTACT_NUMBERS: 10;
/** Numbers of each joint: force, torque, gap, error of the angle, 1 if it is broken. */
export const JOINT_NUMBERS: 9;
/** The contact points of a world, or of a body, CONTACT_NUMBERS each. */
export function readContacts(world: World, body?: BodyId): Float32Array;
/** What joints do now, JOINT_NUMBERS each. */
export function readJoints(world: World, ids: readonly JointId[]): Float32Array;
