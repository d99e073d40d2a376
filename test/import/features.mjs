// Small MJCF files for what random trees do not have: meshes, primitives that fit them, replicates,
// includes of defaults and rules of masses.
const corners = "0 0 0  1 0 0  1 .5 0  0 .5 0  0 0 .3  1 0 .3  1 .5 .3  0 .5 .3";
const wedge = "0 0 0  .4 0 0  0 .3 0  0 0 .2  .1 .1 .5";
// An L of two boxes, closed and not convex.
const ell =
  'vertex="0 0 0 2 0 0 2 1 0 1 1 0 1 2 0 0 2 0 0 0 1 2 0 1 2 1 1 1 1 1 1 2 1 0 2 1" ' +
  'face="0 2 1 0 3 2 0 5 3 3 5 4 6 7 8 6 8 9 6 9 11 9 10 11 0 1 7 0 7 6 1 2 8 1 8 7 2 3 9 2 9 8 3 4 10 3 10 9 4 5 11 4 11 10 5 0 6 5 6 11"';
const file = (assets, bodies, more = "") =>
  `<mujoco>${more}<asset>${assets}</asset><worldbody>${bodies}</worldbody></mujoco>`;
const meshBody = (attributes) =>
  `<body name="b" pos="1 2 3" euler="10 20 30"><freejoint/><geom ${attributes} pos=".1 .2 .3" euler="30 20 10"/></body>`;

export const features = {
  hull_mesh: file(`<mesh name="m" vertex="${corners}"/>`, meshBody('type="mesh" mesh="m"')),
  placed_mesh: file(
    `<mesh name="m" vertex="${wedge}" scale="1 -2 .5" refpos=".1 .2 .3" refquat="1 .2 .3 .4"/>`,
    meshBody('type="mesh" mesh="m" mass="2"'),
  ),
  legacy: file(`<mesh name="m" ${ell}/>`, meshBody('type="mesh" mesh="m"')),
  exact: file(`<mesh name="m" ${ell} inertia="exact"/>`, meshBody('type="mesh" mesh="m"')),
  convex: file(`<mesh name="m" ${ell} inertia="convex"/>`, meshBody('type="mesh" mesh="m"')),
  shell: file(`<mesh name="m" ${ell} inertia="shell"/>`, meshBody('type="mesh" mesh="m"')),
  replicate: file(
    "",
    '<replicate count="3" offset="1 0 .5" euler="0 0 30"><body name="r"><geom name="g" size=".1"/><replicate count="12" offset="0 .1 0" sep="-"><body name="s"><joint/><geom size=".05"/></body></replicate></body></replicate>',
  ),
  turned_replicate: file(
    "",
    '<replicate count="4" offset=".02 .1 .03" euler="5 20 10"><body name="r"><joint axis="0 1 0"/><geom size=".1" pos=".1 0 0"/></body></replicate>',
    '<compiler eulerseq="zYx"/>',
  ),
  springs_and_groups: file(
    "",
    '<body name="b"><joint/><geom size=".1" group="4"/><geom type="box" size=".1 .2 .3" group="1"/></body>',
    '<compiler inertiagrouprange="0 3" settotalmass="3"/>',
  ),
  balanced: file(
    "",
    '<body name="b"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 5"/><geom size=".1"/></body>',
    '<compiler balanceinertia="true"/>',
  ),
  ...Object.fromEntries(
    ["sphere", "capsule", "cylinder", "ellipsoid", "box"].flatMap((type) =>
      [false, true].map((aabb) => [
        `fit_${type}_${aabb ? "box" : "inertia"}`,
        file(
          `<mesh name="m" vertex="${corners}"/>`,
          meshBody(`type="${type}" mesh="m" fitscale="1.5"`),
          `<compiler fitaabb="${aabb}"/>`,
        ),
      ]),
    ),
  ),
};
