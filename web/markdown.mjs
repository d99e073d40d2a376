// The documents as pages: the part of Markdown that they use. Everything else is text.
//
// Blocks: headings, paragraphs, fenced and indented code, lists, tables. In a line: code, strong, emphasis,
// links, pictures, addresses.

const escaped = (text) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

// As GitHub names headings.
export const idOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

// ---- In a line

// Links to other documents lead to their pages.
const pageOf = (address) => address.replace(/^([\w./-]+)\.md(#.*)?$/, '$1.html$2');

function emphasized(text) {
  return escaped(text)
    .replace(/\*\*(.+?)\*\*/g, '<strong>$1</strong>')
    .replace(/(?<![\w*])\*([^*\s](?:[^*]*[^*\s])?)\*(?!\w)/g, '<em>$1</em>');
}

// Code and links first: their insides are not emphasized. Names of documents are links to them.
const INLINE =
  /(`+)([^]+?)\1|(!?)\[((?:`[^`]*`|[^\]])*)\]\(([^)\s]+)\)|<(https?:\/\/[^>\s]+)>|\bdocs\/(\w+)\.md\b|\\([|*_`])/g;

const link = (address, words) => `<a href="${escaped(address)}">${words}</a>`;

// The HTML of a match.
function spanOf([whole, ticks, code, bang, words, address, plain, name, letter], isInLink) {
  if (ticks) return `<code>${escaped(code.trim().replace(/\s+/g, ' '))}</code>`;
  if (letter) return escaped(letter);
  if (plain) return link(plain, escaped(plain));
  if (name) return isInLink ? escaped(whole) : link(`${name}.html`, escaped(whole));
  if (bang) return `<img src="${escaped(address)}" alt="${escaped(words)}" />`;
  return link(pageOf(address), inline(words, true));
}

// Emphasis may begin before code or a link and end after it: a sign stands for each of them meanwhile.
const SIGN = '\uE000';

function inline(text, isInLink = false) {
  const spans = [];
  const rest = text.replace(INLINE, (...match) => {
    spans.push(spanOf(match, isInLink));
    return SIGN;
  });
  return emphasized(rest).replaceAll(SIGN, () => spans.shift());
}

// ---- Blocks. Each reader takes lines from a position and returns [html, next position], or null.

const ITEM = /^(\s*)([-*]|\d+\.) +/;
const indentOf = (line) => /^ */.exec(line)[0].length;

function heading(lines, at) {
  const found = /^(#{1,6}) +(.*?)(?: *\{#[\w-]+\})?$/.exec(lines[at]);
  if (!found) return null;
  const [, { length: level }, words] = found;
  return [`<h${level} id="${idOf(words)}">${inline(words)}</h${level}>`, at + 1];
}

function fence(lines, at) {
  if (!lines[at].startsWith('```')) return null;
  let end = at + 1;
  while (end < lines.length && !lines[end].startsWith('```')) ++end;
  return [codeBlock(lines.slice(at + 1, end)), end + 1];
}

const codeBlock = (lines) => `<pre tabindex="0"><code>${escaped(lines.join('\n'))}</code></pre>`;

function indented(lines, at) {
  let end = at;
  while (end < lines.length && (/^ {4}/.test(lines[end]) || lines[end].trim() === '')) ++end;
  if (end === at) return null;
  const inside = lines.slice(at, end).map((line) => line.slice(4));
  while (inside.at(-1) === '') inside.pop();
  return [codeBlock(inside), end];
}

// Cells are divided by bars outside of code that are not escaped.
const cellsOf = (line) =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .match(/(?:\\.|`[^`]*`|[^|\\`]|`)*(?:\||$)/g)
    .map((cell) => cell.replace(/\|$/, '').trim())
    .slice(0, -1);

function table(lines, at) {
  if (!/^\|/.test(lines[at]) || !/^\|[\s:|-]+\|?$/.test(lines[at + 1] ?? '')) return null;
  const sides = cellsOf(lines[at + 1]).map((cell) => (/-:$/.test(cell) ? ' class="number"' : ''));
  const row = (line, tag) =>
    `<tr>${cellsOf(line)
      .map((cell, i) => `<${tag}${sides[i] ?? ''}>${inline(cell)}</${tag}>`)
      .join('')}</tr>`;
  let end = at + 2;
  while (end < lines.length && lines[end].startsWith('|')) ++end;
  const body = lines.slice(at + 2, end).map((line) => row(line, 'td'));
  const head = `<thead>${row(lines[at], 'th')}</thead>`;
  return [
    `<div class="table" tabindex="0"><table>${head}<tbody>${body.join('\n')}</tbody></table></div>`,
    end,
  ];
}

// Items of one indent; what is indented further belongs to the item above.
function list(lines, at) {
  const first = ITEM.exec(lines[at]);
  if (!first) return null;
  const indent = first[1].length;
  const items = [];
  let end = at;
  while (end < lines.length) {
    const found = ITEM.exec(lines[end]);
    const isBlank = lines[end].trim() === '';
    if (found && found[1].length === indent) {
      items.push([lines[end].slice(found[0].length)]);
    } else if (isBlank) {
      const next = lines[end + 1] ?? '';
      if (!(indentOf(next) > indent && next.trim()) && ITEM.exec(next)?.[1].length !== indent)
        break;
      items.at(-1).push('');
    } else if (indentOf(lines[end]) > indent || !startsBlock(lines[end])) {
      items.at(-1).push(lines[end].slice(Math.min(indentOf(lines[end]), indent + 2)));
    } else {
      break;
    }
    ++end;
  }
  const tag = /\d/.test(first[2]) ? 'ol' : 'ul';
  const inside = items.map((item) => `<li>${blocks(item).replace(/^<p>([^]*?)<\/p>/, '$1')}</li>`);
  return [`<${tag}>${inside.join('\n')}</${tag}>`, end];
}

const startsBlock = (line) =>
  /^(#{1,6} |```|\|)/.test(line) || ITEM.test(line) || line.trim() === '';

function paragraph(lines, at) {
  let end = at + 1;
  while (end < lines.length && !startsBlock(lines[end])) ++end;
  return [`<p>${inline(lines.slice(at, end).join('\n'))}</p>`, end];
}

function blocks(lines) {
  const out = [];
  for (let at = 0; at < lines.length; ) {
    if (lines[at].trim() === '') {
      ++at;
      continue;
    }
    const readers = [heading, fence, indented, table, list, paragraph];
    const [html, next] = readers.reduce((found, read) => found ?? read(lines, at), null);
    out.push(html);
    at = next;
  }
  return out.join('\n');
}

export const htmlOf = (markdown) => blocks(markdown.split('\n'));

// Headings of the second level: [id, text], for contents.
export function sectionsOf(markdown) {
  const code = /^```[^]*?^```/gm;
  return [...markdown.replace(code, '').matchAll(/^## +(.*?)(?: *\{#[\w-]+\})?$/gm)].map(
    ([, words]) => [idOf(words), words.replaceAll('`', '')],
  );
}
