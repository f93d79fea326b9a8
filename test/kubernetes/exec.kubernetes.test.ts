import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createExecHandler, systemClock } from '@svc/agent/testing';
import { createKubeClient, kubeconfigAccess } from '@svc/kube';
import type { CommandOutput, CommandResult, ExecCommand } from '@svc/protocol';
import { skippedTitle, temporaryFolder, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentFixture, TEST_IMAGE } from './agent-fixture.ts';
import { kubernetesRequirement } from './index.ts';

const reason = await kubernetesRequirement();
const title = 'exec in a real pod';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let fixture: AgentFixture;
  beforeAll(async () => {
    fixture = await AgentFixture.start();
    await fixture.pod('one', [container('main')]);
    await fixture.pod('two', [container('first'), container('second')]);
    await fixture.inNamespace('wait', '--for=condition=Ready', 'pod/one', 'pod/two', '--timeout=120s');
  });
  afterAll(() => fixture?.stop());

  function container(name: string): object {
    return { name, image: TEST_IMAGE, command: ['sleep', '3600'] };
  }

  function send(options: Partial<ExecCommand> & Pick<ExecCommand, 'command'>): string {
    return fixture.platform.send('exec', { pod: 'one', namespace: fixture.namespace, container: '', ...options });
  }

  function exec(options: Partial<ExecCommand> & Pick<ExecCommand, 'command'>): Promise<CommandResult> {
    return fixture.platform.result(send(options), 60_000);
  }

  function outputOf(id: string, stream: CommandOutput['stream']): string {
    const pieces = fixture.platform
      .messages('command_output')
      .filter((each) => each.command_id === id && each.stream === stream);
    return Buffer.concat(pieces.map(({ data, encoding }) => Buffer.from(data, encoding))).toString();
  }

  it('returns both streams and the exit code; a command that ran has succeeded, whatever its code', async () => {
    const result = await exec({ command: ['sh', '-c', 'echo out; echo err >&2; exit 3'] });
    expect(result).toMatchObject({
      status: 'succeeded',
      exec: {
        exit_code: 3,
        container: 'main',
        stdout: 'out\n',
        stderr: 'err\n',
        encoding: 'utf8',
        truncated: false,
        process_may_be_running: false,
      },
    });
    expect(result.error).toBeUndefined();
  });

  it('fails only when the command could not run', async () => {
    expect(await exec({ command: ['no-such-program'] })).toMatchObject({
      status: 'failed',
      error: { code: 'INVALID_REQUEST', details: { field: 'command' } },
    });
    expect(await exec({ command: ['true'], pod: 'nobody' })).toMatchObject({
      status: 'failed',
      error: { code: 'NOT_FOUND', details: { field: 'pod' } },
    });
  });

  it('explains why a command has no container to run in', async () => {
    await fixture.pod('over', [{ name: 'main', image: TEST_IMAGE, command: ['sh', '-c', 'exit 4'] }], {
      restartPolicy: 'Never',
    });
    await fixture.inNamespace('wait', '--for=jsonpath={.status.phase}=Failed', 'pod/over', '--timeout=60s');
    expect(await exec({ command: ['true'], pod: 'over' })).toMatchObject({
      status: 'failed',
      error: {
        code: 'CONFLICT',
        message: 'container main of pod over does not run: it exited with code 4 (Error)',
        details: { field: 'container' },
      },
    });
  });

  it('requires a container name when there are several', async () => {
    expect(await exec({ command: ['true'], pod: 'two' })).toMatchObject({
      status: 'failed',
      error: { code: 'INVALID_REQUEST', details: { field: 'container', containers: ['first', 'second'] } },
    });
    await fixture.inNamespace('annotate', 'pod', 'two', 'kubectl.kubernetes.io/default-container=second');
    expect(await exec({ command: ['true'], pod: 'two' })).toMatchObject({
      exec: { container: 'second', exit_code: 0 },
    });
  });

  it('sends long output in chunks, completely, and reports truncation', async () => {
    const long = send({ command: ['sh', '-c', 'head -c 300000 /dev/zero | tr "\\0" x'] });
    const result = await fixture.platform.result(long, 60_000);
    expect(result.exec).toMatchObject({ stdout_bytes: 300_000, truncated: false, exit_code: 0 });
    expect(result.exec?.stdout).toBeUndefined();
    expect(outputOf(long, 'stdout')).toBe('x'.repeat(300_000));
    const cut = await exec({ command: ['sh', '-c', 'head -c 300000 /dev/zero; exit 4'], max_output_bytes: 1000 });
    expect(cut.exec).toMatchObject({ stdout_bytes: 1000, truncated: true, exit_code: 4 });
  });

  it('passes standard input to its end', async () => {
    const id = send({ command: ['sh', '-c', 'wc -c; echo done'], stdin: true });
    fixture.platform.send('stdin', { command_id: id, seq: 0, data: 'hello ' });
    fixture.platform.send('stdin', { command_id: id, seq: 0, data: 'again ' });
    const bytes = Buffer.from([0xff, 0xfe]);
    fixture.platform.send('stdin', {
      command_id: id,
      seq: 1,
      data: bytes.toString('base64'),
      encoding: 'base64',
      eof: true,
    });
    expect(await fixture.platform.result(id, 60_000)).toMatchObject({ status: 'succeeded', exec: { exit_code: 0 } });
    expect(outputOf(id, 'stdout')).toBe('8\ndone\n');
  });

  it('allocates a terminal that can be resized', async () => {
    const id = send({ command: ['sh'], stdin: true, tty: true, rows: 31, cols: 77 });
    await waitFor(() => outputOf(id, 'stdout').includes('#') || undefined, { description: 'a prompt' });
    fixture.platform.send('stdin', { command_id: id, seq: 1, data: 'stty size\n' });
    await waitFor(() => outputOf(id, 'stdout').includes('31 77') || undefined, { description: 'the first size' });
    fixture.platform.send('resize', { command_id: id, rows: 12, cols: 34 });
    fixture.platform.send('stdin', { command_id: id, seq: 2, data: 'stty size; exit 5\n' });
    expect(await fixture.platform.result(id, 60_000)).toMatchObject({ status: 'succeeded', exec: { exit_code: 5 } });
    expect(outputOf(id, 'stdout')).toContain('12 34');
  });

  it('ends at its timeout with the output so far, and says that the process may continue', async () => {
    const result = await exec({ command: ['sh', '-c', 'echo early; sleep 600'], timeout_seconds: 2 });
    expect(result).toMatchObject({
      status: 'timed_out',
      error: { code: 'TIMEOUT' },
      exec: { exit_code: null, stdout: 'early\n', process_may_be_running: true },
    });
  });

  it('can be cancelled', async () => {
    const id = send({ command: ['sh', '-c', 'echo begun; sleep 600'], stream: true });
    await waitFor(() => outputOf(id, 'stdout').includes('begun') || undefined, { description: 'its first output' });
    fixture.platform.send('cancel', { command_id: id, reason: 'enough' });
    expect(await fixture.platform.result(id, 60_000)).toMatchObject({
      status: 'cancelled',
      exec: { exit_code: null, process_may_be_running: true },
    });
  });

  it('survives a dropped connection to the platform without losing buffered output', async () => {
    const script = 'i=0; while [ $i -lt 40 ]; do echo line-$i; i=$((i+1)); sleep 0.05; done';
    const id = send({ command: ['sh', '-c', script], stream: true });
    await waitFor(() => outputOf(id, 'stdout').includes('line-3\n') || undefined, { description: 'its first lines' });
    fixture.platform.connection.socket.close(4503);
    const result = await fixture.platform.result(id, 60_000);
    expect(result).toMatchObject({ status: 'succeeded', exec: { exit_code: 0 } });
    expect(outputOf(id, 'stdout')).toContain('line-39\n');
  });

  it('speaks version 4 of the protocol with a server that supports no other', async () => {
    const client = createKubeClient(await kubeconfigAccess(fixture.kubernetes.kubeconfig, undefined, () => Date.now()));
    const handler = createExecHandler({ client, clock: systemClock, protocols: ['v4.channel.k8s.io'] });
    const outcome = await handler.run(
      { pod: 'one', namespace: fixture.namespace, command: ['sh', '-c', 'echo four; exit 9'] },
      {
        commandId: 'cmd-v4',
        resumed: false,
        signal: AbortSignal.timeout(60_000),
        progress: () => undefined,
        output: () => Promise.resolve(),
        onInput: () => undefined,
      },
    );
    client.close();
    expect(outcome).toMatchObject({ status: 'succeeded', exec: { exit_code: 9, stdout: 'four\n' } });
  });

  it('is refused by the cluster owner’s policy', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'config.yaml');
    await writeFile(file, 'policy: {exec: false}\n');
    const guarded = await AgentFixture.start({}, file);
    const id = guarded.platform.send('exec', { pod: 'one', namespace: fixture.namespace, command: ['true'] });
    const result = await guarded.platform.result(id, 60_000);
    await guarded.stop();
    expect(result).toMatchObject({ status: 'failed', error: { code: 'FORBIDDEN', details: { field: 'policy.exec' } } });
  });
});
