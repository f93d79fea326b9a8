import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { distributionOf, type Distribution } from './figures.ts';
import { closed, untilPrompt } from './svc-client.ts';
import type { SvcSubject } from './svc-subject.ts';

const MB = 1_000_000;
export const FLOOD = 'yes 0123456789012345678901234567890123456789012345678901234567890123456789012345';

/** MB/s of endless output through a sandbox terminal, as received by a client. */
export async function terminalThroughput(svc: SvcSubject, durationMs: number): Promise<number> {
  const socket = svc.client.open(await svc.make(), '?encoding=binary');
  await untilPrompt(socket);
  let bytes = 0;
  socket.on('message', (data: Buffer) => (bytes += data.length));
  socket.send(Buffer.from(`${FLOOD}\n`));
  const rate = await rateOf(() => bytes, durationMs);
  socket.terminate();
  await svc.settle();
  return rate;
}

/**
 * MB/s of the same output through a local PTY, read by a minimal program. Uses the image's own `yes`, since the
 * machine's may write in larger chunks.
 */
export async function rawThroughput(imageRoot: string, durationMs: number): Promise<number> {
  const command = `chroot '${imageRoot}' ${FLOOD}`;
  const child = spawn('script', ['-qefc', command, '/dev/null'], { stdio: ['pipe', 'pipe', 'ignore'] });
  let bytes = 0;
  child.stdout.on('data', (data: Buffer) => (bytes += data.length));
  const rate = await rateOf(() => bytes, durationMs);
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
  return rate;
}

/** Latency from a keystroke until its echo. */
export async function echoes(svc: SvcSubject, count: number): Promise<Distribution> {
  const socket = svc.client.open(await svc.make(), '?encoding=binary');
  await untilPrompt(socket);
  socket.send(Buffer.from('cat\n'));
  await delay(200);
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const begunMs = performance.now();
    const shown = nextMessage(socket);
    socket.send(Buffer.from('x'));
    await shown;
    times.push(performance.now() - begunMs);
  }
  await closed(socket);
  await svc.settle();
  return distributionOf(times);
}

async function nextMessage(socket: WebSocket): Promise<void> {
  await once(socket, 'message');
}

/** Measures after one second of warm-up. */
export async function rateOf(count: () => number, durationMs: number): Promise<number> {
  await delay(1000);
  const [before, begunMs] = [count(), performance.now()];
  await delay(durationMs);
  return (count() - before) / MB / ((performance.now() - begunMs) / 1000);
}
