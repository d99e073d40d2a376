import type { Group, Material, Raycaster } from 'three';
import type { DebugOptions, Hit, ShapeDef, World } from './index.js';

/** A view of a world: an instanced mesh for every shape, a surface for every soft body. */
export class WorldView {
  constructor(
    world: World,
    options?: { material?: (shape: ShapeDef, moves: boolean) => Material | undefined },
  );
  /** Add this to your scene. */
  readonly group: Group;
  /** Notes the poses of the world: call it after every step. */
  capture(): void;
  /** Moves the meshes: `alpha` from 0, the state before the last step, to 1, that after it. */
  update(alpha?: number): void;
  /** Makes the meshes again. */
  refresh(): void;
  /** Draws what debugLines() gives; null removes it. */
  drawDebug(what: DebugOptions | null): void;
  /** What a ray hits in the world, within `distance` metres. */
  pick(raycaster: Raycaster, distance?: number): Hit;
  dispose(): void;
}

/** Pulls a body by a soft joint to the pointer. */
export class Dragger {
  constructor(world: World);
  readonly isDragging: boolean;
  begin(raycaster: Raycaster, options?: { compliance?: number; distance?: number }): boolean;
  move(raycaster: Raycaster): void;
  end(): void;
}

/** Steps of a fixed length from the times of frames. */
export class FixedStep {
  constructor(dt?: number, mostSteps?: number);
  dt: number;
  mostSteps: number;
  /** Calls `step` for every step that is due; returns what WorldView.update() takes. */
  advance(now: number, step: (dt: number) => void): number;
}
