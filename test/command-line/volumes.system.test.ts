import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CommandLine } from './command-line.ts';
import { startCommandStore, type CommandStore } from './command-store.ts';

describe('svc volume', () => {
  let store: CommandStore;
  let svc: CommandLine;
  beforeAll(async () => {
    store = await startCommandStore();
    svc = store.svc;
  });
  afterAll(() => store[Symbol.asyncDispose]());

  it('says what is wrong with its arguments', async () => {
    const volume = await svc.run(['sandbox', 'create', 'busybox', '--volume', 'data']);
    expect([volume.exitCode, volume.stderr]).toEqual([2, expect.stringContaining('use NAME:/path or NAME:/path:ro')]);
    const mount = await svc.run(['sandbox', 'create', 'busybox', '--mount', 'photos']);
    expect([mount.exitCode, mount.stderr]).toEqual([2, expect.stringContaining('BUCKET/PREFIX:/path')]);
    const size = await svc.run(['volume', 'create', 'data', '--size', 'large']);
    expect([size.exitCode, size.stderr]).toEqual([2, expect.stringContaining('"large" is not a size in MiB')]);
    const gone = await svc.run(['volume', 'rm', 'none']);
    expect([gone.exitCode, gone.stderr]).toEqual([1, expect.stringContaining('There is no volume none')]);
    expect(await svc.json(['volume', 'ls'])).toEqual([]);
    expect(await svc.json(['volume', 'snapshot', 'ls'])).toEqual([]);
  });
});
