import type { BodyId, JointId, Numbers, Vec3 } from './api.js';
import type { World } from './index.js';

/** A joint of the trees, or a free root. */
export interface ArticulationJoint {
  /** null for a free root. */
  joint: JointId;
  /** The body that it moves. */
  body: BodyId;
  /** Index of the joint that moves the other body; -1: that does not move. */
  parent: number;
  firstPosition: number;
  positionCount: number;
  firstVelocity: number;
  velocityCount: number;
}

/** State in lists: positions q, velocities q', and a target for each velocity. */
export interface Keyframe {
  positions: Float64Array;
  velocities: Float64Array;
  targets: Float64Array;
}

/**
 * Reduced coordinates of the trees of bodies that start at root bodies of a world: joint positions and
 * velocities, mass matrix, Jacobians, inverse and forward dynamics. tenon/articulation.h has the
 * coordinates of each joint. Calls throw once a body or joint of it is gone.
 */
export class Articulation {
  constructor(
    world: World,
    /** Dynamic bodies; `cuts` are joints that the trees do not follow, and count as loops. */
    def: { roots: readonly BodyId[]; cuts?: readonly JointId[] },
  );
  /** Frees the articulation; bodies and joints stay. */
  dispose(): void;
  [Symbol.dispose](): void;
  readonly counts: Record<'joints' | 'loops' | 'positions' | 'velocities', number>;
  /** Joints of the trees in the order of their coordinates. */
  joints(): ArticulationJoint[];
  /** Joints that close loops. */
  loops(): JointId[];
  /** q, m and rad. */
  positions(): Float64Array;
  /** Moves all bodies. `keep`: coordinates that stay while loops are closed, one for each velocity. */
  setPositions(positions: Numbers, keep?: readonly boolean[]): void;
  /** q', m/s and rad/s. */
  velocities(): Float64Array;
  setVelocities(velocities: Numbers, keep?: readonly boolean[]): void;
  /** Positions after a time at constant velocities. Changes nothing in the world. */
  integrate(positions: Numbers, velocities: Numbers, dt: number): Float64Array;
  /** Positions, velocities and targets of drives. */
  save(): Keyframe;
  /** Sets those that are given. */
  apply(keyframe: { positions?: Numbers; velocities?: Numbers; targets?: Numbers }): void;
  /** Generalised forces during the next step, N and N m, one for each velocity. */
  applyForces(forces: Numbers): void;
  /** Generalised forces that the joints exerted along their axes, as the mean over the last step. */
  jointForces(): Float64Array;
  /** M, velocities x velocities. */
  massMatrix(): Float64Array;
  /** c: Coriolis and centrifugal forces and minus gravity, M q'' + c = forces. */
  biasForces(): Float64Array;
  /** The generalised forces for given accelerations. */
  inverseDynamics(accelerations: Numbers): Float64Array;
  /** Accelerations of the trees under given forces, without loops, drives and contacts. */
  forwardDynamics(forces: Numbers): Float64Array;
  /** 3 x velocities, world axes: `linear` q' is the velocity of a point in the body's frame. */
  jacobian(body: BodyId, point: Vec3): { linear: Float64Array; angular: Float64Array };
}
