import type { SandboxUsage } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { parseMetricsSearch, spanOf, valuesOf } from './metrics-series.ts';

const START = Date.parse('2026-11-21T10:00:00.000Z');
const sample = (seconds: number, cpuCores: number | null): SandboxUsage => ({
  at: new Date(START + seconds * 1_000).toISOString(),
  cpu_cores: cpuCores,
  memory_bytes: 1_024,
  memory_limit_bytes: 2_048,
  pids: null,
  disk_bytes: 10,
  disk_limit_bytes: 20,
});

describe('a metrics series', () => {
  const metrics = { samples: [sample(0, 0.1), sample(10, null), sample(20, 0.3)], current: sample(25, 0.4) };

  it('holds one metric over time, without samples that lack it', () => {
    expect(valuesOf(metrics, 'cpu_cores', 100).map(({ value }) => Math.round(value))).toEqual([10, 30, 40]);
    expect(valuesOf(metrics, 'pids')).toEqual([]);
  });

  it('uses the sampling interval as its step', () => {
    const newestMs = START + 25_000;
    expect(spanOf(metrics, '15m', newestMs + 800)).toEqual({
      stepMs: 10_000,
      fromMs: newestMs - 900_000,
      toMs: newestMs + 10_000,
    });
    expect(spanOf({ samples: [], current: sample(0, null) }, '1h', START).stepMs).toBe(10_000);
  });

  it('accepts only a known span from the URL', () => {
    expect(parseMetricsSearch({ span: '2h' })).toEqual({ span: '2h' });
    expect(parseMetricsSearch({ span: 'toString' })).toEqual({});
  });
});
