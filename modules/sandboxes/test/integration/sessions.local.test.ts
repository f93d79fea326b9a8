import { skippedTitle, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { TerminalClient } from '../support/terminal-client.ts';

const reason = localDriverReason();
const title = 'terminal sessions of a real sandbox';

interface V1Client {
  readonly client: TerminalClient;
  controls(): Record<string, unknown>[];
  /** Payloads of one kind of binary frame. */
  output(kind: number): string;
  type(text: string): void;
}

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  let id: string;
  const open = (query: string) => TerminalClient.open(platform.url, id, { query, headers: platform.owner.headers });
  const openV1 = async (query: string): Promise<V1Client> => {
    const options = { query, headers: platform.owner.headers, protocols: ['sandbox.v1'] };
    const client = await TerminalClient.open(platform.url, id, options);
    const controls = () => client.frames.filter((f) => !f.binary).map((f) => JSON.parse(f.data.toString()));
    const output = (kind: number) =>
      Buffer.concat(
        client.frames.filter((f) => f.binary && f.data[0] === kind).map((f) => f.data.subarray(9)),
      ).toString();
    const type = (text: string) => client.type(Buffer.concat([Buffer.from([0]), Buffer.from(text)]));
    await waitFor(() => controls().some((control) => control['type'] === 'ready'));
    return { client, controls, output, type };
  };
  const sessions = async () =>
    (await platform.call('GET', `/api/sandboxes/${id}/terminals`)).body['terminals'] as Record<string, unknown>[];
  const end = (session: string) => platform.call('DELETE', `/api/sandboxes/${id}/terminals/${session}`);

  beforeAll(async () => {
    platform = await startPlatform();
    const created = await platform.call('POST', '/api/sandboxes?wait_ms=30000', { body: { image: 'debian' } });
    id = created.body['id'];
  });
  afterAll(async () => {
    await platform.dispose();
  });

  it('continues without a client, and shows the next client what it missed', async () => {
    const first = await open('?session=main&cols=100&rows=30');
    first.type("PS1='> '; stty -echo; A=kept; echo here-$A\n");
    await first.shows(/here-kept/);
    first.type('(sleep 0.3; echo missed) & echo started\n');
    await first.shows(/started/);
    await first.close();
    await waitFor(async () => (await sessions())[0]?.['attached'] === 0);
    expect(await sessions()).toEqual([
      {
        session: 'main',
        pid: expect.any(Number),
        shell: '/usr/bin/bash',
        cols: 100,
        rows: 30,
        attached: 0,
        exited: false,
        started_at: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    ]);
    const second = await open('?session=main');
    await second.shows(/here-kept[\s\S]*missed/);
    second.type('echo still-$A; exit 3\n');
    await second.shows(/still-kept/);
    expect(await second.closed).toEqual({ code: 1000, reason: '{"exit_code":3}' });
    await waitFor(async () => (await sessions()).length === 0);
  });

  it('continues after the last byte a client received, and marks replayed output', async () => {
    const first = await openV1('?session=offsets');
    first.type("PS1=; stty -echo; echo one; echo tw''o\n");
    await waitFor(() => first.output(1).includes('two\r\n'));
    const whole = first.output(1);
    await first.client.close();
    const since = Buffer.from(whole).indexOf('two');
    const second = await openV1(`?session=offsets&since=${since}`);
    const replayed = Buffer.from(whole).length - since;
    expect(second.controls()[0]).toMatchObject({ type: 'ready', session_id: 'offsets', offset: since, replayed });
    await waitFor(() => second.output(3).length === replayed);
    expect(second.output(3)).toBe(whole.slice(since));
    second.type('echo three\n');
    await waitFor(() => second.output(1).includes('three'));
    const offsets = second.client.frames.filter((f) => f.binary).map((f) => Number(f.data.readBigUInt64BE(1)));
    expect(offsets[0]).toBe(since);
    expect(offsets).toContain(since + replayed);
    await end('offsets');
    expect(await second.client.closed).toMatchObject({ code: 1000 });
  });

  it('is shared by all attached clients: each can type and sees everything', async () => {
    const [first, second] = [await open('?session=shared'), await open('?session=shared')];
    first.type('PS1=; stty -echo; echo from-first-$((1+1))\n');
    await second.shows(/from-first-2/);
    second.type('echo from-second-$((2+2))\n');
    await first.shows(/from-second-4/);
    expect(await sessions()).toContainEqual(expect.objectContaining({ session: 'shared', attached: 2 }));
    first.type('exit 6\n');
    for (const { closed } of [first, second]) expect(await closed).toEqual({ code: 1000, reason: '{"exit_code":6}' });
  });

  it('disconnects other clients on a takeover', async () => {
    const first = await open('?session=taken');
    first.type("PS1=; stty -echo; B=mine; echo ready'!'\n");
    await first.shows(/ready!/);
    const second = await open('?session=taken&takeover=1');
    expect(await first.closed).toEqual({ code: 4001, reason: 'another client took over' });
    second.type('echo has-$B\n');
    await second.shows(/has-mine/);
    await end('taken');
    await second.closed;
  });

  it('shows output to a read-only client that cannot type, resize or signal', async () => {
    const writer = await open('?session=watched&cols=90&rows=20');
    writer.type("PS1=; stty -echo; echo ready'!'\n");
    await writer.shows(/ready!/);
    const viewer = await openV1('?session=watched&mode=ro&cols=33&rows=11');
    viewer.type('touch /tmp/typed-by-viewer\n');
    viewer.client.send('{"type":"resize","cols":33,"rows":11}');
    viewer.client.send('{"type":"signal","name":"SIGKILL"}');
    await waitFor(() => viewer.controls().filter(({ code }) => code === 'READ_ONLY').length === 3);
    writer.type('ls /tmp/typed-by-viewer; stty size; echo done\n');
    await waitFor(() => viewer.output(1).includes('done'));
    expect(viewer.output(1)).toMatch(/No such file or directory\r\n20 90\r\ndone/);
    await end('watched');
    await viewer.client.closed;
  });

  it('drops output for a slow viewer instead of delaying others, and reports how much', async () => {
    // Also uses `sandbox.v1`: on a busy machine, it can briefly fall behind too, and is then notified instead of
    // disconnected.
    const fast = await openV1('?session=flood');
    fast.type("PS1=; stty -echo; echo ready'!'\n");
    await waitFor(() => fast.output(1).includes('ready!'));
    const slow = await openV1('?session=flood&mode=ro&ack=1');
    const plain = await open('?session=flood&mode=ro');
    plain.socket.pause();
    fast.type('head -c 8000000 /dev/zero | tr "\\0" x; echo; echo over\n');
    const tail = (): string => Buffer.concat(fast.client.frames.slice(-3).map((frame) => frame.data)).toString();
    await waitFor(() => tail().includes('over'), {
      timeoutMs: 120_000,
      description: () => `the end, ${fast.client.receivedBytes} bytes so far`,
    });
    const shown = (): number =>
      slow.client.frames.filter((f) => f.binary).reduce((sum, f) => sum + f.data.length - 9, 0);
    expect(shown()).toBeLessThan(1024 * 1024); // without acks, it received at most one window
    let acknowledged = 0;
    await waitFor(() => {
      const bytes = shown() - acknowledged;
      acknowledged += bytes;
      if (bytes > 0) slow.client.send(JSON.stringify({ type: 'ack', bytes }));
      return slow.output(1).includes('over');
    });
    const lagged = slow.controls().find(({ type }) => type === 'lagged');
    expect(lagged).toMatchObject({ from: expect.any(Number), to: expect.any(Number) });
    expect(Number(lagged?.['to']) - Number(lagged?.['from'])).toBeGreaterThan(4_000_000);
    await end('flood');
    await slow.client.closed;
    plain.socket.terminate();
  }, 240_000);

  it('generates a name for a new session; returning or read-only clients get an error if theirs is gone', async () => {
    const fresh = await openV1('?session=new&linger=60');
    const name = String(fresh.controls()[0]?.['session_id']);
    expect(name).toMatch(/^s[0-9a-f]{18}$/);
    await end(name);
    expect(await fresh.client.closed).toMatchObject({ code: 1000 });
    for (const query of [`?session=${name}&since=0`, '?session=nobody&mode=ro']) {
      await expect(open(query)).rejects.toMatchObject({ status: 404, body: { code: 'SESSION_NOT_FOUND' } });
    }
    expect(await end(name)).toMatchObject({ status: 404, body: { code: 'SESSION_NOT_FOUND' } });
  });

  it('ends if no client returns in time', async () => {
    await (await openV1('?session=short&linger=1')).client.close();
    await waitFor(async () => (await sessions()).every(({ session }) => session !== 'short'), { timeoutMs: 20_000 });
  });

  it('survives a platform restart', async () => {
    const before = await openV1('?session=survivor');
    before.type("PS1=; stty -echo; C=survived; echo ready'!'\n");
    await waitFor(() => before.output(1).includes('ready!'));
    const offset = Buffer.byteLength(before.output(1));
    await platform.close();
    expect(await before.client.closed).toMatchObject({ code: 1012 });
    await platform.reopen();
    const after = await openV1(`?session=survivor&since=${offset}`);
    after.type('echo has-$C\n');
    await waitFor(() => after.output(1).includes('has-survived'));
    await end('survivor');
    await after.client.closed;
  });

  it('limits a sandbox to 16 sessions', async () => {
    await Promise.all((await sessions()).map(({ session }) => end(String(session))));
    const names = Array.from({ length: 16 }, (_, index) => `many-${index}`);
    const clients = await Promise.all(names.map((name) => openV1(`?session=${name}`)));
    await expect(open('?session=one-more')).rejects.toMatchObject({
      status: 429,
      body: { code: 'TOO_MANY_TERMINALS' },
    });
    await Promise.all(names.map(end));
    await Promise.all(clients.map(({ client }) => client.closed));
  });

  it('refuses invalid parameters with their name', async () => {
    for (const [query, field] of [
      ['?session=', 'session'],
      ['?session=a%20b', 'session'],
      ['?session=a&since=-1', 'since'],
      ['?session=a&since=1e3', 'since'],
      ['?session=a&mode=rwx', 'mode'],
      ['?session=a&takeover=yes', 'takeover'],
      ['?session=a&linger=86401', 'linger'],
      ['?since=5', 'since'],
      ['?mode=ro', 'mode'],
      ['?session=a&cmd=WyJscyJd', 'session'],
    ] as const) {
      await expect(open(query), query).rejects.toMatchObject({ status: 400, body: { details: { field } } });
    }
  });
});
