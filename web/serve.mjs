// Serves a folder on this machine only, and opens it if there is a display.
// usage: [PORT=N] node serve.mjs FOLDER
import { spawn } from 'node:child_process';
import { readFile, realpath } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, isAbsolute, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
  '.md': 'text/plain; charset=utf-8',
  '.json': 'application/json',
  '.gz': 'application/gzip',
};

// Cross-origin isolation, which gives the page a finer clock.
const ALONE = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

// Pages reach no other host, submit no forms and are not framed by others. Scripts and styles are part
// of the page.
const POLICY =
  "default-src 'self' 'unsafe-inline' 'wasm-unsafe-eval' data: blob:; object-src 'none'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

// Encodings and the endings of the files in them, the smallest first.
const FORMS = [
  ['br', 'br'],
  ['gzip', 'gz'],
];

const ERRORS = { 400: 'Bad request.\n', 404: 'Not found.\n' };

// The decoded path of a request; null if it is malformed.
function pathOf(target) {
  try {
    const path = decodeURIComponent(target.replace(/[?#].*/s, ''));
    return path.startsWith('/') && !path.includes('\0') ? path : null;
  } catch {
    return null;
  }
}

// The contents of a file in the folder; null if it does not exist or is outside. Symbolic links are
// resolved first.
async function read(folder, path) {
  try {
    const [root, file] = await Promise.all([realpath(folder), realpath(join(folder, path))]);
    const inside = relative(root, file);
    if (isAbsolute(inside) || inside.split(sep)[0] === '..') return null;
    return await readFile(file);
  } catch {
    return null;
  }
}

// The smallest form of a file that the browser takes: [contents, encoding].
async function smallest(folder, file, accepted = '') {
  for (const [encoding, ending] of FORMS) {
    if (!new RegExp(`\\b${encoding}\\b`).test(accepted)) continue;
    const data = await read(folder, `${file}.${ending}`);
    if (data) return [data, encoding];
  }
  return [await read(folder, file), null];
}

async function answer(folder, request, response) {
  const path = pathOf(request.url);
  const file = path?.endsWith('/') ? `${path}index.html` : path;
  const accepted = request.headers['accept-encoding'];
  const [data, encoding] = file ? await smallest(folder, file, accepted) : [null, null];
  if (!data) {
    const status = file ? 404 : 400;
    response.writeHead(status, { 'content-type': 'text/plain' });
    response.end(ERRORS[status]);
    return;
  }
  response.writeHead(200, {
    'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
    'cache-control': 'no-cache',
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    vary: 'accept-encoding',
    ...ALONE,
    ...(encoding ? { 'content-encoding': encoding } : {}),
  });
  response.end(data);
}

// Resolves once it listens; port 0 takes any free port.
export function serve(folder, port) {
  const server = createServer((request, response) => answer(folder, request, response));
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = `http://127.0.0.1:${server.address().port}/`;
      resolve({ address, close: () => server.close() });
    });
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const port = Number(process.env.PORT ?? 8080);
  try {
    const { address } = await serve(process.argv[2], port);
    console.log(`The gallery is at ${address} (Ctrl-C stops the server)`);
    if (process.env.DISPLAY || process.env.WAYLAND_DISPLAY) {
      spawn('xdg-open', [address], { stdio: 'ignore', detached: true }).on('error', () => {});
    }
  } catch (error) {
    const hint = error.code === 'EADDRINUSE' ? '; choose another with PORT=N' : '';
    console.error(`Port ${port} cannot be used: ${error.code}${hint}`);
    process.exitCode = 1;
  }
}
