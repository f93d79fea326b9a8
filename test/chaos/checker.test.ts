import { describe, expect, it } from 'vitest';
import { findingsOf } from './checker.ts';
import type { SeenCommand } from './platform-api.ts';
import type { CommandRecord, Records } from './records.ts';

const AT = Date.parse('2026-01-01T00:00:00Z');

function seen(status: string, seconds = 1): SeenCommand {
  const created_at = new Date(AT).toISOString();
  return { status, error: null, created_at, finished_at: new Date(AT + seconds * 1000).toISOString() };
}

function exec(name: string, answer: SeenCommand | null): CommandRecord {
  return { kind: 'exec', name, submittedAtMs: AT, answered: true, id: `cmd-${name}`, seen: answer };
}

function deploy(name: string, answer: SeenCommand | null): CommandRecord {
  return { ...exec(name, answer), kind: 'deploy' };
}

function records(change: Partial<Records>): Records {
  return {
    commands: [],
    applied: new Map(),
    journal: new Map(),
    podsCreated: new Set(),
    podsDeleted: new Set(),
    events: new Map(),
    droppedEvents: 0,
    logs: [],
    agentKilledAtMs: [],
    ...change,
  };
}

describe('the campaign checker', () => {
  it('finds nothing in a correct run', () => {
    const well = records({
      commands: [exec('a', seen('succeeded')), exec('b', seen('lost')), exec('c', seen('timed_out', 500))],
      journal: new Map([['a', 1]]),
      podsCreated: new Set(['p']),
      podsDeleted: new Set(['p']),
      events: new Map([
        ['pod_created pod/p', 1],
        ['pod_deleted pod/p', 1],
      ]),
      logs: [{ numbers: [7, 8, 9], remarks: [] }],
      agentKilledAtMs: [AT + 1],
    });
    expect(findingsOf(well)).toEqual([]);
  });

  it('accepts a deploy reapplied after a kill, and one lost after too many kills', () => {
    const commands = [deploy('a', seen('succeeded')), deploy('b', seen('lost'))];
    const agentKilledAtMs = [AT + 1, AT + 2, AT + 3, AT + 4];
    expect(findingsOf(records({ commands, applied: new Map([['a', 2]]), agentKilledAtMs }))).toEqual([]);
  });

  const bad: [string, Partial<Records>, RegExp][] = [
    ['a result that is not there', { commands: [exec('a', null)] }, /its result is lost/],
    ['a success without an effect', { commands: [exec('a', seen('succeeded'))] }, /nothing was done/],
    ['a loss without a kill', { commands: [exec('a', seen('lost'))] }, /no agent was killed/],
    ['a loss before the kill', { commands: [exec('a', seen('lost'))], agentKilledAtMs: [AT + 5000] }, /no agent was/],
    [
      'a deploy that no agent finished',
      { commands: [deploy('a', seen('lost'))], agentKilledAtMs: [AT + 1] },
      /lost after 1/,
    ],
    ['a failure', { commands: [exec('a', seen('failed'))] }, /failed/],
    ['an end before its time', { commands: [exec('a', seen('timed_out', 3))] }, /timed out after 3 s/],
    ['a second run', { journal: new Map([['a', 2]]) }, /came 2 times/],
    ['a second apply', { applied: new Map([['a', 2]]) }, /came 2 times/],
    ['an event that is not told', { podsDeleted: new Set(['p']) }, /pod_deleted pod\/p is lost/],
    ['an event that is told twice', { events: new Map([['pod_created pod/p', 2]]) }, /came 2 times/],
    ['events that were dropped', { droppedEvents: 1 }, /dropped/],
    ['a gap in a log', { logs: [{ numbers: [1, 2, 4], remarks: [] }] }, /4 follows 2/],
    ['a repetition in a log', { logs: [{ numbers: [1, 2, 2], remarks: [] }] }, /2 follows 2/],
    ['lines that were dropped', { logs: [{ numbers: [], remarks: ['[3 lines were dropped]'] }] }, /3 lines/],
  ];
  it.each(bad)('finds %s', (_what, change, finding) => {
    expect(findingsOf(records(change))).toEqual([expect.stringMatching(finding)]);
  });
});
