import { describe, expect, it } from 'vitest';
import type { SandboxEvent, SandboxEventType } from './sandbox-event.ts';
import { deriveActivity } from './workspace-activity.ts';

const NOON_SECONDS = Date.parse('2026-01-01T12:00:00.000Z') / 1000;

async function* eventsOf(...given: readonly [number, string, SandboxEventType][]): AsyncGenerator<SandboxEvent> {
  for (const [index, [second, sandboxId, type]] of given.entries()) {
    const at = new Date((NOON_SECONDS + second) * 1000).toISOString();
    yield { workspaceUuid: 'workspace', sequence: index + 1, sandboxId, type, at, details: {} };
  }
}

const activity = async (seconds: number, ...given: readonly [number, string, SandboxEventType][]) => {
  const steps = await deriveActivity(eventsOf(...given), { start: NOON_SECONDS, end: NOON_SECONDS + seconds });
  return steps.map(({ at, concurrent, startsPerSecond }) => [at - NOON_SECONDS, concurrent, startsPerSecond * 5]);
};

describe('the activity of a workspace', () => {
  it('is what ran at the same time and what started, step by step', async () => {
    const given = [
      [0, 'a', 'created'],
      [1, 'a', 'running'],
      [2, 'b', 'running'],
      [3, 'a', 'deleted'],
      [6, 'c', 'running'],
      [7, 'b', 'paused'],
      [11, 'b', 'resumed'],
      [12, 'c', 'stopped'],
      [13, 'c', 'deleted'],
    ] as const;
    expect(await activity(20, ...given.map((each) => [...each] as [number, string, SandboxEventType]))).toEqual([
      [0, 2, 2],
      [5, 2, 1],
      [10, 2, 1],
      [15, 1, 0],
    ]);
  });

  it('begins with what ran before, and ends with the span', async () => {
    const given: [number, string, SandboxEventType][] = [
      [-90, 'a', 'running'],
      [-80, 'b', 'running'],
      [-70, 'b', 'error'],
      [10, 'c', 'running'],
    ];
    expect(await activity(10, ...given)).toEqual([
      [0, 1, 0],
      [5, 1, 0],
    ]);
  });

  it('counts no start twice, and nothing in an empty span', async () => {
    expect(await activity(5, [1, 'a', 'running'], [2, 'a', 'running'])).toEqual([[0, 1, 1]]);
    expect(await activity(0, [1, 'a', 'running'])).toEqual([]);
  });

  it('has at most 120 steps', async () => {
    expect(await activity(86_400)).toHaveLength(120);
  });
});
