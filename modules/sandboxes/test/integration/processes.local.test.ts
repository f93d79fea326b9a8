import { skippedTitle, waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { HelperConnection } from '../../src/domain/helper/helper-connection.ts';
import { SandboxProcesses, type ProcessRequest } from '../../src/domain/processes/process-service.ts';
import type { ProcessStream } from '../../src/domain/processes/process-stream.ts';
import { localDriverReason, localSubject, type LocalSubject } from '../support/local-subject.ts';
import { sampleSpec } from '../support/sample-spec.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const reason = localDriverReason();
const title = 'processes that outlive their requests';
const LIMIT_MS = 60_000;

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let subject: LocalSubject;
  let id: string;
  let connections: HelperConnection[] = [];
  const connect = async (): Promise<SandboxProcesses> => {
    const connection = await subject.driver.connect(id, AbortSignal.timeout(LIMIT_MS));
    connections.push(connection);
    const none = () => () => undefined;
    return new SandboxProcesses(connection, { FROM: 'sandbox' }, none, none);
  };
  const shell = (script: string, more: Partial<ProcessRequest> = {}): ProcessRequest => {
    return {
      argv: ['sh', '-c', script],
      env: {},
      cwd: '/',
      user: null,
      tag: null,
      tty: null,
      timeoutMs: null,
      ...more,
    };
  };
  /** Reads until the output contains the text; returns the end of it. */
  const read = async (stream: ProcessStream, until: string): Promise<string> => {
    let text = '';
    const output = stream.output();
    while (!text.includes(until)) {
      const next = await output.next();
      if (next.done === true) throw new Error(`it ended after ${JSON.stringify(text)}`);
      text = (text + next.value.bytes.toString()).slice(-1000);
    }
    return text;
  };

  beforeAll(async () => {
    subject = await localSubject();
    await subject.driver.open();
    const spec = sampleSpec('processes');
    id = spec.id;
    await subject.driver.create(spec, AbortSignal.timeout(LIMIT_MS));
    await subject.driver.start(spec, AbortSignal.timeout(LIMIT_MS));
  });
  afterEach(async () => {
    for (const connection of connections) await connection.close();
    connections = [];
  });
  afterAll(() => subject.dispose());

  it('keep running without their stream and their connection, and are found by pid and by tag', async () => {
    const first = await connect();
    const started = await first.start(shell('while read line; do echo "got $line $FROM"; done', { tag: 'echo' }));
    await connections.at(-1)?.close();
    const second = await connect();
    expect(await second.list()).toMatchObject([
      { pid: started.pid, tag: 'echo', argv: ['sh', '-c', expect.any(String)], cwd: '/', tty: false },
    ]);
    const byTag = await second.attach({ tag: 'echo' });
    const byPid = await second.attach({ pid: started.pid });
    const signal = AbortSignal.timeout(LIMIT_MS);
    await second.write({ tag: 'echo' }, Buffer.from('one\n'), signal);
    expect(await Promise.all([read(byTag, '\n'), read(byPid, '\n')])).toEqual([
      'got one sandbox\n',
      'got one sandbox\n',
    ]);
    byTag.close();
    await second.closeInput({ pid: started.pid });
    expect(await byPid.exit()).toMatchObject({ exitCode: 0, signal: null });
    await waitFor(async () => (await second.list()).length === 0);
    await expect(second.attach({ pid: started.pid })).rejects.toMatchObject({ code: 'PROCESS_NOT_FOUND' });
    await expect(second.write({ tag: 'echo' }, Buffer.from('x'), signal)).rejects.toMatchObject({
      code: 'PROCESS_NOT_FOUND',
    });
  });

  it('do not wait for a reader: output that nothing listens to is dropped', async () => {
    const of = await connect();
    const started = await of.start(shell('read go; yes | head -c 20000000; echo; echo done; read go'));
    started.close();
    await of.write({ pid: started.pid }, Buffer.from('go\n'), AbortSignal.timeout(LIMIT_MS));
    const again = await of.attach({ pid: started.pid });
    expect(await read(again, 'done\n')).toContain('done');
    await of.signal({ pid: started.pid }, 'SIGKILL');
    expect(await again.exit()).toMatchObject({ signal: 'SIGKILL' });
  });

  it('wait for a reader that is slow, and lose nothing', async () => {
    const of = await connect();
    const started = await of.start(shell('yes | head -c 5000000'));
    let bytes = 0;
    for await (const output of started.output()) bytes += output.bytes.length;
    expect(bytes).toBe(5_000_000);
    expect(await started.exit()).toMatchObject({ exitCode: 0 });
  });

  it('are killed after their time limit, also without a stream', async () => {
    const of = await connect();
    const kept = await of.start(shell('sleep 1000', { timeoutMs: 300 }));
    const left = await of.start(shell('sleep 1000', { timeoutMs: 300, tty: { cols: 80, rows: 24 } }));
    left.close();
    expect(await kept.exit()).toMatchObject({ signal: 'SIGKILL' });
    await waitFor(async () => (await of.list()).length === 0);
  });

  it('run on a terminal that any stream resizes and types into', async () => {
    const of = await connect();
    const started = await of.start(shell('stty size; read x; stty size; sleep 1000', { tty: { cols: 91, rows: 17 } }));
    expect(await read(started, '\n')).toContain('17 91');
    started.close();
    const again = await of.attach({ pid: started.pid });
    await of.resize({ pid: started.pid }, { cols: 60, rows: 20 });
    await of.write({ pid: started.pid }, Buffer.from('\n'), AbortSignal.timeout(LIMIT_MS));
    expect(await read(again, '20 60')).toContain('20 60');
    await of.signal({ pid: started.pid }, 'SIGKILL');
    expect(await again.exit()).toMatchObject({ signal: 'SIGKILL' });
  });

  it('report a missing command, folder and signal by name', async () => {
    const of = await connect();
    await expect(of.start({ ...shell(''), argv: ['missing'] })).rejects.toMatchObject({ code: 'COMMAND_NOT_FOUND' });
    await expect(of.start(shell('', { cwd: '/missing' }))).rejects.toMatchObject({ details: { field: 'cwd' } });
    const started = await of.start(shell('sleep 1000'));
    await expect(of.signal({ pid: started.pid }, 'SIGNOT')).rejects.toMatchObject({ code: 'INVALID_FIELD' });
    await expect(of.resize({ pid: started.pid }, { cols: 1, rows: 1 })).rejects.toMatchObject({
      code: 'INVALID_FIELD',
    });
    await of.signal({ pid: started.pid }, 'SIGTERM');
    expect(await started.exit()).toMatchObject({ signal: 'SIGTERM', exitCode: 143 });
  });
});

