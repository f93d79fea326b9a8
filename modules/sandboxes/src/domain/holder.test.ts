import { beforeEach, expect, it } from 'vitest';
import { Holder } from './holder.ts';
import { newSandboxId } from './identifiers.ts';
import type { Sandbox } from './sandbox.ts';

const ID = newSandboxId((size) => Buffer.alloc(size, 7));

let rows: Map<string, Sandbox>;
let live: Set<string>;
let reads: number;
let nowMs: number;
let holder: Holder;

beforeEach(() => {
  rows = new Map();
  live = new Set();
  reads = 0;
  nowMs = 0;
  holder = new Holder({
    repository: {
      find: async (id) => {
        reads += 1;
        return rows.get(id) ?? null;
      },
    },
    live: { has: (id) => live.has(id) },
    node: 'here',
    nodes: { isLive: async () => true },
    clock: { nowMs: () => nowMs },
  });
});

const isAt = (node: string): void =>
  void rows.set(ID, { id: ID, workspaceUuid: 'workspace', node } as Sandbox); /* the fields that `findNode` reads */

it('reads the node of a sandbox once for a burst of requests', async () => {
  isAt('there');
  expect([await holder.findNode(ID, 'workspace'), await holder.findNode(ID, 'workspace')]).toEqual(['there', 'there']);
  expect(reads).toBe(1);
  isAt('elsewhere');
  nowMs = 500;
  expect(await holder.findNode(ID, 'workspace')).toBe('elsewhere');
});

it('finds no sandbox of another workspace, also after it was read', async () => {
  isAt('there');
  expect(await holder.findNode(ID, 'workspace')).toBe('there');
  expect(await holder.findNode(ID, 'another')).toBe(null);
});

it('finds a sandbox as soon as it exists', async () => {
  expect(await holder.findNode(ID, 'workspace')).toBe(null);
  isAt('there');
  expect(await holder.findNode(ID, 'workspace')).toBe('there');
});

it('asks the record about a running sandbox after a pause, because it may have been restored elsewhere', async () => {
  live.add(ID);
  rows.set(ID, { node: 'there', workspaceUuid: 'w' } as Sandbox); // the fields that are read
  nowMs = 14_000;
  expect([await holder.findNode(ID, 'w'), reads]).toEqual(['here', 0]);
  nowMs = 60_000;
  expect(await holder.findNode(ID, 'w')).toBe('there');
  await expect(holder.assertHereById('w', ID)).rejects.toMatchObject({ code: 'SANDBOX_ELSEWHERE' });
  holder.confirm(60_000);
  expect(await holder.findNode(ID, 'w')).toBe('here');
});
