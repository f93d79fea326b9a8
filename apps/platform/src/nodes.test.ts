import type { Replica } from '@svc/replicas';
import type { SandboxNode } from '@svc/sandboxes';
import { describe, expect, it } from 'vitest';
import { joinNodes } from './nodes.ts';

const AT = '2026-01-01T00:00:00.000Z';

function replica(id: string): Replica {
  const times = { startedAt: AT, seenAt: AT, isLive: true, leaseLeftMs: 10_000, silentMs: 0 };
  return { id, bootId: 'boot', url: null, host: 'host', version: '1', ...times };
}

function sandboxNode(node: string, total: number): SandboxNode {
  const unarchived = { pending: 0, failed: 0 };
  const load = { running: 0, total, toDrain: 0, cpuMillis: 0, memoryMb: 0, unarchived };
  return { node, driver: 'local', maxRunning: 1, room: null, ...load, reportedAt: AT, drainRequestedAt: null };
}

describe('the nodes of an installation', () => {
  it('are replicas, with their sandboxes if they have run any, by id', () => {
    expect(joinNodes([replica('b'), replica('a')], [sandboxNode('b', 0)])).toEqual([
      { id: 'a', replica: replica('a'), sandboxes: null },
      { id: 'b', replica: replica('b'), sandboxes: sandboxNode('b', 0) },
    ]);
  });

  it('include what holds sandboxes after its replica was forgotten, and nothing else of that kind', () => {
    expect(joinNodes([], [sandboxNode('empty', 0), sandboxNode('full', 2)])).toEqual([
      { id: 'full', replica: null, sandboxes: sandboxNode('full', 2) },
    ]);
  });
});
