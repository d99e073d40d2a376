// The documents as pages of the site, in its type and colours, with all documents and the sections of
// the open one at the side.
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { htmlOf, sectionsOf } from './markdown.mjs';

// In the order of the side bar; others follow.
const ORDER = [
  ...['readme', 'hello', 'manual', 'package', 'scene_files', 'import', 'python', 'batch'],
  ...['solver', 'paper_map', 'study', 'duel', 'benchmarks', 'scenes', 'gallery', 'architecture'],
];
const MOST_SECTIONS = 40;

const rank = (name) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
const titleOf = (text) => /^# +(.*)$/m.exec(text)?.[1] ?? '';

const STYLE = `:root { --paper: #f3efe8; --panel: #fbf9f5; --ink: #262a30; --soft: #5f6368; --line: #e3dccf;
  --accent: #a34524; color-scheme: light; scroll-padding-top: 72px }
:root[data-theme='dark'] { --paper: #15181d; --panel: #1b1f25; --ink: #e9e5dd; --soft: #a3a8b0;
  --line: #2d333c; --accent: #f0955f; color-scheme: dark }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.6 system-ui, -apple-system,
  'Segoe UI', Roboto, 'Helvetica Neue', sans-serif }
a { color: var(--accent); text-underline-offset: 3px }
header { position: sticky; top: 0; z-index: 1; display: flex; gap: 24px; align-items: center; height: 56px;
  padding: 0 20px; background: var(--panel); border-bottom: 1px solid var(--line) }
header a { padding: 12px 0; color: var(--ink); text-decoration: none }
header .brand { font-weight: 700; font-size: 17px }
.page { display: grid; grid-template-columns: 260px minmax(0, 1fr); gap: 48px; max-width: 1180px;
  margin: 0 auto; padding: 0 24px }
nav { position: sticky; top: 56px; align-self: start; max-height: calc(100dvh - 56px); overflow: auto;
  padding: 28px 0; font-size: 14px; line-height: 1.4 }
nav ul { list-style: none; margin: 0; padding: 0 }
nav ul ul { padding-left: 12px; border-left: 1px solid var(--line); margin: 2px 0 8px }
nav a { display: block; padding: 5px 0; color: var(--soft); text-decoration: none }
nav a:hover, nav [aria-current] { color: var(--ink) }
nav [aria-current] { font-weight: 600 }
main { padding: 28px 0 80px; max-width: 820px }
h1 { margin: 0 0 16px; font-size: 34px; line-height: 1.15; letter-spacing: -0.02em }
h2 { margin: 48px 0 12px; font-size: 23px; letter-spacing: -0.01em }
h3 { margin: 32px 0 8px; font-size: 18px }
p, ul, ol { margin: 0 0 14px }
main ul, main ol { padding-left: 22px }
li { margin: 4px 0 }
code { font: 0.86em ui-monospace, SFMono-Regular, Menlo, monospace; overflow-wrap: break-word }
p code, li code, td code { padding: 1px 4px; border-radius: 4px; background: var(--panel) }
pre { margin: 0 0 18px; padding: 14px 16px; overflow: auto; border: 1px solid var(--line);
  border-radius: 10px; background: var(--panel); line-height: 1.45 }
pre code { font-size: 13px; overflow-wrap: normal }
.table { margin: 0 0 20px; overflow: auto }
table { border-collapse: collapse; font-size: 14px; line-height: 1.45 }
th, td { padding: 6px 18px 6px 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line) }
th { color: var(--soft); font-weight: 600 }
.number { text-align: right; font-variant-numeric: tabular-nums }
img { max-width: 100%; border-radius: 10px }
summary { display: none }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
@media (max-width: 900px) { .page { display: block; padding: 0 20px }
  nav { position: static; max-height: none; padding-bottom: 0 } 
  nav ul ul { display: none } nav a { padding: 11px 0 }
  summary { display: block; padding: 11px 0; color: var(--soft); cursor: pointer } }`;

// As the gallery chooses it.
const THEME = `let saved = null;
try { saved = localStorage.getItem('tenon-theme') } catch {}
document.documentElement.dataset.theme = saved ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');`;

// In a narrow window the list of documents would hide the open one.
const FOLD = `document.querySelector('nav details').open = innerWidth > 900;`;

function contents(pages, open) {
  const items = pages.map(({ name, title, sections }) => {
    const isOpen = name === open;
    const inside = sections.map(([id, words]) => `<li><a href="#${id}">${words}</a></li>`).join('');
    const current = isOpen ? ' aria-current="page"' : '';
    const more = isOpen && sections.length <= MOST_SECTIONS ? `<ul>${inside}</ul>` : '';
    return `<li><a href="${name}.html"${current}>${title}</a>${more}</li>`;
  });
  const list = `<ul>${items.join('\n')}</ul>`;
  return `<nav aria-label="Documents"><details open><summary>All documents</summary>${list}</details></nav>`;
}

const pageOf = (pages, { name, title, text }) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>${title} - Tenon</title><style>${STYLE}</style><script>${THEME}</script></head>
<body><header><a class="brand" href="../#">Tenon</a><a href="../#">Gallery</a><a href="../tenon-source.tar.gz">Source</a></header>
<div class="page">${contents(pages, name)}<script>${FOLD}</script><main>${htmlOf(text)}</main></div></body></html>
`;

// Links of the two documents that are not in docs lead from there.
const moved = (text) => text.replaceAll('](docs/', '](').replaceAll('](LICENSE)', '](LICENSE.txt)');

// Writes the pages and what they show into a folder: the documents, the README, that of the npm package.
export async function writeDocuments(root, folder) {
  const docs = join(root, 'docs');
  const isCopied = (path) => path.endsWith('docs') || /\.(svg|json)$/.test(path);
  await mkdir(folder, { recursive: true });
  await cp(docs, folder, { recursive: true, filter: isCopied });
  await cp(join(root, 'LICENSE'), join(folder, 'LICENSE.txt'));
  const pages = [];
  const add = async (name, path, change = (text) => text) => {
    const text = change(await readFile(path, 'utf8'));
    const title = name === 'readme' ? 'Overview' : titleOf(text);
    pages.push({ name, title, text, sections: sectionsOf(text) });
  };
  await add('readme', join(root, 'README.md'), moved);
  await add('package', join(root, 'web/package/README.md'), moved);
  for (const file of await readdir(docs)) {
    if (file.endsWith('.md')) await add(file.replace('.md', ''), join(docs, file));
  }
  pages.sort((a, b) => rank(a.name) - rank(b.name) || a.title.localeCompare(b.title));
  for (const page of pages) await writeFile(join(folder, `${page.name}.html`), pageOf(pages, page));
  return pages.map(({ name }) => name);
}
