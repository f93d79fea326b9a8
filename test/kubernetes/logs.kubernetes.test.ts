import type { LogsCommand } from '@svc/protocol';
import { skippedTitle, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentFixture, TEST_IMAGE } from './agent-fixture.ts';
import { kubernetesRequirement } from './index.ts';

const reason = await kubernetesRequirement();
const title = 'logs of real pods';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let fixture: AgentFixture;
  beforeAll(async () => {
    fixture = await AgentFixture.start();
    await fixture.pod('counted', [shell('i=0; while [ $i -lt 12000 ]; do echo line-$i; i=$((i+1)); done; sleep 3600')]);
    await fixture.inNamespace('wait', '--for=condition=Ready', 'pod/counted', '--timeout=120s');
    await waitFor(async () => (await fixture.inNamespace('logs', 'counted', '--tail=1')).includes('line-11999'), {
      timeoutMs: 60_000,
    });
  });
  afterAll(() => fixture?.stop());

  function shell(script: string): object {
    return { name: 'main', image: TEST_IMAGE, command: ['sh', '-c', script] };
  }

  function send(options: Partial<LogsCommand> = {}): string {
    return fixture.platform.send('logs', {
      pod: 'counted',
      namespace: fixture.namespace,
      container: '',
      ...options,
    });
  }

  function textOf(id: string): string {
    const pieces = fixture.platform.messages('command_output').filter((each) => each.command_id === id);
    return pieces.map(({ data }) => data).join('');
  }

  function numbersOf(id: string): number[] {
    return [...textOf(id).matchAll(/^line-(\d+)/gm)].map(([, number]) => Number(number));
  }

  async function logs(options: Partial<LogsCommand> = {}) {
    const id = send(options);
    const result = await fixture.platform.result(id, 60_000);
    return { result, text: textOf(id), lines: textOf(id).split('\n').slice(0, -1) };
  }

  it('default to the last 100 lines, return none for 0, and at most 10,000', async () => {
    const usual = await logs();
    expect(usual.result).toMatchObject({
      status: 'succeeded',
      logs: { container: 'main', reason: 'eof', lines: 100, dropped_lines: 0, truncated: false },
    });
    expect(usual.lines[0]).toBe('line-11900');
    expect(usual.lines).toHaveLength(100);
    expect((await logs({ tail_lines: 0 })).lines).toEqual([]);
    const many = await logs({ tail_lines: 1_000_000 });
    expect(many.lines).toHaveLength(10_000);
    expect(many.result.logs).toMatchObject({ lines: 10_000, truncated: true });
    expect(many.lines[0]).toBe('line-2000');
  });

  it('include timestamps on request, and resume after the last one', async () => {
    const { lines, result } = await logs({ tail_lines: 1, timestamps: true });
    expect(lines[0]).toMatch(/^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2}) line-11999$/);
    expect(lines[0]?.startsWith(result.logs?.last_timestamp ?? 'none')).toBe(true);
    const since = result.logs?.last_timestamp;
    const later = await logs(since === undefined ? {} : { since_time: since });
    expect(later.lines.at(-1)).toBe('line-11999');
  });

  it('end at the caller’s limit', async () => {
    const { result, text } = await logs({ limit_bytes: 25 });
    expect(result.logs).toMatchObject({ reason: 'limit', truncated: true, lines: 2 });
    expect(text).toBe('line-11900\nline-11901\n');
  });

  it('are refused for a missing pod and for a previous container that does not exist', async () => {
    expect((await logs({ pod: 'nobody' })).result).toMatchObject({ status: 'failed', error: { code: 'NOT_FOUND' } });
    expect((await logs({ previous: true })).result).toMatchObject({
      status: 'failed',
      error: { code: 'INVALID_REQUEST' },
    });
    const misplaced = await logs({ follow: true, resume_after: 'behind the mirror' });
    expect(misplaced).toMatchObject({
      result: { status: 'failed', error: { code: 'INVALID_REQUEST', details: { field: 'resume_after' } } },
      text: '',
    });
  });

  it('are followed across restarts, each line once, and the previous container’s log is readable', async () => {
    await fixture.pod('again', [shell('echo start-$(cat /proc/sys/kernel/random/uuid); sleep 2; echo end; exit 1')]);
    await fixture.inNamespace('wait', '--for=jsonpath={.status.phase}=Running', 'pod/again', '--timeout=60s');
    const id = send({ pod: 'again', follow: true });
    const starts = () => [...textOf(id).matchAll(/^start-.*$/gm)].map(([line]) => line);
    await waitFor(() => starts().length >= 3 || undefined, { timeoutMs: 90_000, description: 'three starts' });
    fixture.platform.send('cancel', { command_id: id });
    const result = await fixture.platform.result(id, 60_000);
    expect(result).toMatchObject({ status: 'cancelled', logs: { reason: 'cancelled', dropped_lines: 0 } });
    expect(new Set(starts()).size).toBe(starts().length);
    expect([...textOf(id).matchAll(/^end$/gm)].length).toBeGreaterThanOrEqual(2);
    // While it restarts, the kubelet may look for the log of a container that it has removed.
    await waitFor(async () => (await logs({ pod: 'again', previous: true })).lines.at(-1) === 'end' || undefined, {
      timeoutMs: 60_000,
      description: 'the log of the container before',
    });
  });

  it('resume for a returning reader, including output of a container that ended meanwhile', async () => {
    const script =
      'n=0; while ! mkdir /keep/$n 2>/dev/null; do n=$((n+1)); done; echo start-$n; ' +
      'while [ ! -e /keep/go-$n ]; do sleep 0.2; done; echo end-$n; exit 1';
    const container = { ...shell(script), volumeMounts: [{ name: 'keep', mountPath: '/keep' }] };
    await fixture.pod('keeps', [container], { volumes: [{ name: 'keep', emptyDir: {} }] });
    await fixture.inNamespace('wait', '--for=condition=Ready', 'pod/keeps', '--timeout=60s');
    const positionOf = (id: string): string | undefined =>
      fixture.platform.messages('command_output').findLast((each) => each.command_id === id)?.position;
    const first = send({ pod: 'keeps', follow: true });
    await waitFor(() => textOf(first) === 'start-0\n' || undefined, { description: 'its first line' });
    const position = positionOf(first) ?? '';
    fixture.platform.send('cancel', { command_id: first });
    await fixture.platform.result(first, 60_000);
    await fixture.inNamespace('exec', 'keeps', '--', 'touch', '/keep/go-0');
    await waitFor(async () => (await fixture.inNamespace('logs', 'keeps').catch(() => '')).includes('start-1'), {
      timeoutMs: 60_000,
      description: 'its second start',
    });
    const second = send({ pod: 'keeps', follow: true, resume_after: position });
    await waitFor(() => textOf(second).includes('start-1') || undefined, {
      description: 'the line of its second start',
    });
    expect(textOf(second)).toBe('end-0\nstart-1\n');
    fixture.platform.send('cancel', { command_id: second });
    await fixture.platform.result(second, 60_000);
  });

  it('end with the container and with the pod', async () => {
    await fixture.pod('short', [shell('echo one; sleep 2; echo two')], { restartPolicy: 'Never' });
    await fixture.inNamespace('wait', '--for=jsonpath={.status.phase}=Running', 'pod/short', '--timeout=60s');
    const ended = await logs({ pod: 'short', follow: true });
    expect(ended.result.logs).toMatchObject({ reason: 'container_terminated', lines: 2 });
    expect(ended.lines).toEqual(['one', 'two']);
    await fixture.pod('gone', [shell('echo here; sleep 3600')]);
    await fixture.inNamespace('wait', '--for=condition=Ready', 'pod/gone', '--timeout=60s');
    const id = send({ pod: 'gone', follow: true });
    await waitFor(() => textOf(id).includes('here') || undefined, { description: 'its line' });
    await fixture.inNamespace('delete', 'pod', 'gone', '--wait=false');
    expect(await fixture.platform.result(id, 60_000)).toMatchObject({
      status: 'succeeded',
      logs: { reason: 'pod_deleted', lines: 1 },
    });
  });

  it('survive log rotation without losing or repeating a line', async () => {
    const padding = 'x'.repeat(400);
    const script = `i=0; while [ $i -lt 8000 ]; do n=0; while [ $n -lt 40 ]; do echo line-$i ${padding}; i=$((i+1)); n=$((n+1)); done; sleep 0.1; done; echo over; sleep 3600`;
    await fixture.pod('rotated', [shell(script)]);
    await fixture.inNamespace('wait', '--for=condition=Ready', 'pod/rotated', '--timeout=60s');
    const id = send({ pod: 'rotated', follow: true, tail_lines: 10_000 });
    await waitFor(() => textOf(id).endsWith('over\n') || undefined, {
      timeoutMs: 150_000,
      intervalMs: 500,
      description: () => `the last line after ${numbersOf(id).length}`,
    });
    fixture.platform.send('cancel', { command_id: id });
    const result = await fixture.platform.result(id, 60_000);
    expect(numbersOf(id)).toEqual(Array.from({ length: 8000 }, (_, index) => index));
    // Proves that the file was rotated: the kubelet reads only the newest one.
    expect((await fixture.inNamespace('logs', 'rotated')).split('\n').length).toBeLessThan(8000);
    expect(result.logs).toMatchObject({ lines: 8001, dropped_lines: 0, truncated: false });
  });
});
