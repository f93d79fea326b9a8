import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';
import { FLOOD, rateOf } from './terminals.ts';

/** First byte of ttyd's output messages (ttyd, `src/server.h`). */
const OUTPUT = '0'.charCodeAt(0);
const SIZE = JSON.stringify({ AuthToken: '', columns: 80, rows: 24 });

/**
 * MB/s of the same output through the given ttyd program, as received by a client; the output is as for the bare PTY.
 */
export async function ttydThroughput(program: string, imageRoot: string, durationMs: number): Promise<number> {
  const command = ['chroot', imageRoot, ...FLOOD.split(' ')];
  const child = spawn(program, ['-p', '0', '-i', '127.0.0.1', ...command], { stdio: ['ignore', 'ignore', 'pipe'] });
  const gone = once(child, 'exit');
  try {
    const socket = new WebSocket(`ws://127.0.0.1:${await portOf(child.stderr)}/ws`, 'tty');
    await once(socket, 'open');
    let bytes = 0;
    socket.on('message', (data: Buffer) => (bytes += data[0] === OUTPUT ? data.length - 1 : 0));
    socket.send(Buffer.from(SIZE));
    const rate = await rateOf(() => bytes, durationMs);
    socket.terminate();
    return rate;
  } finally {
    child.kill('SIGKILL');
    await gone;
  }
}

async function portOf(output: NodeJS.ReadableStream): Promise<number> {
  for await (const line of createInterface({ input: output })) {
    const port = /Listening on port: (\d+)/.exec(line)?.[1];
    if (port !== undefined) {
      output.resume();
      return Number(port);
    }
  }
  throw new Error('ttyd ended before it listened');
}
