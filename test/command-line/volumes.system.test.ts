import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeRequiring } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CommandLine } from './command-line.ts';
import { startCommandStore, type CommandStore } from './command-store.ts';

describeRequiring(['linux', 'root'], 'svc volume', () => {
  let store: CommandStore;
  let svc: CommandLine;
  beforeAll(async () => {
    store = await startCommandStore({ environment: { SVC_SANDBOXES_IMAGE_REGISTRY: '' } });
    ({ svc } = store);
    await svc.answer(['volume', 'create', 'data', '--size', '64']);
  });
  afterAll(() => store[Symbol.asyncDispose]());

  it('copies files and folders both ways, lists and deletes them, without a sandbox', async () => {
    const tree = join(store.folder, 'tree');
    await mkdir(join(tree, 'deep'), { recursive: true });
    await writeFile(join(tree, 'deep/one'), 'one');
    await writeFile(join(tree, 'two'), 'two');
    await svc.answer(['volume', 'cp', '-r', 'tree', 'data:/']);
    const listed = await svc.json<{ path: string; size: number }[]>(['volume', 'ls-files', 'data:/tree']);
    expect(listed.map(({ path, size }) => [path, size])).toEqual([
      ['/tree/deep', expect.any(Number)],
      ['/tree/two', 3],
    ]);
    expect(await svc.answer(['volume', 'ls-files', 'data'])).toMatch(/drwxr-xr-x +0:0 .* tree\//);
    expect(await svc.answer(['volume', 'cp', 'data:/tree/two', '-'])).toBe('two');
    await svc.answer(['volume', 'cp', '-r', 'data:/tree', 'back']);
    expect(await readFile(join(store.folder, 'back/deep/one'), 'utf8')).toBe('one');
    expect((await svc.run(['volume', 'rm-files', 'data:/tree'])).exitCode).toBe(1); // not empty
    expect(await svc.answer(['volume', 'rm-files', '-r', 'data:/tree'])).toBe('Deleted data:/tree\n');
    expect(await svc.json(['volume', 'ls-files', 'data'])).toEqual([]);
  });

  it('names what is wrong', async () => {
    expect((await svc.run(['volume', 'cp', 'a', 'b'])).stderr).toMatch(/exactly one argument must be in a volume/);
    expect(await svc.run(['volume', 'cp', 'none:/a', '-'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('Volume none not found'),
    });
    expect((await svc.run(['volume', 'rm-files', 'data'])).exitCode).toBe(2);
  });
});
