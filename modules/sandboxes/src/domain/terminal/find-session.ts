import type { HelperConnection, HelperRequest } from '../helper/helper-connection.ts';
import { sandboxErrors } from '../../errors.ts';
import type { SessionRequests } from './session-stream.ts';
import { listSessions, MAX_SESSIONS } from './sessions.ts';
import type { SessionWish } from './terminal-request.ts';

const NAME_BYTES = 9;

/**
 * Resolves the name of the session a client asked for. Read-only and returning clients must not create one: they would
 * get an unrelated shell. Throws SESSION_NOT_FOUND and TOO_MANY_TERMINALS.
 */
export async function findSession(
  connection: HelperConnection,
  wish: SessionWish,
  randomBytes: (sizeBytes: number) => Buffer,
): Promise<string> {
  const known = await listSessions(connection);
  const session = wish.name ?? `s${randomBytes(NAME_BYTES).toString('hex')}`;
  if (known.some((each) => each.session === session)) return session;
  if (!mayMake(wish)) throw sandboxErrors.SESSION_NOT_FOUND({ details: { session } });
  if (known.length >= MAX_SESSIONS) throw sandboxErrors.TOO_MANY_TERMINALS({ details: { limit: MAX_SESSIONS } });
  return session;
}

/** Builds the helper requests for a session. `shell` holds the parameters of a start. */
export function sessionRequests(
  session: string,
  wish: SessionWish,
  shell: Readonly<Record<string, unknown>>,
): SessionRequests {
  const { since, readOnly, lingerMs } = wish;
  const start: HelperRequest = {
    op: 'process.start',
    session,
    ...shell,
    ...(lingerMs === null ? {} : { linger_ms: lingerMs }),
  };
  return {
    // A read-only client does not change the terminal size.
    attach: { op: 'session.attach', session, since: since ?? 0, ...(readOnly ? {} : { tty: shell['tty'] }) },
    start: mayMake(wish) ? start : null,
  };
}

function mayMake({ readOnly, since }: SessionWish): boolean {
  return !readOnly && since === null;
}
