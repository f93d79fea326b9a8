import { findChromium, findFullChromium } from '@svc/testing';
import { chromium, type Browser } from 'playwright-core';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The headless shell, or else a full Chromium; suites that use it require `chromium`. */
export function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  return launch(findChromium(), more);
}

/** With what only a full Chromium has, such as its viewer of PDF files; suites that use it require `full-chromium`. */
export function launchFullBrowser(more: readonly string[] = []): Promise<Browser> {
  return launch(findFullChromium(), more);
}

function launch(executablePath: string | null, more: readonly string[]): Promise<Browser> {
  if (executablePath === null) throw new Error('no Chromium on this machine');
  return chromium.launch({ executablePath, args: [...ARGUMENTS, ...more], headless: true });
}
