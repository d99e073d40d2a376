// Serves a folder on this machine only, and shows it where there is a display.
// usage: [PORT=N] node serve.mjs FOLDER
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webp': 'image/webp',
};

// A page that nothing else shares its process with gets a finer clock.
const ALONE = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

async function answer(folder, request, response) {
  const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
  const file = normalize(join(folder, path.endsWith('/') ? `${path}index.html` : path));
  try {
    if (!file.startsWith(normalize(folder))) throw new Error('outside');
    const type = TYPES[extname(file)] ?? 'application/octet-stream';
    const takesGzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
    const packed = takesGzip ? await readFile(`${file}.gz`).catch(() => null) : null;
    const data = packed ?? (await readFile(file));
    response.writeHead(200, {
      'content-type': type,
      'cache-control': 'no-cache',
      ...ALONE,
      ...(packed ? { 'content-encoding': 'gzip' } : {}),
    });
    response.end(data);
  } catch {
    response.writeHead(404, { 'content-type': 'text/plain' });
    response.end('There is nothing here.\n');
  }
}

// Resolves once it listens; port 0 takes any that is free.
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
    console.log(`The gallery is at ${address} (Ctrl-C ends it)`);
    if (process.env.DISPLAY || process.env.WAYLAND_DISPLAY) {
      spawn('xdg-open', [address], { stdio: 'ignore', detached: true }).on('error', () => {});
    }
  } catch (error) {
    const hint = error.code === 'EADDRINUSE' ? '; choose another by PORT=N' : '';
    console.error(`Port ${port} cannot be used: ${error.code}${hint}`);
    process.exitCode = 1;
  }
}
