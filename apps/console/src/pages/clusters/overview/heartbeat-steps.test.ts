import { describe, expect, it } from 'vitest';
import type { HeartbeatPoint } from '../../../api/clusters.ts';
import { spanOf, stepsOf, valuesOf } from './heartbeat-steps.ts';
import { parseHistorySearch } from './history-search.ts';

const point = (at: string, cpu: number, samples = 1): HeartbeatPoint => ({
  at: `2026-11-22T${at}.000Z`,
  status: 'healthy',
  cpu_usage: cpu,
  memory_usage: 0.5,
  active_pods: 4,
  samples,
});
const NOW = Date.parse('2026-11-22T10:00:10.000Z');

describe('heartbeat steps', () => {
  it('are means over whole steps, in which an average counts with its number of samples', () => {
    const span = spanOf('7d', NOW);
    const steps = stepsOf([point('08:00:00', 0.1, 19), point('08:50:00', 0.3), point('09:10:00', 0.8)], span);
    expect(valuesOf(steps, 'cpuUsage', 100).map(({ value }) => Math.round(value))).toEqual([11, 80]);
    expect(steps.map(({ atMs }) => new Date(atMs).toISOString().slice(11, 16))).toEqual(['08:00', '09:00']);
  });

  it('end with the step in progress, and omit anything before the span', () => {
    const span = spanOf('1h', NOW);
    expect(new Date(span.toMs).toISOString()).toBe('2026-11-22T10:00:30.000Z');
    expect(stepsOf([point('08:00:00', 1), point('10:00:05', 0.2)], span)).toHaveLength(1);
  });

  it('accept only a known span from the URL', () => {
    expect(parseHistorySearch({ span: '24h' })).toEqual({ span: '24h' });
    expect(parseHistorySearch({ span: 'toString' })).toEqual({});
  });
});
