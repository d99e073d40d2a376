import { createRequire } from 'node:module';
import loadMujoco from '@mujoco/mujoco';
import { inverse, rotate } from '../maths.mjs';
import { FRAME, GRAVITY, toBody } from '../scenes.mjs';

let mujoco = null;

export async function load() {
  mujoco = await loadMujoco({ print() {}, printErr() {} });
  const { version } = createRequire(import.meta.resolve('@mujoco/mujoco'))('./package.json');
  return {
    name: 'MuJoCo',
    version,
    settings: [
      { name: 'default', text: 'Euler, 8 steps of 1/480 s a frame' },
      { name: 'implicitfast', integrator: 'implicitfast' },
      { name: 'RK4', integrator: 'RK4', needs: 'no contacts' },
      { name: 'RK4, 40 steps', integrator: 'RK4', steps: 40, needs: 'no contacts' },
      // Contacts as stiff as the step allows, elastic ones without damping.
      {
        name: 'stiff contacts, 40 steps',
        steps: 40,
        stiff: true,
        cone: 'elliptic',
        needs: 'contacts',
      },
    ],
    open,
  };
}

const text = (numbers) => Array.from(numbers, (x) => String(x)).join(' ');
const wxyz = ([x, y, z, w]) => text([w, x, y, z]);

// Product of two rotations.
function times([a, b, c, d], [e, f, g, h]) {
  return [
    d * e + a * h + b * g - c * f,
    d * f - a * g + b * h + c * e,
    d * g + a * f - b * e + c * h,
    d * h - a * e - b * f - c * g,
  ];
}

function geomOf(body, index) {
  // Bodies of one group share a bit that none of them collides with.
  const bit = 1 << body.group;
  const mask = `contype="${bit}" conaffinity="${body.group ? 0x7fffffff & ~bit : 0x7fffffff}"`;
  switch (body.kind) {
    case 'box':
      return `<geom type="box" size="${text(body.half)}" ${mask}/>`;
    case 'ball':
      return `<geom type="sphere" size="${body.radius}" ${mask}/>`;
    default:
      return `<geom type="mesh" mesh="h${index}" ${mask}/>`;
  }
}

// A body with its joint to the parent and all that hangs on it.
function bodyText(scene, index, parent, held) {
  const body = scene.bodies[index];
  const own = scene.joints[held];
  const place = parent ? toBody(parent, body.position) : body.position;
  const turn = parent ? times(inverse(parent.rotation), body.rotation) : body.rotation;
  const pos = own && text(toBody(body, own.point));
  const along = own && text(rotate(inverse(body.rotation), own.axis));
  const servo = own?.servo
    ? `stiffness="${own.servo.stiffness}" damping="${own.servo.damping}"`
    : '';
  const joint = !own
    ? '<freejoint/>'
    : own.kind === 'ball'
      ? `<joint type="ball" pos="${pos}"/>`
      : `<joint type="hinge" pos="${pos}" axis="${along}" ${servo}/>`;
  const parts = scene.joints.flatMap(({ a, b }, i) =>
    a === index ? [bodyText(scene, b, body, i)] : [],
  );
  return `<body name="b${index}" pos="${text(place)}" quat="${wxyz(turn)}">${joint}
    <inertial pos="0 0 0" mass="${body.mass}" diaginertia="${text(body.inertia)}"/>
    ${geomOf(body, index)}${parts.join('')}</body>`;
}

function modelText(scene, { integrator = 'Euler', steps = 8, stiff = false, cone = 'pyramidal' }) {
  const held = new Map(scene.joints.map(({ b }, i) => [b, i]));
  const roots = scene.bodies.flatMap((_, i) => {
    const own = held.get(i);
    return own === undefined || scene.joints[own].a < 0 ? [bodyText(scene, i, null, own)] : [];
  });
  const meshes = scene.bodies.flatMap(({ points }, i) =>
    points ? [`<mesh name="h${i}" vertex="${text(points.flat())}" inertia="convex"/>`] : [],
  );
  const step = FRAME / steps;
  const time = 2 * step;
  const contact = !stiff ? '' : scene.restitution ? 'solref="-1e6 0"' : `solref="${time} 1"`;
  const ground = scene.ground
    ? '<geom type="plane" size="0 0 1" euler="-90 0 0" contype="1" conaffinity="2147483647"/>'
    : '';
  return `<mujoco><option gravity="0 ${-GRAVITY} 0" timestep="${step}" integrator="${integrator}"
      cone="${cone}"/>
    <size memory="64M"/>
    <default><geom friction="${scene.friction}" ${contact}/><mesh maxhullvert="64"/></default>
    <asset>${meshes.join('')}</asset><worldbody>${ground}${roots.join('')}</worldbody></mujoco>`;
}

function open(scene, setting) {
  const model = mujoco.MjModel.from_xml_string(modelText(scene, setting));
  const data = new mujoco.MjData(model);
  const { steps = 8 } = setting;
  const ids = scene.bodies.map((_, i) => mujoco.mj_name2id(model, 1, `b${i}`));
  return {
    step() {
      for (let i = 0; i < steps; ++i) mujoco.mj_step(model, data);
    },
    read() {
      mujoco.mj_kinematics(model, data);
      const { xpos, xquat } = data;
      return {
        pose(i) {
          const at = ids[i];
          const [w, x, y, z] = xquat.subarray(4 * at, 4 * at + 4);
          return { position: [...xpos.subarray(3 * at, 3 * at + 3)], rotation: [x, y, z, w] };
        },
      };
    },
    close() {
      data.delete();
      model.delete();
    },
  };
}
