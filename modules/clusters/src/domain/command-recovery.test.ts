import { describe, expect, it } from 'vitest';
import type { Command } from './command.ts';
import { planRecovery, type Recovery } from './command-recovery.ts';

const SENT: Command = {
  id: 'cmd-1',
  clusterId: 'cls-1',
  kind: 'exec',
  state: 'running',
  createdBy: { id: 'user-1', name: 'Ada' },
  createdAt: '2026-11-21T10:00:00.000Z',
  timeoutMs: 1000,
  sentAt: '2026-11-21T10:00:00.000Z',
  sentInstanceId: 'instance-1',
  sentOutboxId: 'outbox-1',
  sentCount: 1,
  acknowledgedAt: null,
  cancelRequestedAt: null,
  deadlineAt: '2026-11-21T10:01:00.000Z',
  finishedAt: null,
  result: null,
  error: null,
};

describe('recovery of a command sent over an earlier connection', () => {
  const CASES: readonly [string, Partial<Command>, string | null, boolean, boolean, Recovery, boolean?][] = [
    ['an exec that the same process runs', {}, 'instance-1', true, false, 'keep'],
    ['an exec that the same process did not get', {}, 'instance-1', false, false, 'send-again'],
    ['an exec of a process that ended', {}, 'instance-2', false, false, 'lose'],
    ['an exec sent before a late hello', { sentInstanceId: null }, 'instance-2', false, false, 'send-again', false],
    [
      'an exec sent before a late hello, of a process that ended',
      { sentInstanceId: null },
      'new',
      false,
      false,
      'lose',
    ],
    ['an exec sent before a late hello that runs', { sentInstanceId: null }, 'instance-1', true, false, 'keep', false],
    ['a deploy of a process that ended', { kind: 'deploy' }, 'instance-2', false, false, 'send-again'],
    ['a deploy sent to a peer of the contract', { kind: 'deploy' }, null, false, false, 'keep'],
    ['logs that somebody reads, of a process that ended', { kind: 'logs' }, 'instance-2', false, true, 'lose'],
    ['logs that nobody reads any more', { kind: 'logs' }, 'instance-1', true, false, 'abandon'],
  ];
  it.each(CASES)('%s', (_name, command, instanceId, isInFlight, hasReader, recovery, isFirstConnection = true) => {
    const inFlight = new Set(isInFlight ? ['cmd-1'] : []);
    const link = { instanceId, outboxId: null, isFirstConnection, connectedAtMs: Date.parse(SENT.deadlineAt) };
    expect(planRecovery({ ...SENT, ...command }, link, inFlight, hasReader)).toBe(recovery);
  });

  const SAME_FOLDER: readonly [string, Partial<Command>, string, boolean, Recovery][] = [
    ['an exec that never began', {}, 'outbox-1', false, 'send-again'],
    ['an exec that began', {}, 'outbox-1', true, 'keep'],
    ['an exec whose acknowledgement nobody remembers', { acknowledgedAt: SENT.sentAt }, 'outbox-1', false, 'lose'],
    ['an exec sent to a process with another folder', {}, 'outbox-2', false, 'lose'],
    ['an exec sent to nobody knows which folder', { sentOutboxId: null }, 'outbox-1', false, 'lose'],
  ];
  it.each(SAME_FOLDER)(
    '%s, when the next process has an outbox folder',
    (_name, command, outboxId, isInFlight, recovery) => {
      const inFlight = new Set(isInFlight ? ['cmd-1'] : []);
      const connectedAtMs = Date.parse(SENT.deadlineAt);
      const link = { instanceId: 'instance-2', outboxId, isFirstConnection: true, connectedAtMs };
      expect(planRecovery({ ...SENT, ...command }, link, inFlight, false)).toBe(recovery);
    },
  );

  it.each(['exec', 'deploy'] as const)('%s sent over this connection before its late hello', (kind) => {
    const connectedAtMs = Date.parse(SENT.createdAt);
    const link = { instanceId: 'instance-1', outboxId: 'outbox-1', isFirstConnection: true, connectedAtMs };
    const command = { ...SENT, kind, sentInstanceId: null, sentOutboxId: null };
    expect(planRecovery(command, link, new Set(), false)).toBe('keep');
  });
});
