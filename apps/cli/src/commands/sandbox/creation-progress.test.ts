import { describe, expect, it } from 'vitest';
import { CreationProgress } from './creation-progress.ts';

function image(message: string) {
  const image_progress = {
    stage: 'building',
    source: 's',
    layers: 0,
    layers_done: 0,
    bytes: 0,
    bytes_done: 0,
    message,
  };
  return { image_progress };
}

describe('the progress of a sandbox create', () => {
  it('prints one line per change when stderr is not a terminal', () => {
    const lines: string[] = [];
    const progress = new CreationProgress({ write: (text) => lines.push(text) }, () => 0);
    for (const message of ['Building the image', 'Building the image', 'Unpacking\nthe image'])
      progress.show(image(message));
    progress.show({ image_progress: null });
    progress.end();
    expect(lines).toEqual(['svc: Building the image\n', 'svc: Unpacking\\nthe image\n', 'svc: Starting the sandbox\n']);
  });

  it('redraws one line with the elapsed time on a terminal, and clears it at the end', () => {
    const written: string[] = [];
    let nowMs = 0;
    const target = { isTTY: true, columns: 30, write: (text: string) => written.push(text) };
    const progress = new CreationProgress(target, () => nowMs);
    progress.show(image('Building the image'));
    nowMs = 2000;
    progress.show(image('Building the image from packages'));
    progress.end();
    expect(written).toEqual([
      '\r\u001b[Ksvc: 0 s: Building the image',
      '\r\u001b[Ksvc: 2 s: Building the image ',
      '\r\u001b[K',
    ]);
  });
});
