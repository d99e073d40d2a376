// Titles and subjects of the scenes, for readers who look for something to watch. A scene that is
// missing here is listed last, under its name.

export const HEROES = ['ragdoll', 'car', 'wrecking_ball', 'tori_on_cloth'];
export const CARDS = ['ragdoll', 'car', 'sculpture', 'tori_on_cloth', 'excavator', 'mobile'];

const SUBJECTS = {
  'Vehicles and robots': {
    car: 'Car with soft tyres',
    car_ramp: 'Car off a ramp',
    car_spin: 'Car on its roof',
    steering: 'Steering linkage',
    robot_trot: 'Quadruped that trots',
    robot_balance: 'Humanoid that keeps its balance',
    robot_reach: 'Arm that draws an eight',
    robot_arm: 'Arm that follows a box',
    walker: 'Four-legged walker',
    tendon_finger: 'Finger with a tendon',
    ragdoll: 'Ragdolls on stairs',
  },
  Machines: {
    excavator: 'Excavator arm',
    wrecking_ball: 'Wrecking ball',
    gears: 'Three gears',
    clock: 'Clockwork',
    differential: 'Differential gear',
    winch: 'Block and tackle',
    scissor_lift: 'Scissor lift',
    conveyor: 'Conveyor belt',
    joint_zoo: 'Joints with limits and targets',
    joints_basic: 'Joints, motors and servos',
    torque_bar: 'Servo against a force',
  },
  'Marbles and impacts': {
    sculpture: 'Rolling ball sculpture',
    marble_run: 'Marble run',
    marbles_in_wires: 'Marbles inside wires',
    marble_impulse: 'A marble hits three',
    cradle: 'Newton’s cradle',
    bullets: 'Bullets and a thin wall',
    bounce: 'Bouncing ball',
    plate: 'Bouncing plate',
    coin: 'Coin coming to rest',
  },
  'Pendulums, chains and ropes': {
    pendulum_double: 'Double pendulum',
    pendulum_triple: 'Triple pendulum',
    pendulum_loop: 'Loop of rods',
    pendulum_distance: 'Balls on strings',
    chain: 'Chain with a heavy end',
    mobile: 'Mobile',
    bunny_chain: 'Chain of bunnies',
    rope: 'Twisted rope',
    unsolvable: 'Chain pulled too far',
    bridge: 'Suspension bridge',
    springs3: 'Three springs',
    springs7: 'Seven springs',
    mass_ratio: '1 g carries 1 kg',
  },
  'Stacks and piles': {
    pyramid: 'Pyramid of cubes',
    stack: 'Tower of cubes',
    stack_heavy: 'Heavy cube on light ones',
    overlap: 'Overlapping pyramid',
    arch: 'Arch of wedges',
    jenga: 'Jenga tower',
    dominoes: 'Dominoes',
    capsules: 'Capsules in a box',
    pile: 'Pile among poles',
    resting: 'Cubes falling asleep',
  },
  'Cloth and soft bodies': {
    tori_on_cloth: 'Rings on a cloth',
    elk_and_duck: 'Elk and duck',
    bowling: 'Soft bowling pins',
    four_cubes: 'Four soft cubes',
    ship: 'Soft space ship',
    soft_cube_spin: 'Spinning soft cube',
    rotor: 'Soft rotor',
  },
  'Friction and motion': {
    slope: 'Cube on a slope',
    rolling: 'Rolling ball',
    sliding: 'Sliding block',
    friction_cone: 'Friction in every direction',
    free_bodies: 'Tumbling in free flight',
  },
};

const OTHERS = 'More';

const titles = Object.assign({}, ...Object.values(SUBJECTS));

export const titleOf = (name) =>
  titles[name] ?? name[0].toUpperCase() + name.slice(1).replaceAll('_', ' ');

// The figure that a scene reproduces; null for scenes without a published source.
export const sourceOf = ({ source }) => (/\d{4}|Ten Minute/.test(source) ? source : null);

// Scenes by subject, in the order of the lists above: [subject, scenes].
export function bySubject(scenes) {
  const groups = new Map(Object.keys(SUBJECTS).map((subject) => [subject, []]));
  groups.set(OTHERS, []);
  const rank = Object.keys(titles);
  const sorted = [...scenes].sort((a, b) => rank.indexOf(a.name) - rank.indexOf(b.name));
  for (const scene of sorted) {
    const subject = Object.keys(SUBJECTS).find((key) => scene.name in SUBJECTS[key]);
    groups.get(subject ?? OTHERS).push(scene);
  }
  return [...groups].filter(([, list]) => list.length);
}
