import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testing';
import { expect, it } from 'vitest';
import { DiskTemplates } from './disk-template.ts';

it('removes templates that were left unfinished, and no other', async () => {
  await using folder = await temporaryFolder('svc-templates-');
  for (const name of ['64.ext4', '80.ext4.15.41af386d']) await writeFile(join(folder.path, name), '');
  const templates = new DiskTemplates(folder.path, '/bin/false');
  await templates.open();
  expect(await readdir(folder.path)).toEqual(['64.ext4']);
  await new DiskTemplates(join(folder.path, 'missing'), '/bin/false').open();
});
