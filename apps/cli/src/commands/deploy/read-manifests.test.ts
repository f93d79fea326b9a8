import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testing';
import { expect, it } from 'vitest';
import { readManifests } from './read-manifests.ts';

it('joins files and folders into one stream of documents', async () => {
  await using folder = await temporaryFolder();
  const parts = join(folder.path, 'parts');
  await mkdir(parts);
  await writeFile(join(folder.path, 'one.yaml'), 'kind: A');
  await writeFile(join(parts, '20.yml'), 'kind: C\n\n');
  await writeFile(join(parts, '10.json'), '{"kind":"B"}\n');
  await writeFile(join(parts, 'notes.txt'), 'no manifest');
  expect(await readManifests([join(folder.path, 'one.yaml'), parts])).toBe(
    'kind: A\n---\n{"kind":"B"}\n---\nkind: C\n',
  );
});

it('rejects empty, missing and oversized input', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'a.yaml');
  await writeFile(path, '\n');
  await expect(readManifests([path])).rejects.toThrow('the manifest is empty');
  await expect(readManifests([join(folder.path, 'gone.yaml')])).rejects.toThrow('ENOENT');
  await writeFile(path, '#'.repeat(1024 * 1024));
  await expect(readManifests([path])).rejects.toThrow('900 KiB');
  const empty = join(folder.path, 'empty');
  await mkdir(empty);
  await expect(readManifests([empty])).rejects.toThrow('contains no manifests');
});
