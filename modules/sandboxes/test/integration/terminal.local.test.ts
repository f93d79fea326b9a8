import { createHash, randomBytes } from 'node:crypto';
import { skippedTitle, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { Refusal, TerminalClient } from '../support/terminal-client.ts';

const reason = localDriverReason();
const title = 'terminals of a real sandbox';
const command = (...argv: string[]): string => Buffer.from(JSON.stringify(argv)).toString('base64url');

/** Many times more than all buffers on the way hold. */
const FLOOD_BYTES = 250_000_000;

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  let id: string;
  const open = (query = '', protocols: string[] = []) =>
    TerminalClient.open(platform.url, id, { query, protocols, headers: platform.owner.headers });
  const run = async (script: string, input?: Buffer) => {
    const client = await open(`?cmd=${command('sh', '-c', script)}`, ['sandbox.v1']);
    if (input !== undefined) {
      for (let offset = 0; offset < input.length; offset += 1024 * 1024) {
        client.type(Buffer.concat([Buffer.from([0]), input.subarray(offset, offset + 1024 * 1024)]));
      }
    }
    client.send('{"type":"eof"}');
    const closed = await client.closed;
    const channel = (kind: number): Buffer =>
      Buffer.concat(client.frames.filter((f) => f.binary && f.data[0] === kind).map((f) => f.data.subarray(9)));
    return { ...closed, stdout: channel(1), stderr: channel(2), client };
  };

  beforeAll(async () => {
    platform = await startPlatform();
    const created = await platform.call('POST', '/api/sandboxes?wait_ms=30000', { body: { image: 'debian' } });
    expect(created.body['status']).toBe('running');
    id = created.body['id'];
  });
  afterAll(async () => {
    await platform.call('DELETE', `/api/sandboxes/${id}`);
    await platform.dispose();
  });

  it('types JSON that is not a control, and applies JSON that is', async () => {
    const terminal = await open();
    terminal.send("stty -echo; PS1='>''>'; echo rea''dy; cat\n");
    await terminal.shows(/ready\r\n/);
    terminal.send('{"a":1}\n');
    terminal.send('null\n');
    terminal.send(JSON.stringify({ type: 'input', data: 'as input\n' }));
    await terminal.shows(/\{"a":1\}\r\nnull\r\nas input\r\n/);
    terminal.send('{"type":"ping"}');
    await terminal.shows(/\{"type":"pong"\}/);
    terminal.send(JSON.stringify({ type: 'signal', name: 'SIGINT' }));
    await terminal.shows(/>>$/);
    terminal.send('exit 5\n');
    expect(await terminal.closed).toMatchObject({ reason: '{"exit_code":5}' });
  });

  it('holds a split UTF-8 sequence back until it is complete', async () => {
    const terminal = await open(`?cmd=${command('sh', '-c', "printf '\\342\\202'; sleep 0.2; printf '\\254 \\377!'")}`);
    expect(await terminal.closed).toMatchObject({ code: 1000 });
    expect(terminal.frames.every((frame) => !frame.binary)).toBe(true);
    expect(terminal.text).toBe('€ \ufffd!');
  });

  it('sends raw bytes with encoding=binary', async () => {
    const terminal = await open(`?encoding=binary&cmd=${command('sh', '-c', "printf '\\000\\377\\342'")}`);
    await terminal.closed;
    expect(Buffer.concat(terminal.frames.map((frame) => frame.data))).toEqual(Buffer.from([0, 255, 0xe2]));
    expect(terminal.frames.every((frame) => frame.binary)).toBe(true);
  });

  it('speaks sandbox.v1: ready, output with offsets, exit, then the close', async () => {
    const { client, code, reason: closeReason, stdout, stderr } = await run('echo out; echo err >&2; exit 4');
    expect(client.socket.protocol).toBe('sandbox.v1');
    const controls = client.frames.filter((f) => !f.binary).map((f) => JSON.parse(f.data.toString()));
    expect(controls[0]).toMatchObject({ type: 'ready', pid: expect.any(Number), path: '/usr/bin/sh' });
    expect(controls.at(-1)).toEqual({ type: 'exit', exit_code: 4, signal: null });
    expect([stdout.toString(), stderr.toString()]).toEqual(['out\n', 'err\n']);
    expect({ code, closeReason }).toEqual({ code: 1000, closeReason: '{"exit_code":4}' });
    expect(client.frames.at(-1)?.binary).toBe(false);
  });

  it('numbers v1 output without gaps', async () => {
    const { client } = await run('head -c 300000 /dev/zero');
    let next = 0n;
    for (const { data } of client.frames.filter((frame) => frame.binary)) {
      expect(data.readBigUInt64BE(1)).toBe(next);
      next += BigInt(data.length - 9);
    }
    expect(next).toBe(300_000n);
  });

  it("reports a missing command with a shell's exit code", async () => {
    const client = await open(`?cmd=${command('no-such-program')}`, ['sandbox.v1']);
    expect(await client.closed).toEqual({ code: 1000, reason: '{"exit_code":127,"error":"COMMAND_NOT_FOUND"}' });
  });

  it('passes 10 MB through stdin and stdout unchanged', async () => {
    const input = randomBytes(10 * 1024 * 1024);
    const { stdout, reason: closeReason } = await run('cat', input);
    expect(closeReason).toBe('{"exit_code":0}');
    expect(createHash('sha256').update(stdout).digest('hex')).toBe(createHash('sha256').update(input).digest('hex'));
  });

  it('accepts a 10 MB paste completely', async () => {
    const line = `${'x'.repeat(99)}\n`;
    const paste = line.repeat(105_000);
    const terminal = await open();
    terminal.type("PS1=; stty -echo; echo ready'!'; head -c 10500000 | sha256sum; exit\n");
    await terminal.shows(/ready!/);
    terminal.type(paste);
    expect(await terminal.closed).toMatchObject({ code: 1000 });
    expect(terminal.text).toContain(createHash('sha256').update(paste).digest('hex'));
  });

  it('holds back a flood for a slow reader, without delaying other terminals or buffering it', async () => {
    const flood = await open();
    flood.keep = false;
    flood.type('yes\n');
    await waitFor(() => flood.receivedBytes > 8 * 1024 * 1024);
    flood.socket.pause();
    const other = await open();
    other.type('echo $((6*7))\n');
    await other.shows(/42/);
    const before = process.memoryUsage().rss;
    for (let round = 0; round < 20; round++) {
      other.forget();
      other.type(`echo round-$((${round}+1000))\n`);
      await other.shows(new RegExp(`round-${round + 1000}`));
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
    flood.socket.resume();
    flood.type('\u0003');
    flood.type('exit 0\n');
    expect(await flood.closed).toMatchObject({ code: 1000 });
    await other.close();
  });

  it('delivers a long flood completely, in constant memory', async () => {
    const flood = await open('?encoding=binary');
    const wait = 'dd bs=1 count=1 2> /dev/null > /dev/null';
    flood.type(`exec sh -c "stty raw -echo; echo rea''dy; ${wait}; yes 0123456789 | head -c ${FLOOD_BYTES}"\n`);
    await flood.shows(/ready\r?\n$/);
    flood.keep = false;
    const [bytesBefore, rssBefore] = [flood.receivedBytes, process.memoryUsage.rss()];
    let [most, messages] = [0, 0];
    flood.socket.on('message', () => {
      messages += 1;
      if (messages % 50 === 0) most = Math.max(most, process.memoryUsage.rss() - rssBefore);
    });
    flood.type('x');
    expect(await flood.closed).toMatchObject({ code: 1000, reason: '{"exit_code":0}' });
    expect(flood.receivedBytes - bytesBefore).toBe(FLOOD_BYTES);
    // Includes the client's uncollected messages, which are in this process too.
    expect(most).toBeLessThan(192 * 1024 * 1024);
  });

  it('kills a command when its client disconnects', async () => {
    const client = await open(`?cmd=${command('sh', '-c', 'echo $$; exec sleep 1000')}`, ['sandbox.v1']);
    const pid = await waitFor(
      () =>
        /(\d+)\n/.exec(
          client.frames
            .find((f) => f.binary)
            ?.data.subarray(9)
            .toString() ?? '',
        )?.[1],
    );
    await client.close();
    await waitFor(async () => (await run(`kill -0 ${pid}`)).reason !== '{"exit_code":0}');
  });

  it("refuses an invalid command, encoding or size with the parameter's name", async () => {
    for (const [query, field] of [
      ['?cmd=e30', 'cmd'],
      ['?cmd=W10', 'cmd'],
      ['?encoding=latin1', 'encoding'],
      ['?cols=-1', 'cols'],
      ['?rows=x', 'rows'],
    ] as const) {
      const refusal = await open(query).then(
        () => null,
        (error: unknown) => error,
      );
      expect(refusal, query).toBeInstanceOf(Refusal);
      expect((refusal as Refusal).body, query).toMatchObject({ status: 400, details: { field } });
    }
  });

  it('closes with 4009 when a client violates sandbox.v1', async () => {
    const client = await open('', ['sandbox.v1']);
    client.send('{"type":"dance"}');
    expect(await client.closed).toMatchObject({ code: 4009 });
  });

  it('closes with 4004 when the sandbox is stopped, and holds a new handshake while it starts', async () => {
    const terminal = await open();
    await terminal.shows(/[#$] /);
    expect((await platform.call('POST', `/api/sandboxes/${id}/stop`)).body['status']).toBe('stopped');
    expect(await terminal.closed).toMatchObject({ code: 4004 });
    await expect(open()).rejects.toMatchObject({ status: 409, body: { code: 'SANDBOX_NOT_RUNNING' } });
    await platform.call('POST', `/api/sandboxes/${id}/start?wait_ms=0`);
    const again = await open(`?cmd=${command('true')}`);
    expect(await again.closed).toMatchObject({ reason: '{"exit_code":0}' });
  });
});
