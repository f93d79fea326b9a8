import { describe, expect, it } from 'vitest';
import type { SandboxRecord } from './api.ts';
import { Journal, type Wish } from './journal.ts';

const WISH: Wish = {
  name: 'fork',
  network: 'none',
  egressAllow: null,
  resources: { cpu: 1, memory_mb: 128, disk_mb: 64, pids: 64 },
};
const FAILED: SandboxRecord = {
  id: 'sbx_a',
  name: 'fork',
  status: 'error',
  state_reason: 'INIT_CRASHED',
  snapshot_id: null,
  started_at: '2026-01-01T00:00:00.000Z',
  paused_at: null,
  labels: {},
  network: 'none',
  egress_allow: null,
  resources: WISH.resources,
  error: { code: 'INIT_CRASHED', message: 'it ended' },
  volumes: [],
};

describe('the known state of a sandbox whose create was not answered', () => {
  it('explains its end by a kill before its id was known', () => {
    const journal = new Journal(1, []);
    journal.beginSandbox('fork', WISH);
    journal.willKill('sbx_a');
    expect(journal.judge({ sandboxes: [FAILED], snapshots: [], volumes: [], templates: [] })).toEqual([]);
  });

  it('explains it by nothing else', () => {
    const journal = new Journal(1, []);
    journal.beginSandbox('fork', WISH);
    journal.willKill('sbx_b');
    expect(journal.judge({ sandboxes: [FAILED], snapshots: [], volumes: [], templates: [] })).toEqual([
      'sandbox fork (sbx_a) is error (INIT_CRASHED: it ended), expected running',
    ]);
  });
});