const routesTitle = 'the routes of processes';

describe.skipIf(reason !== null)(reason === null ? routesTitle : skippedTitle(routesTitle, reason), () => {
  let platform: TestPlatform;
  let path: string;
  beforeAll(async () => {
    platform = await startPlatform({ prepare: 'busybox' });
    const created = await platform.call('POST', '/api/sandboxes?wait_ms=20000', { body: { image: 'busybox' } });
    path = `/api/sandboxes/${String(created.body['id'])}`;
  });
  afterAll(() => platform.dispose());

  it('list a running command and end it by a signal', async () => {
    const body = { command: ['sleep', '1000'] };
    const running = platform.call('POST', `${path}/exec`, { body });
    const list = async () => (await platform.call('GET', `${path}/processes`)).body;
    await waitFor(async () => (await list())['count'] === 1);
    const [process] = (await list())['processes'];
    expect(process).toMatchObject({ argv: ['sleep', '1000'], tty: false, tag: null });
    const signal = { signal: 'SIGTERM' };
    const sent = await platform.call('POST', `${path}/processes/${process.pid}/signal`, { body: signal });
    expect(sent).toMatchObject({ status: 200, body: { pid: process.pid, signal: 'SIGTERM' } });
    expect((await running).body).toMatchObject({ exit_code: 143, signal: 'SIGTERM' });
    const late = await platform.call('POST', `${path}/processes/${process.pid}/signal`, { body: signal });
    expect(late).toMatchObject({ status: 404, body: { code: 'PROCESS_NOT_FOUND' } });
  });

  it('refuse other workspaces, unknown callers and unknown signals', async () => {
    const stranger = platform.access.user('stranger');
    const one = `${path}/processes/2/signal`;
    const body = { signal: 'SIGTERM' };
    expect((await platform.call('GET', `${path}/processes`, { caller: stranger })).status).toBe(404);
    expect((await platform.call('POST', one, { caller: stranger, body })).status).toBe(404);
    expect((await platform.call('GET', `${path}/processes`, { caller: null })).status).toBe(401);
    const reader = platform.access.serviceAccount(platform.owner.workspaceUuid, ['read']);
    expect((await platform.call('POST', one, { caller: reader, body })).status).toBe(403);
    expect((await platform.call('POST', one, { body: { signal: 'SIGNOT' } })).status).toBe(400);
    expect((await platform.call('POST', `${path}/processes/1/signal`, { body })).status).toBe(400);
  });
});
