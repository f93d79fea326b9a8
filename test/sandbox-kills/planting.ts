import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { Audited } from './audit.ts';
import type { KnownSandbox } from './journal.ts';

export interface Planted extends Audited {
  /** Ids of a running sandbox, with /root/one, and of a stopped one. */
  readonly running: string;
  readonly stopped: string;
  /** The journal's entry of the running sandbox. */
  readonly known: KnownSandbox;
}

export interface Control {
  readonly name: string;
  /** What the auditor must report. */
  readonly expected: RegExp;
  /** Returns the function that removes the fault. */
  readonly plant: (subject: Planted) => Promise<() => Promise<void> | void>;
}

export function file(name: string, content = ''): () => void {
  writeFileSync(name, content);
  return () => rmSync(name);
}

export function folder(name: string): () => void {
  mkdirSync(name, { recursive: true });
  return () => rmSync(name, { recursive: true, force: true });
}

export function run(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`);
  return stdout;
}
