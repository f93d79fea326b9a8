import { beforeEach, expect, it } from 'vitest';
import { Holder } from './holder.ts';
import { newSandboxId } from './identifiers.ts';
import type { Sandbox } from './sandbox.ts';

const ID = newSandboxId((size) => Buffer.alloc(size, 7));

let rows: Map<string, Sandbox>;
let reads: number;
let nowMs: number;
let holder: Holder;

beforeEach(() => {
  rows = new Map();
  reads = 0;
  nowMs = 0;
  holder = new Holder({
    repository: {
      find: async (id) => {
        reads += 1;
        return rows.get(id) ?? null;
      },
    },
    live: { has: () => false },
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
