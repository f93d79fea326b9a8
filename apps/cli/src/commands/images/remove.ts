import type { Command } from 'commander';
import { CommandFailure } from '../../client/command-failure.ts';
import { renderBytes } from '../../client/output.ts';
import { imagesCommand, withImages, type ImagesFlags } from './with-images.ts';

/** `svc images rm NAME…` */
export function registerImagesRemove(images: Command): void {
  imagesCommand(images, 'rm', 'Remove images; layers in use are removed with the last sandbox that needs them')
    .argument('<name...>', 'Image names or aliases; see svc images ls')
    .action((names: string[], flags: ImagesFlags) =>
      withImages(flags, async ({ remove }, output) => {
        const removed = [];
        for (const name of names) {
          const freed = await remove(name);
          if (freed === null) throw new CommandFailure(`image ${name} not found`, { hint: 'run svc images ls' });
          removed.push({ name, layers: freed.layers, bytes: freed.bytes });
          output.note(`${name} removed, ${renderBytes(freed.bytes)} freed`);
        }
        if (output.json) output.answer(removed, []);
      }),
    );
}
