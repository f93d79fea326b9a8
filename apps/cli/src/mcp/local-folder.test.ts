import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LocalFolder } from './local-folder.ts';

describe('the folder available to tools', () => {
  let root: TemporaryFolder;
  let folder: LocalFolder;
  beforeAll(async () => {
    root = await temporaryFolder('svc-mcp-');
    await mkdir(join(root.path, 'own/sub'), { recursive: true });
    await writeFile(join(root.path, 'own/file'), 'own');
    await writeFile(join(root.path, 'secret'), 'not yours');
    await symlink('../secret', join(root.path, 'own/link'));
    await symlink('..', join(root.path, 'own/out'));
    folder = await LocalFolder.open(join(root.path, 'own'));
  });
  afterAll(() => root.remove());

  it('allows paths inside', async () => {
    expect(await folder.existing('file')).toBe(join(folder.path, 'file'));
    expect(await folder.existing(join(folder.path, 'sub/../file'))).toBe(join(folder.path, 'file'));
    expect(await folder.target('sub/new')).toBe(join(folder.path, 'sub/new'));
  });

  it('refuses everything outside, by path or by link', async () => {
    for (const path of ['../secret', join(root.path, 'secret'), 'link', 'out/secret']) {
      await expect(folder.existing(path)).rejects.toThrow('outside the folder');
    }
    for (const path of ['../new', 'out/new', join(root.path, 'new')]) {
      await expect(folder.target(path)).rejects.toThrow('outside the folder');
    }
  });

  it('refuses a folder whose name begins like its own', async () => {
    await mkdir(join(root.path, 'own-other'));
    await expect(folder.existing('../own-other')).rejects.toThrow('outside the folder');
  });
});
