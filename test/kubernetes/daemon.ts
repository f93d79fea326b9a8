import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Runs the program beside a reader of a pipe held by this process. When this process ends for any reason, the pipe
 * closes and the program is killed: a crashed test leaves no daemon behind.
 */
const GUARD = `exec 3<&0
"$@" </dev/null 3<&- &
child=$!
{ cat <&3 >/dev/null; kill -9 "$child" 2>/dev/null; } &
guard=$!
trap 'kill -TERM "$child" 2>/dev/null' TERM
while kill -0 "$child" 2>/dev/null; do wait "$child"; done
kill "$guard" 2>/dev/null`;

export interface Daemon {
  readonly name: string;
  readonly logFile: string;
  /** True once the process has ended. */
  exited(): boolean;
  /** TERM, then KILL after `graceMs`. */
  stop(graceMs?: number): Promise<void>;
}

/** Starts a program with its output in `DIR/NAME.log`. */
export function startDaemon(folder: string, name: string, program: string, args: readonly string[]): Daemon {
  const logFile = join(folder, `${name}.log`);
  const log = openSync(logFile, 'a');
  const child = spawn('/bin/sh', ['-c', GUARD, name, program, ...args], {
    cwd: folder,
    stdio: ['pipe', log, log],
    detached: true, // Ctrl-C at the terminal reaches only this process, which stops the daemons in order.
  });
  closeSync(log);
  let exited = false;
  child.once('exit', () => (exited = true));
  child.once('error', () => (exited = true));
  child.stdin?.on('error', () => undefined); // the other end closes when the program ends
  child.unref();
  return { name, logFile, exited: () => exited, stop: (graceMs = 10_000) => stopChild(child, () => exited, graceMs) };
}

/** Throws with the end of the log if the daemon has ended, instead of waiting in vain. */
export async function assertRunning(daemon: Daemon): Promise<void> {
  if (!daemon.exited()) return;
  const log = await readFile(daemon.logFile, 'utf8');
  throw new Error(`${daemon.name} ended: ${log.slice(-2000)}`);
}

async function stopChild(child: ChildProcess, exited: () => boolean, graceMs: number): Promise<void> {
  const deadline = performance.now() + graceMs;
  child.kill('SIGTERM');
  while (!exited() && performance.now() < deadline) await delay(20);
  child.stdin?.destroy(); // makes the guard kill -9
  while (!exited() && performance.now() < deadline + 5000) await delay(20);
}
