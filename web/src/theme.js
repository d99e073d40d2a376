// Colours of the 3D view, matching those of style.css.
import { Color } from 'three';

const light = {
  background: '#f3efe8',
  ground: '#e6e0d6',
  grid: '#cfc6b6',
  fixed: '#b7b0a5',
  moved: '#7f95a8',
  asleep: '#cfc8bd',
  joint: '#3d4148',
  ours: '#c8452c',
  force: '#c8452c',
  friction: '#2f7f86',
  torque: '#7b5ea7',
  contact: '#e08a3c',
  limit: '#2f7f86',
  wire: '#5a5f68',
  island: '#7b5ea7',
  boxes: '#8a9a6b',
  trail: '#c8452c',
  sky: 2.1,
  sun: 1.65,
};

const dark = {
  ...light,
  background: '#15181d',
  ground: '#1d2127',
  grid: '#343a44',
  fixed: '#565d68',
  moved: '#5f7c97',
  asleep: '#5d5a55',
  joint: '#d8d3c9',
  ours: '#ff8a5c',
  force: '#ff7d5c',
  friction: '#4fc3c7',
  torque: '#b79aea',
  contact: '#ffb15c',
  limit: '#4fc3c7',
  wire: '#aab2bf',
  island: '#b79aea',
  trail: '#ffb15c',
  sky: 1.5,
  sun: 2.0,
};

// Bodies: woods, clay, sage, slate.
const BODIES = ['#e3b169', '#d67f5c', '#93b396', '#759fba', '#d8c4a4', '#c49a70', '#b9c5b0'];

export const bodyColors = BODIES.map((name) => new Color(name));

export function themeOf(name) {
  const colors = {};
  for (const [key, value] of Object.entries(name === 'dark' ? dark : light)) {
    colors[key] = typeof value === 'string' ? new Color(value) : value;
  }
  return colors;
}
