import type { HelperConnection } from '../helper/helper-connection.ts';
import { processError } from './process-errors.ts';

/** A running process that the platform started in a sandbox, as the helper reports it. */
export interface ProcessInfo {
  readonly pid: number;
  readonly tag: string | null;
  readonly argv: readonly string[];
  /** Variables of the request that started it, besides those of the image. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly tty: boolean;
  readonly startedAt: string;
}

/** Selects a process: by its number, or the newest one with a tag. */
export type ProcessSelector = { readonly pid: number } | { readonly tag: string };

const MAX_PROCESSES = 4096;
const MAX_ARGUMENTS = 10_000;
const MAX_TEXT = 128 * 1024;

/** Lists processes by number. Throws SANDBOX_NOT_RUNNING if the sandbox stopped meanwhile. */
export async function listProcesses(connection: HelperConnection): Promise<readonly ProcessInfo[]> {
  const outcome = await connection.call({ op: 'process.list' });
  if (!outcome.ok) throw processError(outcome);
  const { processes } = outcome.result;
  return Array.isArray(processes) ? processes.slice(0, MAX_PROCESSES).map(parseProcess) : [];
}

/** Checks field by field, because the list comes from a sandbox. */
function parseProcess(value: unknown): ProcessInfo {
  const fields = asRecord(value);
  const startedAt = new Date(text(fields['started_at']).slice(0, 40));
  const { pid, argv } = fields;
  return {
    pid: typeof pid === 'number' && Number.isSafeInteger(pid) && pid >= 0 ? pid : 0,
    tag: text(fields['tag']) || null,
    argv: Array.isArray(argv) ? argv.slice(0, MAX_ARGUMENTS).map(text) : [],
    env: Object.fromEntries(Object.entries(asRecord(fields['env'])).map(([name, given]) => [name, text(given)])),
    cwd: text(fields['cwd']),
    tty: fields['tty'] === true,
    startedAt: (Number.isNaN(startedAt.getTime()) ? new Date(0) : startedAt).toISOString(),
  };
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}; // checked just now
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MAX_TEXT) : '';
}
