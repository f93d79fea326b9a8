import { backoffDelayMs, startTestAgent } from '@svc/agent/testing';
import { parseDurationMs } from '@svc/config';
import { describe, expect, it } from 'vitest';
import { MOST_FAILED_ATTEMPTS } from './agent-load.ts';

/** A takeover takes at most this long, by the settings of the agent. */
const TAKEOVER_MS = 12_000;

describe('the attempts that the auditor allows', () => {
  it('keep the time of a takeover, at the longest pauses of an agent', async () => {
    const agent = await startTestAgent();
    const { interval, max_interval: maximum } = agent.config.current.svc.reconnect;
    await agent.stop();
    const range = { minMs: parseDurationMs(interval), maxMs: parseDurationMs(maximum) };
    const pauses = Array.from({ length: MOST_FAILED_ATTEMPTS + 1 }, (_, attempt) =>
      backoffDelayMs(attempt, range, () => 1),
    );
    expect(pauses).toEqual([1_000, 2_000, 4_000]);
    expect(pauses.reduce((sum, pauseMs) => sum + pauseMs, 0)).toBeLessThanOrEqual(TAKEOVER_MS);
  });
});
