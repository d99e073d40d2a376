// The gallery's server: every request is answered, nothing outside the folder is read, and the server
// keeps running. Needs no browser.
// usage: node serve.mjs FOLDER   (is created, or deleted and created again)
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { check, finish } from './check.mjs';

const top = process.argv[2];
const site = join(top, 'site');
const SECRET = 'not to be read';
rmSync(top, { recursive: true, force: true });
mkdirSync(join(site, 'sub'), { recursive: true });
mkdirSync(join(top, 'site-secret'));
writeFileSync(join(top, 'key.txt'), SECRET);
writeFileSync(join(top, 'site-secret', 'key.txt'), SECRET);
writeFileSync(join(site, 'index.html'), 'front page');
writeFileSync(join(site, 'sub', 'index.html'), 'sub page');
writeFileSync(join(site, 'a b.js'), 'spaced');
writeFileSync(join(site, '..hidden'), 'dotted');
writeFileSync(join(site, 'packed.css'), 'plain');
writeFileSync(join(site, 'packed.css.gz'), gzipSync('packed'));
writeFileSync(join(site, 'packed.css.br'), brotliCompressSync('smallest'));
symlinkSync(join(top, 'site-secret'), join(site, 'out'));
symlinkSync(join(top, 'key.txt'), join(site, 'key.txt'));
symlinkSync(join(site, 'sub'), join(site, 'in'));

const program = join(fileURLToPath(import.meta.url), '../../serve.mjs');
const environment = { ...process.env, PORT: '0', DISPLAY: '', WAYLAND_DISPLAY: '' };
const server = spawn(process.execPath, [program, site], {
  env: environment,
  stdio: ['ignore', 'pipe', 'inherit'],
});
let ended = false;
server.on('exit', () => (ended = true));
const address = await new Promise((resolve, reject) => {
  server.stdout.on('data', (text) => {
    const found = /http:\/\/([\d.]+):(\d+)\//.exec(text);
    if (found) resolve({ host: found[1], port: Number(found[2]) });
  });
  server.on('exit', () => reject(new Error('the server does not start')));
});
check('it listens on this machine only', address.host === '127.0.0.1', address.host);

// Status and body of the response to a target that is sent unchanged.
function ask(target, headers = '') {
  return new Promise((resolve) => {
    const chunks = [];
    const socket = connect(address.port, address.host, () =>
      socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`),
    );
    socket.setTimeout(5000, () => socket.destroy());
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => {});
    socket.on('close', () => {
      const all = Buffer.concat(chunks);
      const at = all.indexOf('\r\n\r\n');
      const head = all.subarray(0, at < 0 ? 0 : at).toString('latin1');
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0);
      resolve({ status, head, body: all.subarray(at + 4) });
    });
  });
}

async function gives(target, text) {
  const { status, body } = await ask(target);
  check(`${target} is there`, status === 200 && body.includes(text), `${status} ${body}`);
}

async function refuses(target, wanted) {
  const { status, body } = await ask(target);
  const refused = status === wanted && !body.includes(SECRET);
  check(`${target} gets ${wanted}`, refused, `${status} ${body}`);
  check(`the server lives after ${target}`, !ended);
}

await gives('/', 'front page');
await gives('/?x=%', 'front page');
await gives('/sub/', 'sub page');
await gives('/in/index.html', 'sub page');
await gives('/a%20b.js', 'spaced');
await gives('/..hidden', 'dotted');
await gives('/sub/../index.html', 'front page');
await gives('/packed.css', 'plain');
const packed = await ask('/packed.css', 'Accept-Encoding: gzip\r\n');
check('compressed files are sent compressed', /content-encoding: gzip/i.test(packed.head));
check('compressed files are complete', packed.body.includes(gzipSync('packed')));
const brotli = await ask('/packed.css', 'Accept-Encoding: gzip, br\r\n');
check(
  'the smallest form is sent',
  /content-encoding: br/i.test(brotli.head) && brotli.body.includes(brotliCompressSync('smallest')),
);
const front = await ask('/');
check(
  'pages reach no other host',
  /content-security-policy: default-src 'self'[^\n]*frame-ancestors 'self'/i.test(front.head),
);

for (const target of ['/%', '/%E0%A4%A', '/%00', '/a%00b', 'http://[', 'nothing', '*', '%2f']) {
  await refuses(target, 400);
}
for (const target of ['/nothing', '/sub', '/out', '/x'.repeat(3000), '/key.txt', '/out/key.txt']) {
  await refuses(target, 404);
}
// All ways to write a path out of the folder.
for (const dots of ['..', '%2e%2e', '.%2E']) {
  for (const slash of ['/', '%2f', '//', '%2F%2f']) {
    for (const name of ['key.txt', 'site-secret/key.txt', 'site-secret%2fkey.txt']) {
      await refuses(`/${dots}${slash}${name}`, 404);
      await refuses(`/sub/${dots}${slash}${dots}${slash}${name}`, 404);
    }
  }
}
await gives('//', 'front page');
server.kill();
finish();
