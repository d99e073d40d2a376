// Methods, and kinds of shapes, joints and bodies, as numbers in the order of the package's words.
export const METHODS = ['tenon', 'xpbd', 'jacobi'];
export const SHAPES = [
  ...['sphere', 'capsule', 'box', 'cylinder', 'cone', 'hull', 'plane', 'mesh', 'height_field'],
  'wire',
];
export const KIND = {
  sphere: 0,
  capsule: 1,
  box: 2,
  cylinder: 3,
  cone: 4,
  hull: 5,
  plane: 6,
  mesh: 7,
  field: 8,
  wire: 9,
};
export const JOINTS = [
  ...['distance', 'ball', 'hinge', 'fixed', 'prismatic', 'cylinder', 'universal', 'generic'],
];
export const JOINT_KINDS = [
  'Distance joint',
  'Ball joint',
  'Hinge',
  'Fixed joint',
  'Slider',
  'Cylinder joint',
  'Universal joint',
  'Generic joint',
];
export const TYPES = ['static', 'kinematic', 'dynamic'];
export const STATIC = 0;
export const DYNAMIC = 2;
