// Debian's Chromium, without a window.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const EXECUTABLE = '/usr/bin/chromium';

export const hasBrowser = () => existsSync(EXECUTABLE);

export function launch() {
  return chromium.launch({
    executablePath: EXECUTABLE,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
