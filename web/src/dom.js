// Helpers to build the page in JavaScript.

export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'class') node.className = value;
    else if (name in node && name !== 'list') node[name] = value;
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

const PATHS = {
  play: 'M7 4.5v15l12-7.5z',
  pause: 'M7 5h3.5v14H7zM13.5 5H17v14h-3.5z',
  frame: 'M5 5v14l9-7zM16 5h3v14h-3z',
  substep: 'M8 7v10l6-5zM16 7h1.6v10H16z',
  reset: 'M12 5V1.8L6.8 6.2 12 10.6V7.2a4.9 4.9 0 1 1-4.9 4.9H5A7 7 0 1 0 12 5z',
  chart: 'M4 4h2v14h14v2H4zM8 14l4-5 3 3 4-6 1.500 1-5.300 8.300-3-3L9.500 15z',
  two: 'M4 5h7v14H4zM13 5h7v14h-7zM6 7v10h3V7zM15 7v10h3V7z',
  theme: 'M12 3a9 9 0 1 0 0 18zM12 1.5A10.5 10.5 0 1 1 12 22.5 10.5 10.5 0 0 1 12 1.5z',
  help: 'M11 16.5h2.200V19H11zM12 5a4.2 4.2 0 0 0-4.3 4h2.200A2.1 2.1 0 0 1 12 7.100c1.2 0 2 .8 2 1.9 0 2-3 2-3 5.700h2.200c0-2.6 3.1-2.9 3.1-5.700A4.1 4.1 0 0 0 12 5z',
  menu: 'M4 6h16v2H4zM4 11h16v2H4zM4 16h16v2H4z',
  panel: 'M4 7h9v2H4zM17 7h3v2h-3zM14 5h2v6h-2zM4 15h3v2H4zM11 15h9v2h-9zM8 13h2v6H8z',
  camera: 'M9 5h6l1.5 2H20v12H4V7h3.5zM12 9.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z',
  link: 'M10 14l4-4M8.5 12 6 14.5a2.8 2.8 0 0 0 4 4L12.5 16M11.5 8 14 5.5a2.8 2.8 0 0 1 4 4L15.5 12',
  close:
    'M6.4 5 12 10.6 17.6 5 19 6.4 13.4 12 19 17.6 17.6 19 12 13.4 6.4 19 5 17.6 10.6 12 5 6.400z',
};

export function icon(name) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  svg.classList.add('icon');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', PATHS[name]);
  path.setAttribute('fill', name === 'link' ? 'none' : 'currentColor');
  path.setAttribute('fill-rule', 'evenodd');
  if (name === 'link') path.setAttribute('stroke', 'currentColor');
  if (name === 'link') path.setAttribute('stroke-width', '1.8');
  svg.append(path);
  return svg;
}

export function button(name, label, onclick, props = {}) {
  return h('button', { type: 'button', title: label, 'aria-label': label, onclick, ...props }, [
    icon(name),
  ]);
}

export function download(name, blob) {
  const link = h('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Three or four digits, with an SI prefix where useful.
export function number(value, unit = '') {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  const space = unit ? ' ' : '';
  if (size >= 1e6) return `${(value / 1e6).toPrecision(3)} M${unit}`;
  if (size >= 1e4) return `${(value / 1e3).toPrecision(3)} k${unit}`;
  if (size >= 0.1 || size === 0) return `${+value.toPrecision(4)}${space}${unit}`;
  if (unit && size >= 1e-4) return `${+(value * 1e3).toPrecision(3)} m${unit}`;
  if (unit && size >= 1e-8) return `${+(value * 1e6).toPrecision(3)} µ${unit}`;
  return `${value.toExponential(1)}${space}${unit}`;
}
