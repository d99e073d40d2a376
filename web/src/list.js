// The scenes: large cards and lists by subject on the first page, a narrow list beside a scene.
import { bySubject, CARDS, sourceOf, titleOf } from './catalog.js';
import { h } from './dom.js';

// Pictures from the build, one for each theme; the single-file page contains them.
function addressOf(name, theme) {
  const thumbs = globalThis.TENON_THUMBS;
  const key = theme === 'dark' ? `${name}-dark` : name;
  return thumbs === 'files' ? `thumbs/${key}.webp` : thumbs?.[key];
}

export class SceneList {
  constructor(app) {
    this.app = app;
    this.links = new Map();
    this.pictures = [];
    this.groups = [];
    const search = h('input', {
      type: 'search',
      placeholder: 'Find a scene',
      'aria-label': 'Find a scene',
      oninput: () => this.filter(search.value.trim().toLowerCase()),
    });
    const { scenes } = app.engine;
    this.node = h('nav', { class: 'scenes', id: 'scenes', 'aria-label': 'Scenes' }, [
      h(
        'ul',
        { class: 'cards' },
        CARDS.map((name) => app.engine.find(name))
          .filter(Boolean)
          .map((scene) => h('li', {}, this.link(scene, `card-${scene.name}`))),
      ),
      search,
      ...bySubject(scenes).map(([title, list]) => this.group(title, list)),
    ]);
  }

  picture(name) {
    if (!addressOf(name)) return h('span', { class: 'thumb' });
    const image = h('img', { class: 'thumb', alt: '', loading: 'lazy', width: 96, height: 60 });
    this.pictures.push({ image, name });
    return image;
  }

  link({ name, title }, picture = name) {
    return h('a', { href: `#scene=${name}`, class: 'scene' }, [
      this.picture(picture),
      h('span', { class: 'words' }, [
        h('strong', {}, titleOf(name)),
        h('span', { class: 'title' }, title),
      ]),
    ]);
  }

  group(title, scenes) {
    const items = scenes.map((scene) => {
      const link = this.link(scene);
      this.links.set(scene.name, link);
      const words = [scene.name, titleOf(scene.name), scene.title, sourceOf(scene), title];
      return { item: h('li', {}, link), words: words.join(' ').toLowerCase() };
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

  setTheme(theme) {
    for (const { image, name } of this.pictures) {
      const address = addressOf(name, theme);
      if (address) image.src = address;
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
