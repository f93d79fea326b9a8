import type { HelperConnection } from '../helper/helper-connection.ts';
import { sandboxErrors } from '../../errors.ts';

/** A shell that outlives its clients, as the helper reports it. */
export interface SessionInfo {
  readonly session: string;
  readonly pid: number;
  readonly shell: string;
  readonly cols: number;
  readonly rows: number;
  /** Number of attached clients. */
  readonly attached: number;
  /** The shell has ended; its last output and exit code wait for a client. */
  readonly exited: boolean;
  readonly startedAt: string;
}

/** The helper's own limit; anything beyond it is ignored. */
export const MAX_SESSIONS = 16;

/** Lists sessions by start time. Throws SANDBOX_NOT_RUNNING if the sandbox stopped meanwhile. */
export async function listSessions(connection: HelperConnection): Promise<readonly SessionInfo[]> {
  const outcome = await connection.call({ op: 'session.list' });
  if (!outcome.ok) throw sandboxErrors.SANDBOX_NOT_RUNNING({ details: { status: 'no longer reachable' } });
  const { sessions } = outcome.result;
  if (!Array.isArray(sessions)) return [];
  return sessions
    .slice(0, MAX_SESSIONS)
    .map(parseSession)
    .toSorted((a, b) => a.startedAt.localeCompare(b.startedAt) || a.session.localeCompare(b.session));
}

/** Hangs up the session's shell. Throws SESSION_NOT_FOUND. */
export async function endSession(connection: HelperConnection, session: string): Promise<void> {
  const outcome = await connection.call({ op: 'session.kill', session });
  if (outcome.ok) return;
  if (outcome.code === 'NO_SUCH_SESSION') throw sandboxErrors.SESSION_NOT_FOUND({ details: { session } });
  throw sandboxErrors.SANDBOX_NOT_RUNNING({ details: { status: 'no longer reachable' } });
}

function parseSession(value: unknown): SessionInfo {
  const fields = (value ?? {}) as Record<string, unknown>; // checked field by field, because it comes from a sandbox
  const number = (name: string): number => {
    const given = fields[name];
    return typeof given === 'number' && Number.isSafeInteger(given) && given >= 0 ? given : 0;
  };
  const text = (name: string, most: number): string => {
    const given = fields[name];
    return typeof given === 'string' ? given.slice(0, most) : '';
  };
  const startedAt = new Date(text('started_at', 40));
  return {
    session: text('session', 64),
    pid: number('pid'),
    shell: text('path', 4096),
    cols: number('cols'),
    rows: number('rows'),
    attached: number('attached'),
    exited: fields['exited'] === true,
    startedAt: (Number.isNaN(startedAt.getTime()) ? new Date(0) : startedAt).toISOString(),
  };
}
