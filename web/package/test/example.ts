// Checked by tsc --strict: what the types must and must not accept.
import { STEP, TenonError, World, massBox, softMeshCloth } from 'tenon-physics';
import type { BodyId, Contact, JointDef } from 'tenon-physics';
import { FixedStep, WorldView } from 'tenon-physics/three';
import { Instance, Model, SceneFile, SceneWorld, writeScene } from 'tenon-physics/import';
import { scenes, SceneWorld as BuiltIn } from 'tenon-physics/scenes';
import { readContacts, readJoints, surfaceOf } from 'tenon-physics/view';
import { WorkerWorld } from 'tenon-physics/worker';

const world = new World({ gravity: [0, -9.81, 0], substeps: 8, method: 'tenon' });
const box: BodyId = world.createBody({ position: [0, 1, 0], type: 'dynamic' });
world.createShape(box, {
  kind: 'box',
  halfExtents: new Float32Array([1, 1, 1]),
  material: { restitution: 0.5 },
});
const status: number = world.step() & STEP.NON_FINITE;
const contacts: Contact[] = world.contacts();
const force: number = contacts[0]?.points[0]?.normalForce ?? 0;
const joint: JointDef = world.jointDefAt({ kind: 'hinge', bodyB: box }, [0, 0, 0], [0, 0, 1]);
world.createJoint({
  ...joint,
  angular: [
    [-1, 1],
    [0, 0],
    [0, 0],
  ],
});
const cloth = world.createSoft({ ...softMeshCloth(4, 4, 1, 1), radius: 0.01 });
const positions: Float64Array = world.softPositions(cloth);
const mass: number = massBox([1, 1, 1], 1000).mass;
const view = new WorldView(world);
view.update(new FixedStep().advance(0, (dt) => world.step(dt)));
const far: Promise<number> = WorkerWorld.create().then((w) =>
  w.createBody({ position: [0, 1, 0] }),
);

const robot = new Instance(
  world,
  new Model('<mujoco/>', { files: { 'a.stl': new Uint8Array(84) } }),
);
robot.setControl('servo', 1);
const level: number = new SceneWorld('{}', { substeps: 4 }).metrics().energy ?? 0;

using file = new SceneFile('{}');
const seconds: number = new SceneWorld(file).time + file.camera.eye[0]! + file.parameters.length;
const built = new BuiltIn({ scene: scenes()[0]!.name, parameters: { count: 3 } }, { substeps: 4 });
built.onDrive = () => built.setGravity([0, 0, 0]);
const drawn: Float32Array[] = [readContacts(built), readJoints(built, built.joints())];
const tube = surfaceOf(built, built.getShapeDef(built.shapes()[0]!))?.indices.length;
const text: string = writeScene('chain', { parameters: { count: 3 }, method: 'xpbd' });

// @ts-expect-error only texts and files are read there, and only here
new BuiltIn('{}');
// @ts-expect-error a model has no such part
robot.setControl({}, 1);
// @ts-expect-error no such field
world.createBody({ postion: [0, 0, 0] });
// @ts-expect-error no such kind
world.createShape(box, { kind: 'cube' });
// @ts-expect-error a string is no number
world.step('fast');

export { seconds, drawn, tube, text };
export { TenonError, far, force, level, mass, positions, status };
