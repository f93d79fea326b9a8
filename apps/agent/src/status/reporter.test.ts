import { fakeClock } from '@svc/testing';
import { createLogger } from '@svc/telemetry';
import { PROTOCOL_TIMES } from '@svc/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Limitations } from './limitations.ts';
import { StatusReporter, type ReporterOptions } from './reporter.ts';

const clock = fakeClock();
const limitations = new Limitations();
let sent: string[];
let activePods: number;
let stop: () => Promise<void>;

beforeEach(async () => {
  sent = [];
  activePods = 0;
  const abort = new AbortController();
  const channel: ReporterOptions['channel'] = {
    session: {} as ReporterOptions['channel']['session'], // only checked for existence
    send: (type) => Promise.resolve(void sent.push(type)),
  };
  const numbers: ReporterOptions['numbers'] = {
    heartbeat: () =>
      Promise.resolve({ status: 'healthy', metrics: { cpu_usage: 0, memory_usage: 0, active_pods: activePods } }),
    clusterStatus: () => Promise.resolve({ nodes: 1, pods: activePods, services: 1, health: 'healthy' }),
  };
  const log = createLogger({ level: 'silent', name: 'test', destination: { write: () => undefined } });
  const reporter = new StatusReporter({ channel, numbers, limitations, clock, log });
  const done = reporter.run(abort.signal);
  await clock.advance(0);
  stop = async () => {
    abort.abort();
    await done;
  };
});
afterEach(() => stop());

/** The messages sent with the next heartbeat. */
async function next(): Promise<string[]> {
  sent = [];
  await clock.advance(PROTOCOL_TIMES.heartbeatIntervalMs);
  return sent;
}

describe('cluster reports', () => {
  it('begin with a heartbeat and a status, then send a status with every tenth heartbeat', async () => {
    expect(sent).toEqual(['heartbeat', 'cluster_status']);
    for (let beat = 0; beat < 10; beat += 1) expect(await next()).toEqual(['heartbeat']);
    expect(await next()).toEqual(['heartbeat', 'cluster_status']);
  });

  it('send a status as soon as the number of pods changes', async () => {
    activePods = 2;
    expect(await next()).toEqual(['heartbeat', 'cluster_status']);
    expect(await next()).toEqual(['heartbeat']);
    activePods = 0;
    expect(await next()).toEqual(['heartbeat', 'cluster_status']);
  });

  it('send a status as soon as a limitation appears', async () => {
    limitations.set('metrics', 'no right to read them');
    expect(await next()).toEqual(['heartbeat', 'cluster_status']);
    expect(await next()).toEqual(['heartbeat']);
  });
});
