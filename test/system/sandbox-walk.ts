import { fileURLToPath } from 'node:url';
import { waitFor } from '@svc/testing';
import { apiClient } from './api-client.ts';
import { runProgram } from './run-program.ts';
import type { ReadyLine } from './running-platform.ts';

/** Debian's Python, since its websockets library is a Debian package. */
export const PYTHON = '/usr/bin/python3';

export interface SandboxWalk {
  readonly id: string;
  /** Output of `stty size`: rows and columns. */
  readonly before: string;
  readonly after: string;
  readonly output: string;
  readonly closeCode: number | null;
  readonly exitCode: unknown;
}

interface Sandbox {
  readonly id: string;
  readonly status: string;
}

/** Needs only the ready line: creates a sandbox and runs a command in its terminal, with a resize and an exit code. */
export async function walkSandboxes(ready: ReadyLine, image = 'busybox'): Promise<SandboxWalk> {
  const api = apiClient(ready);
  const { id } = await api.post<Sandbox>('/api/containers', { image });
  const path = `/api/containers/${id}`;
  await waitFor(
    async () => {
      const { status } = await api.get<Sandbox>(path);
      if (status === 'error') throw new Error(`sandbox ${id} is in error`);
      return status === 'running';
    },
    { timeoutMs: 120_000, intervalMs: 100, description: `sandbox ${id} to run` },
  );
  const url = `${ready.url.replace(/^http/, 'ws')}/ws/terminal/${id}?cols=80&rows=24`;
  const script = fileURLToPath(new URL('terminal.py', import.meta.url));
  const printed = await runProgram(PYTHON, [script], { input: JSON.stringify({ url, token: ready.token }) });
  const { before, after, output, code, reason } = JSON.parse(printed) as {
    before: string;
    after: string;
    output: string;
    code: number | null;
    reason: string;
  }; // the script's own answer
  await api.delete(path);
  const { exit_code: exitCode } = JSON.parse(reason === '' ? '{}' : reason) as { exit_code?: unknown };
  return { id, before, after, output, closeCode: code, exitCode };
}
