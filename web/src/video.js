// Records the picture as a WebM video.
import { download } from './dom.js';

const FRAMES = 60; // per second
const BITS = 12e6; // per second
const TYPES = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'];

export class Recorder {
  constructor(app) {
    this.app = app;
    this.recorder = null;
  }

  get isOn() {
    return !!this.recorder;
  }

  start() {
    const type = TYPES.find((name) => globalThis.MediaRecorder?.isTypeSupported(name));
    if (!type) {
      this.app.say('This browser cannot record WebM.');
      return;
    }
    const stream = this.app.stage.canvas.captureStream(FRAMES);
    const parts = [];
    this.recorder = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: BITS });
    this.recorder.addEventListener('dataavailable', ({ data }) => data.size && parts.push(data));
    this.done = new Promise((resolve) => {
      this.recorder.addEventListener('stop', () =>
        resolve(new Blob(parts, { type: 'video/webm' })),
      );
    });
    this.recorder.start(500);
    if (!this.app.isPlaying) this.app.setPlaying(true);
  }

  // The video.
  async stop() {
    this.recorder.stop();
    for (const track of this.recorder.stream.getTracks()) track.stop();
    this.recorder = null;
    return this.done;
  }

  async toggle() {
    if (this.isOn) download(`tenon-${this.app.scene.name}.webm`, await this.stop());
    else this.start();
    return this.isOn;
  }
}
