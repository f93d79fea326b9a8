import type { PlatformNode } from '@svc/sdk';
import { describeRequiring } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CommandLine } from './command-line.ts';
import { startCommandStore, type CommandStore } from './command-store.ts';

describeRequiring(['linux', 'root'], 'svc node', () => {
  let store: CommandStore;
  let svc: CommandLine;
  let host: string;

  beforeAll(async () => {
    store = await startCommandStore({ environment: { SVC_SANDBOXES_DRAIN_NOTICE_SECONDS: '1' } });
    ({ svc } = store);
    await svc.answer(['sandbox', 'create', 'busybox', '--name', 'plain']);
    await svc.answer(['sandbox', 'create', 'busybox', '--name', 'precious', '--on-drain', 'snapshot']);
    host = (await listNodes())[0]?.replica?.host ?? '';
  });
  afterAll(async () => {
    await svc.run(['sandbox', 'rm', '--all']);
    await store[Symbol.asyncDispose]();
  });
  const listNodes = async (): Promise<PlatformNode[]> =>
    (await svc.json<{ nodes: PlatformNode[] }>(['node', 'list'])).nodes;

  it('lists the nodes, also in the status', async () => {
    expect(await listNodes()).toMatchObject([
      { this_node: true, replica: { live: true, host }, sandboxes: { driver: 'local', running: 2 }, drain: null },
    ]);
    const line = /^\S+ \* +(\S+) +\S+ +up +\S+ +\d+ s +local +2 of 2 running, at most 2000 +.* memory, .* disk +\S.*$/m;
    expect(line.exec(await svc.answer(['node', 'ls']))?.[1]).toBe(host);
    expect(await svc.answer(['status'])).toMatch(line);
    expect(await svc.json(['status'])).toMatchObject({
      services: {},
      nodes: [{ this_node: true }],
      work: expect.any(Array),
    });
    expect(await svc.answer(['sandbox', 'get', 'precious'])).toMatch(/^On drain +snapshot$/m);
  });

  it('drains one by its hostname: with notice, as the owners chose, and until the drain is ended', async () => {
    const running = svc.start(['sandbox', 'exec', '--no-stdin', 'plain', 'echo begun; exec sleep 600']);
    await new Promise((resolve) => running.child.stdout?.once('data', resolve));
    expect(await svc.answer(['node', 'drain', host, '--wait'])).toMatch(/^\S+ is drained\n$/);
    const { exitCode, stderr } = await running.ended;
    expect(exitCode).not.toBe(0);
    expect(stderr).toMatch(/^svc: The node of this sandbox is being drained: the sandbox stops at \S+Z$/m);
    const sandboxes = await svc.json<unknown[]>(['sandbox', 'ls']);
    expect(sandboxes).toMatchObject([
      { name: 'precious', status: 'stopped', state_reason: 'NODE_DRAINED' },
      { name: 'plain', status: 'stopped', state_reason: 'NODE_DRAINED' },
    ]);
    expect(await svc.json(['sandbox', 'snapshot', 'ls'])).toMatchObject([{ name: 'precious' }]);
    expect(await svc.run(['sandbox', 'start', 'plain'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('is being drained, and no other node can start this sandbox'),
    });
    expect(await svc.answer(['node', 'list'])).toMatch(/ up, drained /);
    expect(await svc.answer(['node', 'undrain', host])).toMatch(/^\S+ starts sandboxes again\n$/);
    expect(await svc.answer(['sandbox', 'start', 'plain'])).toBe('plain is running\n');
  });

  it('refuses unknown nodes and choices', async () => {
    expect(await svc.run(['node', 'drain', 'nowhere'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('Node nowhere not found'),
    });
    expect((await svc.run(['node', 'drain'])).exitCode).toBe(2);
    expect((await svc.run(['sandbox', 'create', 'busybox', '--on-drain', 'later'])).exitCode).toBe(2);
    expect((await svc.run(['sandbox', 'create', 'busybox', '--on-node-lost', 'later'])).exitCode).toBe(2);
    expect(await listNodes()).toMatchObject([{ drain: null }]);
  });
});
