import type { World, WorldDef } from './index.js';

type Promised<T> = T extends (...args: infer A) => infer R ? (...args: A) => Promise<R> : never;
type Methods = {
  [K in keyof World as World[K] extends (...args: never[]) => unknown
    ? K extends 'dispose' | symbol | 'setPairFilter'
      ? never
      : K
    : never]: Promised<World[K]>;
};

/** A world in a worker: the methods of World, each returning a promise. */
export interface WorkerWorld extends Methods {}
export class WorkerWorld {
  /** Starts the worker and its world. */
  static create(def?: Partial<WorldDef>): Promise<WorkerWorld>;
  onMessage: ((level: 'info' | 'warning' | 'error', message: string) => void) | null;
  /** Steps, and brings the poses of all bodies, seven numbers each, in the order of bodies(). */
  stepAndRead(dt?: number, steps?: number): Promise<Float32Array>;
  /** Ends the worker. */
  dispose(): void;
}
