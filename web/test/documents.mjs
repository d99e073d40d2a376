// The documents as pages: nothing of Markdown is left in them, and their links lead somewhere.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { htmlOf } from '../markdown.mjs';
import { check } from './check.mjs';

// [what, Markdown, the HTML]
const CASES = [
  ['headings', '## A `b` c', '<h2 id="a-b-c">A <code>b</code> c</h2>'],
  ['text is escaped', 'a < b & "c"', '<p>a &lt; b &amp; &quot;c&quot;</p>'],
  ['scripts are text', '<script>x</script>', '<p>&lt;script&gt;x&lt;/script&gt;</p>'],
  ['emphasis around code', '**a `b*` c**', '<p><strong>a <code>b*</code> c</strong></p>'],
  ['products are no emphasis', '2 * 3 * 4', '<p>2 * 3 * 4</p>'],
  ['links', '[a](b.md#c)', '<p><a href="b.html#c">a</a></p>'],
  [
    'nested lists',
    '- a\n  b\n  - c\n- d',
    '<ul><li>a\nb\n<ul><li>c</li></ul></li>\n<li>d</li></ul>',
  ],
  ['code', '```sh\na <b>\n```', '<pre tabindex="0"><code>a &lt;b&gt;</code></pre>'],
];

export async function documents(folder) {
  for (const [what, text, wanted] of CASES)
    check(`document: ${what}`, htmlOf(text) === wanted, htmlOf(text));
  const table = htmlOf('| a | b |\n|---|--:|\n| `x|y` | 1 |');
  check(
    'document: tables',
    /<td><code>x\|y<\/code><\/td><td class="number">1<\/td>/.test(table),
    table,
  );
  const files = await readdir(folder);
  const pages = new Map();
  for (const file of files.filter((name) => name.endsWith('.html')))
    pages.set(file, await readFile(join(folder, file), 'utf8'));
  check('documents are pages', pages.size > 15, `${pages.size}`);
  for (const [name, text] of pages) {
    check(`${name}: a title`, text.includes('<h1'));
    const words = text.replace(/<(pre|code|style|script)[^]*?<\/\1>/g, '');
    check(
      `${name}: no marks are left`,
      !/\*\*|```|\]\(/.test(words),
      words.match(/.*(\*\*|```|\]\().*/)?.[0],
    );
    for (const [, address] of text.matchAll(/(?:href|src)="([^"]*)"/g)) {
      if (/^https?:|^\.\.\//.test(address)) continue;
      const [file, place] = address.split('#');
      check(`${name}: ${address}`, !file || files.includes(file));
      const there = file ? pages.get(file) : text;
      if (place && there) check(`${name}: ${address}`, there.includes(`id="${place}"`));
    }
  }
}
