import type { BodyId, JointId, Numbers, Quat, Transform, Vec3, Vectors, WorldDef } from './api.js';
import type { World } from './index.js';
import { SceneWorld as BuiltIn } from './scenes.js';
import type { SceneChoice, SceneFacts } from './scenes.js';
export * from './scenes.js';
export * from './articulation.js';

/**
 * A scene file (docs/scene_files.md), or a model in XML as a scene, which may name other files. Read and
 * checked once, and opened by SceneWorld. Throws a TenonError with "line:NUMBER: path: reason" for a text
 * that is no scene.
 */
export interface SceneFile extends SceneFacts {}
export class SceneFile {
  constructor(
    text: string | Uint8Array,
    options?: {
      /** Of a model, with the folder that its files are relative to. */
      name?: string;
      files?: Record<string, string | Uint8Array | ArrayBuffer>;
    },
  );
  /** The text of a scene file, also of a model, as `tenon export` writes it. */
  write(settings?: Partial<WorldDef>): string;
  /** Frees the file once no world uses it. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** A built-in scene as the text of a scene file. */
export function writeScene(
  name: string,
  options?: Partial<WorldDef> & { parameters?: Record<string, number> },
): string;

/** A world of a scene: of a file, of its text, or built in. */
export class SceneWorld extends BuiltIn {
  /** `def` overrides the solver settings of the scene. */
  constructor(source: string | Uint8Array | SceneFile | SceneChoice, def?: Partial<WorldDef>);
}

export type ModelPart = 'body' | 'joint' | 'actuator' | 'keyframe' | 'sensor';

export interface ModelOptions {
  /** Of the file, with the folder that includes and meshes are relative to: 'robot/arm.urdf'. */
  name?: string;
  /** Files that it includes: text, or bytes of STL, OBJ and glTF, by path. */
  files?: Record<string, string | Uint8Array | ArrayBuffer>;
  /** 'auto': found out from the content. */
  format?: 'auto' | 'mjcf' | 'urdf' | 'tutorial';
  /** Folders of `files` for package:// and missing files. */
  searchPaths?: readonly string[];
  /** How the root link of a URDF file stands in the world. */
  base?: 'auto' | 'fixed' | 'free';
  /** Convex parts of a mesh on a body that moves, 1 to 64; 1: its convex hull. */
  maxHulls?: number;
  /** false leaves mesh files out. */
  meshes?: boolean;
}

export interface ModelBody {
  name: string;
  /** Index of the body that it hangs on; -1: it is the world, body 0. */
  parent: number;
  position: number[];
  rotation: number[];
  mass: number;
  center: number[];
  /** xx, yy, zz, xy, xz, yz, about the centre of mass. */
  inertia: number[];
}

export interface ModelNote {
  fate: 'honoured' | 'approximated' | 'ignored' | 'visual' | 'missing';
  text: string;
  file: string;
  line: number;
  count: number;
}

/** A robot or machine from a file: MJCF, URDF or a scene of the tutorial. Belongs to no world. */
export class Model {
  /** Throws a TenonError "file:line: reason" for a file that is malformed. */
  constructor(data: string | Uint8Array | ArrayBuffer, options?: ModelOptions);
  /** Frees the model: after its instances. */
  dispose(): void;
  [Symbol.dispose](): void;
  readonly name: string;
  readonly format: 'mjcf' | 'urdf' | 'tutorial';
  readonly counts: Record<
    | 'bodies'
    | 'joints'
    | 'positions'
    | 'velocities'
    | 'geoms'
    | 'sites'
    | 'meshes'
    | 'actuators'
    | 'tendons'
    | 'equalities'
    | 'sensors'
    | 'keyframes',
    number
  >;
  readonly totalMass: number;
  /** In the frame of the model, whose z axis is up. */
  readonly gravity: number[];
  /** Index of a part by name; -1 for none. */
  find(kind: ModelPart, name: string | number): number;
  /** Names of all parts of a kind; empty for those without. */
  names(kind: ModelPart): string[];
  keyframeControls(keyframe: string | number): number[];
  /** All bodies at a keyframe, or at the reference position. */
  bodies(keyframe?: string | number): ModelBody[];
  /** What of the file is honoured, approximated and ignored. */
  report(): ModelNote[];
}

export interface InstanceOptions {
  /** Of the model's frame in the world. */
  place?: Transform;
  /** Turns the model's up axis to y; true. */
  yUp?: boolean;
  /** Of the names of its bodies, for several copies. */
  prefix?: string;
  /** That it starts in; the reference position. */
  keyframe?: string | number;
}

/**
 * A model in a world: bodies, shapes and joints, which belong to the world. Parts are named by name or
 * index. Gravity stays that of the world: see `gravity`.
 */
export class Instance {
  constructor(world: World, model: Model, options?: InstanceOptions);
  /** Gives back the memory of the instance; what it has built stays in the world. */
  dispose(): void;
  [Symbol.dispose](): void;
  body(name: string | number): BodyId;
  /** null for a free joint. */
  joint(name: string | number): JointId;
  transform(body: string | number): Transform;
  /** Gravity of the model in the axes of the world. */
  readonly gravity: number[];
  /** Positions of all joints as the file counts them. */
  positions(): number[];
  setPositions(numbers: Numbers): void;
  velocities(): number[];
  setVelocities(numbers: Numbers): void;
  /** -1: the reference position, at rest. */
  applyKeyframe(keyframe: string | number): void;
  /** Values of a sensor, as MuJoCo defines them. */
  sensor(name: string | number): number[];
  control(actuator: string | number): number;
  /** Target of a position servo, force of a motor. */
  setControl(actuator: string | number, control: number): void;
  /** Before each step of a model with filters, integrators or sensors of acceleration. */
  advance(dt?: number): void;
}

/** Splits the solid inside a closed mesh into convex parts: the points of each. */
export function convexDecompose(
  vertices: Vectors,
  triangles: Numbers,
  maxParts?: number,
  error?: number,
): Float32Array[];
export type { Quat, Vec3 };
