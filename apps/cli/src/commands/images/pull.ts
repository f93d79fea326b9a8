import { describeImageProgress, type ImageProgress } from '@svc/platform';
import type { Command } from 'commander';
import { printable, renderBytes } from '../../client/output.ts';
import { imagesCommand, withImages, type ImagesFlags } from './with-images.ts';

const REDRAW_EVERY_MS = 100;

/** `svc images pull NAME…` */
export function registerImagesPull(images: Command): void {
  imagesCommand(images, 'pull', 'Download or update images ahead of the first sandbox')
    .argument('<name...>', 'Image names or aliases from the catalog')
    .action((names: string[], flags: ImagesFlags) =>
      withImages(flags, async ({ pull }, output, signal) => {
        const pulled = [];
        for (const name of names) {
          const line = new ProgressLine(name, output.json);
          const begunMs = performance.now();
          const image = await pull(name, signal, (progress) => line.show(progress)).finally(() => line.end());
          const { digest, source, changed, bytes } = image;
          const durationMs = Math.round(performance.now() - begunMs);
          pulled.push({ name, digest: digest.replace('-', ':'), source, changed, bytes, duration_ms: durationMs });
          const what = image.changed ? `ready, ${renderBytes(image.bytes)}` : 'up to date';
          output.note(`${name} ${what} (${image.digest.replace('-', ':')} from ${image.source})`);
        }
        if (output.json) output.answer(pulled, []);
      }),
    );
}

/** Redraws one line on a terminal; otherwise prints a line per stage. */
class ProgressLine {
  readonly #name: string;
  readonly #silent: boolean;
  #drawnAtMs = 0;
  #stage = '';

  constructor(name: string, silent: boolean) {
    this.#name = name;
    this.#silent = silent;
  }

  show(progress: ImageProgress): void {
    if (this.#silent) return;
    const text = printable(`${this.#name}: ${describeImageProgress(progress)}`);
    if (process.stderr.isTTY) {
      if (Date.now() - this.#drawnAtMs < REDRAW_EVERY_MS) return;
      this.#drawnAtMs = Date.now();
      process.stderr.write(`\r\u001b[K${text.slice(0, process.stderr.columns - 1)}`);
      return;
    }
    const stage = `${progress.source} ${progress.stage}`;
    if (stage === this.#stage) return;
    this.#stage = stage;
    process.stderr.write(`${text}\n`);
  }

  end(): void {
    if (!this.#silent && process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  }
}
