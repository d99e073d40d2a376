import type { Method, WorldDef } from './api.js';
import { World } from './index.js';
export * from './index.js';

export interface SceneParameter {
  name: string;
  lo: number;
  hi: number;
  /** The default. */
  value: number;
  /** Integers only. */
  whole: boolean;
  meaning: string;
}

/** What is known of a scene before it runs. */
export interface SceneFacts {
  name: string;
  title: string;
  /** The figure or table that it reproduces. */
  source: string;
  group: string;
  camera: { eye: number[]; target: number[] };
  /** Time that it asks for, s. */
  seconds: number;
  conserves: boolean;
  parameters: SceneParameter[];
  settings: { method: Method; substeps: number; iterations: number };
}

/** Version of the engine. */
export function version(): string;
/** The scenes that are built in, those of `tenon scenes`. */
export function scenes(): SceneFacts[];

/** A built-in scene by name, with values of its parameters. */
export interface SceneChoice {
  scene: string;
  parameters?: Record<string, number>;
}

/** A world of a scene: its bodies, motions, metrics and camera. */
export class SceneWorld extends World {
  /** `def` overrides the solver settings of the scene. */
  constructor(source: SceneChoice, def?: Partial<WorldDef>);
  readonly scene: SceneFacts;
  readonly title: string;
  /** Time that the scene asks for, s. */
  readonly seconds: number;
  readonly camera: { eye: number[]; target: number[] };
  /** Simulated time, s. */
  readonly time: number;
  /** What of a model has no effect, a line each. */
  readonly notes: readonly string[];
  /** Called after the motions of the scene and before each step. */
  onDrive: (() => void) | null;
  /** A step without the metrics, which observe() takes: for measuring time. */
  advance(dt?: number): number;
  /** Takes the metrics; returns the largest gap, m, and error of an angle, rad, in a joint of the scene. */
  observe(dt?: number): { gap: number; angle: number };
  /** The metrics that `tenon run` prints, over all steps so far. */
  metrics(): Record<string, number>;
}
