// A pane to edit the scene as a file: the scene restarts with every valid text; otherwise it goes on,
// and the error stands at its line.
import { suggest } from './complete.js';
import { button, h } from './dom.js';
import { isModel, runScene, saveScene, textOfScene } from './scenefile.js';

const PAUSE = 500; // ms without typing before the text is run

export class Editor {
  constructor(app) {
    this.app = app;
    this.numbers = h('div', { class: 'numbers', 'aria-hidden': 'true' });
    this.text = h('textarea', {
      spellcheck: false,
      wrap: 'off',
      autocapitalize: 'off',
      'aria-label': 'Scene file',
      'aria-describedby': 'editor-error',
    });
    this.list = h('ul', { class: 'completions', hidden: true, 'aria-label': 'Completions' });
    this.error = h('p', { class: 'error', id: 'editor-error', role: 'status' });
    const act = (label, onclick) => h('button', { type: 'button', class: 'chip', onclick }, label);
    this.node = h('section', { class: 'editor', 'aria-label': 'Scene file' }, [
      h('div', { class: 'chips' }, [
        act('Run (Ctrl Enter)', () => this.run()),
        act('Save file', () => saveScene(app)),
        button('close', 'Close the editor', () => this.close()),
      ]),
      h('div', { class: 'text' }, [this.numbers, this.text, this.list]),
      this.error,
    ]);
    document.body.append(this.node);
    this.text.addEventListener('input', () => this.changed());
    this.text.addEventListener('scroll', () => this.place());
    this.text.addEventListener('blur', () => setTimeout(() => (this.list.hidden = true), 200));
    this.text.addEventListener('click', () => (this.list.hidden = true));
    this.text.addEventListener('keydown', (event) => this.key(event));
  }

  async open(text = null, from = this.app.scene?.from) {
    this.from = from; // the files that a model names
    try {
      this.text.value = text ?? (await textOfScene(this.app));
    } catch (error) {
      this.app.say(`This scene cannot be edited: ${error.message}.`);
      return;
    }
    document.body.classList.add('editing');
    this.mark(null);
    this.place();
  }

  close() {
    clearTimeout(this.timer);
    document.body.classList.remove('editing');
  }

  // ---- Running

  changed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.run(), PAUSE);
    this.number();
    this.complete();
  }

  async run() {
    clearTimeout(this.timer);
    try {
      await runScene(this.app, this.text.value, this.from);
      this.mark(null);
    } catch (error) {
      this.mark(error);
    }
  }

  mark(error) {
    this.wrong = error?.line ?? null;
    this.error.textContent = error ? `Line ${error.line}: ${error.message}` : '';
    this.number();
  }

  number() {
    const count = this.text.value.split('\n').length;
    this.numbers.replaceChildren(
      ...Array.from({ length: count }, (_, i) =>
        h('div', { class: i + 1 === this.wrong ? 'wrong' : '' }, `${i + 1}`),
      ),
    );
  }

  // ---- Completion

  complete() {
    const { selectionStart: at, value } = this.text;
    if (isModel(value)) return; // the schema is that of scenes
    this.offer = suggest(value, at);
    const { list } = this.offer;
    this.chosen = 0;
    this.list.hidden = list.length === 0 || !/["\w]/.test(value[at - 1] ?? '');
    this.list.replaceChildren(
      ...list.map(({ word, hint }, i) =>
        h('li', { class: i === 0 ? 'chosen' : '', onpointerdown: (event) => this.take(event, i) }, [
          h('strong', {}, word),
          h('span', {}, hint),
        ]),
      ),
    );
    this.place();
  }

  take(event, index) {
    event.preventDefault();
    const { from, to, list } = this.offer;
    this.text.setRangeText(list[index].text, from, to, 'end');
    this.list.hidden = true;
    this.changed();
    this.list.hidden = true;
  }

  choose(index) {
    const { length } = this.offer.list;
    this.chosen = (index + length) % length;
    [...this.list.children].forEach(
      (item, i) => (item.className = i === this.chosen ? 'chosen' : ''),
    );
  }

  key(event) {
    const { key, ctrlKey, metaKey } = event;
    const isOpen = !this.list.hidden;
    if (key === 'Enter' && (ctrlKey || metaKey)) this.run();
    else if (key === ' ' && ctrlKey) this.complete();
    else if (isOpen && (key === 'Tab' || key === 'Enter')) this.take(event, this.chosen);
    else if (isOpen && key === 'ArrowDown') this.choose(this.chosen + 1);
    else if (isOpen && key === 'ArrowUp') this.choose(this.chosen - 1);
    else if (isOpen && key === 'Escape') this.list.hidden = true;
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Line numbers and completions follow the text.
  place() {
    const { scrollTop, scrollLeft, selectionStart, value } = this.text;
    this.numbers.style.transform = `translateY(${-scrollTop}px)`;
    const lines = value.slice(0, selectionStart).split('\n');
    const style = getComputedStyle(this.text);
    const pen = (this.pen ??= document.createElement('canvas').getContext('2d'));
    pen.font = style.font;
    const wide = pen.measureText('m').width;
    const x = this.text.offsetLeft + 8 + wide * lines[lines.length - 1].length - scrollLeft;
    const y = parseFloat(style.lineHeight) * lines.length + 8 - scrollTop;
    this.list.style.transform = `translate(${Math.max(8, Math.min(x, 160))}px, ${y}px)`;
  }
}
