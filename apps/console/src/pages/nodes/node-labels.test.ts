import type { PlatformNode } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { grantedText, leaseText, nodeName, nodeState, roomText, runningText, workText } from './node-labels.ts';

const replica: NonNullable<PlatformNode['replica']> = {
  version: '1',
  host: 'db1',
  url: null,
  started_at: '2026-01-01T00:00:00.000Z',
  seen_at: '2026-01-01T00:00:00.000Z',
  live: true,
  lease_left_ms: 7_200,
};
const sandboxes: NonNullable<PlatformNode['sandboxes']> = {
  driver: 'local',
  running: 1_200,
  total: 3_000,
  max_running: 2_000,
  used_cpus: 1.5,
  used_memory_mb: 512,
  room: { cpus: 2, memory_bytes: 4 * 1024 ** 3, free_memory_bytes: 1024 ** 3, free_disk_bytes: 10 * 1024 ** 3 },
  reported_at: '2026-01-01T00:00:00.000Z',
};
const drain = {
  state: 'draining',
  requested_at: '2026-01-01T00:00:00.000Z',
  remaining: 2,
  archiving: 0,
  unarchived: 0,
} as const;

describe('a node', () => {
  it('has the name of its host, or else its id', () => {
    expect(nodeName({ id: 'a', replica })).toBe('db1');
    expect(nodeName({ id: 'a', replica: null })).toBe('a');
  });

  it.each([
    [{ replica, drain: null }, 'Up'],
    [{ replica, drain }, 'Draining, 2 left'],
    [{ replica, drain: { ...drain, archiving: 3 } }, 'Draining, 5 left'],
    [{ replica, drain: { ...drain, state: 'drained', remaining: 0 } }, 'Drained'],
    [{ replica, drain: { ...drain, state: 'drained', remaining: 0, unarchived: 1 } }, 'Drained, 1 not archived'],
    [{ replica: { ...replica, live: false }, drain }, 'Down'],
    [{ replica: null, drain: null }, 'Down'],
  ] as const)('has a state: %j', (node, label) => {
    expect(nodeState(node).label).toBe(label);
  });

  it('has sandboxes, room and a lease', () => {
    expect(runningText(sandboxes)).toBe('1,200 of 3,000 running');
    expect(roomText(sandboxes)).toBe('1 GiB memory, 10 GiB disk');
    expect(roomText({ ...sandboxes, room: null })).toBeNull();
    expect(grantedText(sandboxes)).toBe('1.5 CPUs, 512 MiB granted');
    expect(leaseText(replica)).toBe('lease 8 s');
    expect(leaseText({ ...replica, live: false })).toBeNull();
  });

  it('names the background work that it does', () => {
    const work = ['lifecycle', 'usage'].map((name) => ({ name, node: 'a', lease_left_ms: 1 }));
    expect(workText('a', work)).toBe('lifecycle, usage');
    expect(workText('b', work)).toBeNull();
  });
});
