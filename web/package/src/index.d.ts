import type {
  BodyId,
  GeometryId,
  Hit,
  JointDef,
  QueryFilter,
  Quat,
  ShapeDef,
  ShapeId,
  ShapeKind,
  SoftDef,
  Transform,
  Vec3,
  Vectors,
  Numbers,
  WorldBase,
  WorldDef,
} from './api.js';
export type * from './api.js';
export { STEP } from './api.js';
export * from './functions.js';

/** An error that the engine reported, with its message. */
export class TenonError extends Error {}

/** What debugLines() draws. */
export interface DebugOptions {
  shapes?: boolean;
  contacts?: boolean;
  forces?: boolean;
  joints?: boolean;
  limits?: boolean;
  boxes?: boolean;
  islands?: boolean;
  colors?: boolean;
  sleep?: boolean;
  softs?: boolean;
  /** Length of a drawn force, m/N. */
  forceScale?: number;
}

/** What a geometry was made of. */
export interface GeometrySource {
  kind: ShapeKind;
  /** x, y, z of each point of a hull or mesh. */
  points: Float32Array | null;
  /** Three points of each triangle of a mesh. */
  triangles: Int32Array | null;
  heights: Float32Array | null;
  columns: number;
  rows: number;
  spacingX: number;
  spacingZ: number;
  /** Position and tangent of each point of a wire, six numbers. */
  wirePoints: Float32Array | null;
  closed: boolean;
}

/**
 * A world: owns bodies, joints, shapes and soft bodies, which are named by ids. Free it with
 * dispose(), or with `using`. Invalid input throws a TenonError with the engine's message and changes
 * nothing.
 */
export class World extends WorldBase {
  constructor(def?: Partial<WorldDef>);
  /** Frees the world. Later calls throw. */
  dispose(): void;
  [Symbol.dispose](): void;
  readonly isDisposed: boolean;
  /** Called with every message; by default warnings go to the console. */
  onMessage: ((level: 'info' | 'warning' | 'error', message: string) => void) | null;

  /** Advances by `dt` seconds, 1/60 by default. Returns bits of STEP. */
  step(dt?: number): number;

  /** The exact state. */
  save(): Uint8Array;
  /** Goes back to a saved state of this version. */
  restore(state: Uint8Array): void;
  /** What moves, in a tenth of the bytes: without masses, materials and settings. */
  saveState(): Uint8Array;
  /** Puts this world, or one with the same things in it, into a state of saveState(). */
  restoreState(state: Uint8Array): void;

  /**
   * Poses of bodies, seven numbers each: position and rotation; without ids all of them, in the order
   * of bodies(). This and the other read* methods return a view that is valid until the next call of
   * the same method and until the memory grows: copy what you keep.
   */
  readPoses(ids?: readonly BodyId[] | null, type?: 'f32'): Float32Array;
  readPoses(ids: readonly BodyId[] | null | undefined, type: 'f64'): Float64Array;
  /** Linear and angular velocities, six numbers each. */
  readVelocities(ids?: readonly BodyId[] | null, type?: 'f32'): Float32Array;
  readVelocities(ids: readonly BodyId[] | null | undefined, type: 'f64'): Float64Array;
  /** Matrices for instanced drawing, 16 numbers each, by columns, less `origin`. */
  readMatrices(ids?: readonly BodyId[] | null, origin?: Vec3): Float32Array;
  /** 1 for bodies that are awake. */
  readAwake(ids?: readonly BodyId[] | null): Uint8Array;
  writePoses(ids: readonly BodyId[] | null, rows: Numbers): void;
  writeVelocities(ids: readonly BodyId[] | null, rows: Numbers): void;
  /** Force and torque, six numbers each, during the next step. */
  applyForces(ids: readonly BodyId[] | null, rows: Numbers): void;

  /** The definition of a joint at a point of the world, its axis a along `axis`. */
  jointDefAt(def: Partial<JointDef> & Pick<JointDef, 'kind'>, point: Vec3, axis: Vec3): JointDef;
  /** The definition of a joint between a point of each body. */
  jointDefBetween(
    def: Partial<JointDef> & Pick<JointDef, 'kind'>,
    pointA: Vec3,
    pointB: Vec3,
  ): JointDef;

  /** Many rays: starts and ways as vectors. */
  rays(from: Vectors, way: Vectors, filter?: Partial<QueryFilter>): Hit[];
  /** All hits of a ray, in no order. */
  rayAll(from: Vec3, way: Vec3, filter?: Partial<QueryFilter>): Hit[];
  /** All hits of a moved shape, in no order. */
  castAll(
    def: Partial<ShapeDef> & Pick<ShapeDef, 'kind'>,
    at: Transform,
    way: Vec3,
    filter?: Partial<QueryFilter>,
  ): Hit[];
  /** The box of a shape, null if it has none. */
  shapeBox(shape: ShapeId): { lower: number[]; upper: number[] } | null;
  /** The arrays that a hull, mesh, height field or wire was made of; null where its kind has none. */
  geometrySource(geometry: GeometryId): GeometrySource;
  /** Decides about pairs besides the filters of shapes; null for none. */
  setPairFilter(filter: ((a: ShapeId, b: ShapeId) => boolean) | null): void;
  /** Lines of the debug view: six numbers and a colour 0xRRGGBBAA each. */
  debugLines(what?: DebugOptions): { points: Float32Array; colors: Uint32Array };
}

/** Cloth in the x-z plane, for createSoft(). */
export function softMeshCloth(
  columns: number,
  rows: number,
  sizeX: number,
  sizeZ: number,
): Partial<SoftDef>;
export function softMeshRope(segments: number, length: number): Partial<SoftDef>;
export function softMeshBox(
  cells: readonly number[],
  halfExtents: Vec3,
  tetrahedra?: boolean,
): Partial<SoftDef>;
export function softMeshBall(cells: number, radius: number, tetrahedra?: boolean): Partial<SoftDef>;
export function softMeshTube(
  cells: readonly number[],
  innerRadius: number,
  outerRadius: number,
  halfLength: number,
): Partial<SoftDef>;
export function softMeshSphere(level: number, radius: number): Partial<SoftDef>;
export function softMeshTriangles(vertices: Vectors, triangles: Numbers): Partial<SoftDef>;
export function softMeshSolid(
  vertices: Vectors,
  triangles: Numbers,
  cell: number,
  tetrahedra?: boolean,
): Partial<SoftDef>;
export type { Quat };
