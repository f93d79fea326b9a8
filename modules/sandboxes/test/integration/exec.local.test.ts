import { skippedTitle, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type Answer, type TestPlatform } from '../support/platform.ts';

const reason = localDriverReason();
const title = 'commands in a real sandbox';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  let id: string;
  const exec = (body: unknown): Promise<Answer> => platform.call('POST', `/api/sandboxes/${id}/exec`, { body });
  /** Events of a streamed response: names and parsed data. */
  const stream = async (body: object, signal?: AbortSignal): Promise<[string, Record<string, unknown>][]> => {
    const response = await fetch(`${platform.url}/api/sandboxes/${id}/exec`, {
      method: 'POST',
      headers: { ...platform.owner.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, stream: true }),
      ...(signal === undefined ? {} : { signal }),
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    return (await response.text())
      .split('\n\n')
      .map((event) => /^event: (\w+)\ndata: (.*)$/.exec(event))
      .filter((found) => found !== null)
      .map(([, name = '', data = '{}']) => [name, JSON.parse(data) as Record<string, unknown>]);
  };

  beforeAll(async () => {
    platform = await startPlatform();
    const body = { image: 'debian', environment: { FROM_SANDBOX: 'yes' } };
    const created = await platform.call('POST', '/api/sandboxes?wait_ms=0', { body });
    id = created.body['id'];
  });
  afterAll(async () => {
    await platform.dispose();
  });

  it('waits for a sandbox that is being created, and returns output and exit code', async () => {
    const { status, body } = await exec({ command: 'echo out; echo err >&2; exit 3' });
    expect(status).toBe(200);
    expect(body).toEqual({
      command: 'echo out; echo err >&2; exit 3',
      stdout: 'out\n',
      stderr: 'err\n',
      output: expect.stringMatching(/^(out\nerr\n|err\nout\n)$/),
      encoding: 'utf-8',
      exit_code: 3,
      signal: null,
      duration_ms: expect.any(Number),
      truncated: false,
      stdout_bytes: 4,
      stderr_bytes: 4,
      timed_out: false,
    });
  });

  it('runs an argv array unchanged, under both field names, with folder, variables and input', async () => {
    const script = 'pwd; echo "$A $B $FROM_SANDBOX"; cat';
    const body = { cmd: ['sh', '-c', script], cwd: '/tmp', env: { A: '1', B: 'x=y' }, stdin: 'héllo' };
    expect((await exec(body)).body['stdout']).toBe('/tmp\n1 x=y yes\nhéllo');
    const listed = { ...body, env: ['A=1', 'B=x=y'], stdin: 'AP8=', stdin_encoding: 'base64', encoding: 'base64' };
    const { stdout } = (await exec(listed)).body;
    expect(Buffer.from(stdout, 'base64')).toEqual(
      Buffer.concat([Buffer.from('/tmp\n1 x=y yes\n'), Buffer.from([0, 255])]),
    );
    expect((await exec({ command: ['echo', '$A;'] })).body['stdout']).toBe('$A;\n');
  });

  it('accepts input that the command does not read, and closes stdin when none is given', async () => {
    expect((await exec({ command: 'true', stdin: 'x'.repeat(3_000_000) })).body['exit_code']).toBe(0);
    expect((await exec({ command: 'cat; echo end' })).body['stdout']).toBe('end\n');
  });

  it('runs as a user of the image, with its groups and home', async () => {
    const body = { command: 'id -u; id -gn; echo $USER $HOME; touch /root/x', user: 'daemon' };
    expect((await exec(body)).body).toMatchObject({
      stdout: '1\ndaemon\ndaemon /usr/sbin\n',
      stderr: expect.stringContaining('Permission denied'),
      exit_code: 1,
    });
    expect((await exec({ command: 'id -un', user: '1' })).body['stdout']).toBe('daemon\n');
    expect(await exec({ command: 'id -un', user: 'missing' })).toMatchObject({
      status: 400,
      body: { code: 'USER_NOT_FOUND', details: { field: 'user' } },
    });
  });

  it("reports a missing command and a fatal signal with a shell's exit codes", async () => {
    expect((await exec({ command: ['no-such-program'] })).body).toMatchObject({
      exit_code: 127,
      stderr: 'no-such-program: not found\n',
    });
    expect((await exec({ command: ['/etc/passwd'] })).body['exit_code']).toBe(126);
    expect((await exec({ command: 'kill -9 $$' })).body).toMatchObject({ exit_code: 137, signal: 'SIGKILL' });
  });

  it('keeps the beginning and the end of a large output and reports its size', async () => {
    const { body } = await exec({ command: 'echo first; head -c 5000000 /dev/zero | tr "\\0" x; echo; echo last' });
    expect(body).toMatchObject({ truncated: true, stdout_bytes: 5_000_012, exit_code: 0 });
    expect(body['stdout']).toMatch(/^first\nx+\n\[\d+ bytes omitted\]\nx+\nlast\n$/);
    expect(body['stdout'].length).toBeLessThan(1024 * 1024 + 100);
  });

  it('kills a command after its timeout, even one that ignores SIGTERM, and returns the output so far', async () => {
    for (const command of ['echo before; sleep 100', 'trap "" TERM; echo before; while :; do sleep 1; done']) {
      const { status, body } = await exec({ command, timeout_seconds: 1 });
      expect(status).toBe(504);
      expect(body).toMatchObject({
        error: 'The command did not end within 1 s',
        code: 'COMMAND_TIMEOUT',
        status: 504,
        exit_code: -1,
        timed_out: true,
        stdout: 'before\n',
      });
    }
    expect((await exec({ command: 'pgrep -f "sleep 100"' })).body['stdout']).toBe('');
  });

  it('streams output as it arrives, and the exit at the end', async () => {
    const events = await stream({ command: "printf '\\342\\202'; sleep 0.2; printf '\\254'; echo err >&2; exit 4" });
    expect(events[0]).toEqual(['started', { pid: expect.any(Number) }]);
    expect(events).toContainEqual(['stdout', { data: '€' }]);
    expect(events).toContainEqual(['stderr', { data: 'err\n' }]);
    expect(events.at(-1)).toEqual([
      'exit',
      { exit_code: 4, signal: null, duration_ms: expect.any(Number), timed_out: false },
    ]);
  });

  it('streams more output than it could buffer, complete and in order', async () => {
    const events = await stream({ command: 'seq 1 700000' });
    const text = events
      .filter(([name]) => name === 'stdout')
      .map(([, { data }]) => String(data))
      .join('');
    expect(text.length).toBe(4_788_895);
    expect(text.endsWith('\n699999\n700000\n')).toBe(true);
  });

  it('kills the command when its caller disconnects', async () => {
    const gone = new AbortController();
    const streamed = stream({ command: 'echo $$ > /tmp/pid; exec sleep 1000' }, gone.signal).catch(() => 'gone');
    await waitFor(async () => (await exec({ command: 'test -s /tmp/pid' })).body['exit_code'] === 0);
    gone.abort();
    expect(await streamed).toBe('gone');
    await waitFor(async () => (await exec({ command: 'kill -0 $(cat /tmp/pid)' })).body['exit_code'] !== 0);
  });

  it("refuses requests that the sandbox cannot run with the field's name, before a stream begins", async () => {
    for (const body of [
      { command: 'pwd', workdir: '/no/such/folder' },
      { command: 'pwd', cwd: '/etc/passwd', stream: true },
    ]) {
      expect(await exec(body)).toMatchObject({
        status: 400,
        body: { code: 'INVALID_FIELD', details: { field: 'workdir' } },
      });
    }
  });

  it('returns 409 for pending and later commands when the sandbox is stopped', async () => {
    const waiting = exec({ command: 'touch /tmp/runs; sleep 100' });
    await waitFor(async () => (await exec({ command: 'test -e /tmp/runs' })).body['exit_code'] === 0);
    await platform.call('POST', `/api/sandboxes/${id}/stop`);
    const refusal = { status: 409, body: { code: 'SANDBOX_NOT_RUNNING', details: { status: 'stopped' } } };
    expect(await waiting).toMatchObject(refusal);
    expect(await exec({ command: 'true' })).toMatchObject(refusal);
  });
});
