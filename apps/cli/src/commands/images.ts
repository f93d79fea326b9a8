import type { Command } from 'commander';
import { registerImagesList } from './images/list.ts';
import { registerImagesPull } from './images/pull.ts';
import { registerImagesRemove } from './images/remove.ts';

/** `svc images …` */
export function registerImagesCommand(program: Command): void {
  const images = program.command('images').description('Manage sandbox images on this machine');
  registerImagesPull(images);
  registerImagesList(images);
  registerImagesRemove(images);
}
