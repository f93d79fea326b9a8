import { duplexPair, type Duplex } from 'node:stream';
import { fakeClock, type FakeClock } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFrameDecoder, encodeJsonFrame, FrameType } from '../../../domain/helper/frames.ts';
import { HelperConnection } from '../../../domain/helper/helper-connection.ts';
import { outcomeWithin, PodUsage } from './pod-usage.ts';

const ID = 'sbx_a';

describe('PodUsage', () => {
  let clock: FakeClock;
  let usage: PodUsage;
  let connection: HelperConnection;
  let far: Duplex;
  /** Requests that have arrived at the helper, as stream and operation. */
  let requests: { stream: number; op: unknown }[];
  let arrived: PromiseWithResolvers<void>;

  beforeEach(async () => {
    clock = fakeClock();
    usage = new PodUsage(clock);
    ({ connection, far } = await connect());
    usage.adopt(ID, connection);
  });
  afterEach(() => connection.close());

  async function connect(): Promise<{ connection: HelperConnection; far: Duplex }> {
    const [near, other] = duplexPair();
    requests = [];
    arrived = Promise.withResolvers();
    const decoder = createFrameDecoder({
      frame: (type, stream, payload) => {
        if (type !== FrameType.open) return;
        requests.push({ stream, op: (JSON.parse(payload.toString()) as { op: unknown }).op }); // sent by ourselves
        arrived.resolve();
      },
      data: () => undefined,
    });
    other.on('data', (chunk: Buffer) => decoder.push(chunk));
    other.write(encodeJsonFrame(FrameType.hello, 0, { protocol: 1 }));
    return { connection: await HelperConnection.over(near, AbortSignal.timeout(5000)), far: other };
  }
  const respond = (answer: unknown): void => {
    far.write(encodeJsonFrame(FrameType.end, requests.at(-1)?.stream ?? 0, answer));
  };
  const read = async (answer: unknown) => {
    const reading = usage.read(ID);
    await arrived.promise;
    respond(answer);
    return reading;
  };

  it('reports the figures of the helper', async () => {
    const result = { cpu_us: 1500, memory_bytes: 4096, pids: 3, oom_kills: 0, disk_bytes: 8192 };
    expect(await read({ result })).toEqual({
      cpuMicroseconds: 1500,
      memoryBytes: 4096,
      pids: 3,
      diskBytes: 8192,
      oomKills: 0,
    });
    expect(requests).toEqual([{ stream: 1, op: 'usage' }]);
  });

  it('has null for what is not counted, and for anything but a count', async () => {
    const result = { cpu_us: -1, memory_bytes: '4096', pids: 1.5, oom_kills: 1e300, disk_bytes: -1 };
    expect(await read({ result })).toEqual({
      cpuMicroseconds: null,
      memoryBytes: null,
      pids: null,
      diskBytes: null,
      oomKills: null,
    });
  });

  it('reports the refusal of a helper that cannot tell', async () => {
    const error = { code: 'UNKNOWN_OPERATION', message: 'unknown operation usage' };
    await expect(read({ error })).rejects.toThrow('unknown operation usage');
  });

  it('does not wait for a helper that does not answer, and asks it once', async () => {
    const first = usage.read(ID);
    const second = usage.read(ID);
    const ended = Promise.allSettled([first, second]);
    await clock.advance(5000);
    expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const third = usage.read(ID);
    respond({ result: { pids: 2 } });
    expect(await third).toMatchObject({ pids: 2 });
    expect(requests).toHaveLength(1);
  });

  it('gives any operation up at its limit, and leaves the connection open', async () => {
    const pausing = outcomeWithin(60_000, connection.call({ op: 'pause' }), clock);
    const ended = expect(pausing).rejects.toThrow('within 60000 ms');
    await clock.advance(60_000);
    await ended;
    arrived = Promise.withResolvers();
    expect(await read({ result: { pids: 5 } })).toMatchObject({ pids: 5 });
  });

  it('has no figures without a connection', async () => {
    expect(await usage.read('sbx_b')).toBeNull();
    await connection.close();
    expect(await usage.read(ID)).toBeNull();
  });

  it('asks over the latest connection of a sandbox', async () => {
    const former = connection;
    ({ connection, far } = await connect());
    usage.adopt(ID, connection);
    await former.close();
    expect(await read({ result: { pids: 4 } })).toMatchObject({ pids: 4 });
  });
});
