import type { Command } from 'commander';
import { renderBytes } from '../../client/output.ts';
import { imagesCommand, withImages, type ImagesFlags } from './with-images.ts';

/** `svc images ls` */
export function registerImagesList(images: Command): void {
  imagesCommand(images, 'ls', 'List images on this machine')
    .option('--all', 'Include catalog images that are not on this machine')
    .action((flags: ImagesFlags & { all?: boolean }) =>
      withImages(flags, async ({ catalog, list }, output) => {
        const stored = await list();
        const names = new Set(stored.map(({ name }) => name));
        const absent = flags.all === true ? catalog.filter(({ name }) => !names.has(name)) : [];
        const entries = [
          ...stored.map((image) => ({
            name: image.name,
            here: true,
            digest: image.digest.replace('-', ':'),
            source: image.source,
            layers: image.layers,
            bytes: image.bytes,
            in_use: image.inUse,
            prepared_at: image.preparedAt,
          })),
          ...absent.map(({ name }) => ({ name, here: false })),
        ];
        const rows = [
          ...stored.map((image) => [
            image.name,
            image.digest.slice(0, 'sha256-'.length + 12).replace('-', ':'),
            renderBytes(image.bytes),
            String(image.layers),
            image.inUse ? 'yes' : 'no',
            image.preparedAt,
            image.source,
          ]),
          ...absent.map(({ name }) => [name, '-', '-', '-', '-', 'not here yet', '-']),
        ];
        output.answerTable(entries, ['NAME', 'DIGEST', 'SIZE', 'LAYERS', 'IN USE', 'PREPARED', 'SOURCE'], rows);
      }),
    );
}
