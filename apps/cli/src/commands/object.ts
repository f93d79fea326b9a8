import type { Command } from 'commander';
import { registerObjectCat } from './object/cat.ts';
import { registerObjectCopy } from './object/copy.ts';
import { registerObjectList } from './object/list.ts';
import { registerObjectMove } from './object/move.ts';
import { registerObjectPresign } from './object/presign.ts';
import { registerObjectRemove } from './object/remove.ts';
import { registerObjectStat } from './object/stat.ts';
import { registerObjectSync } from './object/sync.ts';

/** `svc object …` */
export function registerObjectCommand(program: Command): void {
  const object = program.command('object').description('Manage objects: svc://BUCKET/KEY');
  registerObjectList(object);
  registerObjectCopy(object);
  registerObjectMove(object);
  registerObjectSync(object);
  registerObjectRemove(object);
  registerObjectCat(object);
  registerObjectStat(object);
  registerObjectPresign(object);
}
