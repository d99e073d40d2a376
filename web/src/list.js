// The list of scenes, grouped by source.
import { h } from './dom.js';

export const plainName = (name) => name.replaceAll('_', ' ');

// Pictures from the build; the single-file page contains them.
function picture(name) {
  const thumbs = globalThis.TENON_THUMBS;
  if (!thumbs) return h('span', { class: 'thumb' });
  const src = thumbs === 'files' ? `thumbs/${name}.webp` : thumbs[name];
  if (!src) return h('span', { class: 'thumb' });
  return h('img', { class: 'thumb', src, alt: '', loading: 'lazy', width: 96, height: 60 });
}

export class SceneList {
  constructor(app) {
    this.app = app;
    this.links = new Map();
    const search = h('input', {
      type: 'search',
      placeholder: 'Find a scene',
      'aria-label': 'Find a scene',
      oninput: () => this.filter(search.value.trim().toLowerCase()),
    });
    this.groups = [];
    const groups = new Map();
    for (const scene of app.engine.scenes) {
      if (!groups.has(scene.group)) groups.set(scene.group, []);
      groups.get(scene.group).push(scene);
    }
    this.node = h('nav', { class: 'scenes', id: 'scenes', 'aria-label': 'Scenes' }, [
      search,
      ...[...groups].map(([title, scenes]) => this.group(title, scenes)),
    ]);
  }

  group(title, scenes) {
    const items = scenes.map((scene) => {
      const link = h('a', { href: `#scene=${scene.name}`, class: 'scene' }, [
        picture(scene.name),
        h('span', { class: 'words' }, [
          h('strong', {}, plainName(scene.name)),
          h('span', { class: 'title' }, scene.title),
        ]),
      ]);
      const words = `${scene.name} ${scene.title} ${scene.source}`.toLowerCase();
      const item = h('li', {}, link);
      this.links.set(scene.name, link);
      return { item, words };
    });
    const node = h('section', {}, [
      h('h2', {}, title),
      h(
        'ul',
        {},
        items.map(({ item }) => item),
      ),
    ]);
    this.groups.push({ node, items });
    return node;
  }

  filter(text) {
    for (const { node, items } of this.groups) {
      for (const { item, words } of items) item.hidden = !words.includes(text);
      node.hidden = items.every(({ item }) => item.hidden);
    }
  }

  setScene(name) {
    for (const [key, link] of this.links) {
      if (key === name) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    this.links.get(name)?.scrollIntoView({ block: 'nearest' });
  }
}
