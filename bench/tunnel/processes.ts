import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

/** Child processes of this run, ended newest first. */
export class Processes implements AsyncDisposable {
  readonly #children: ChildProcess[] = [];

  start(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): ChildProcess {
    const child = spawn(program, [...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stderr?.resume();
    this.#children.push(child);
    return child;
  }

  /** Returns the first line of output, such as the chosen port. */
  async firstLine(child: ChildProcess): Promise<string> {
    if (child.stdout === null) throw new Error('its output is a pipe');
    const lines = createInterface({ input: child.stdout });
    const [line] = (await once(lines, 'line')) as [string];
    child.stdout.resume();
    return line;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    }
  }
}

/** Waits until the port accepts connections. */
export async function untilListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const socket = connect(port, '127.0.0.1');
    const answered = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (answered) return;
    await delay(100);
  }
  throw new Error(`nobody listens on port ${port}`);
}
