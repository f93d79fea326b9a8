import { describe, expect, it } from 'vitest';
import { createMetrics } from './metrics.ts';

describe('createMetrics', () => {
  it('keeps the numbers of two apps apart', async () => {
    const [first, second] = [createMetrics(), createMetrics()];
    first.counter('svc_things_total', 'Things').inc(3);
    second.counter('svc_things_total', 'Things').inc();
    expect(await first.render()).toContain('svc_things_total 3');
    expect(await second.render()).toContain('svc_things_total 1');
  });

  it('renders help, type, labels and buckets in the text exposition format', async () => {
    const metrics = createMetrics();
    metrics.gauge('svc_open', 'Open things', ['kind']).set({ kind: 'a"b' }, 2);
    metrics.histogram('svc_wait_seconds', 'Waiting', [], [0.1, 1]).observe(0.5);
    expect(await metrics.render()).toBe(
      [
        '# HELP svc_open Open things',
        '# TYPE svc_open gauge',
        String.raw`svc_open{kind="a\"b"} 2`,
        '',
        '# HELP svc_wait_seconds Waiting',
        '# TYPE svc_wait_seconds histogram',
        'svc_wait_seconds_bucket{le="0.1"} 0',
        'svc_wait_seconds_bucket{le="1"} 1',
        'svc_wait_seconds_bucket{le="+Inf"} 1',
        'svc_wait_seconds_sum 0.5',
        'svc_wait_seconds_count 1',
        '',
      ].join('\n'),
    );
  });

  it('reads observable gauges and runs updates at each scrape, not before', async () => {
    const metrics = createMetrics();
    let open = 1;
    metrics.observableGauge('svc_open', 'Open things', () => open);
    const ready = metrics.gauge('svc_ready', 'Ready things', ['kind']);
    metrics.onScrape(async () => {
      await Promise.resolve();
      ready.set({ kind: 'a' }, open * 10);
    });
    expect(await metrics.render()).toContain('svc_open 1\n');
    open = 2;
    const text = await metrics.render();
    expect(text).toContain('svc_open 2\n');
    expect(text).toContain('svc_ready{kind="a"} 20\n');
  });

  it('refuses a second metric of the same name, which would hide the first', () => {
    const metrics = createMetrics();
    metrics.counter('svc_things_total', 'Things');
    expect(() => metrics.counter('svc_things_total', 'Things')).toThrow('already been registered');
  });

  it('gives the numbers of the process under the prefix that was asked for, and none without it', async () => {
    expect(await createMetrics({ processMetricsPrefix: 'svc_platform_' }).render()).toContain(
      'svc_platform_process_resident_memory_bytes',
    );
    expect(await createMetrics().render()).not.toContain('process_');
  });
});
