import { ApiError, createApiError, ForbiddenError, NetworkError, UnauthorizedError } from '../errors.ts';
import { pathOf, type SandboxTransport } from './sandbox-transport.ts';
import type { SandboxInfo, TerminalSession } from './sandbox-types.ts';

/** The refused terminal connection: its session name, if any, and whether that session had to exist already. */
export interface ExplainOptions {
  session: string | undefined;
  /** True if an existing session was requested, by `readOnly` or on reconnect. */
  joins: boolean;
  signal: AbortSignal | undefined;
}

const SESSION_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/**
 * Returns the error of a WebSocket that did not open. WebSockets don't expose the response status, so this asks the
 * API; 401, 403 and 404 match those of any other call.
 */
export async function explainRefusal(
  transport: SandboxTransport,
  id: string,
  error: unknown,
  { session, joins, signal }: ExplainOptions,
): Promise<unknown> {
  if (!(error instanceof NetworkError)) return error;
  try {
    const { status } = await transport.call<SandboxInfo>('GET', pathOf(id), { signal });
    if (status !== 'running') {
      return refusal(409, 'SANDBOX_NOT_RUNNING', `The sandbox is not running: its status is ${status}`);
    }
    const denial = await findDenial(transport, id, signal);
    if (denial !== null) return denial;
    if (session === undefined) return error;
    if (!SESSION_NAME.test(session)) {
      return refusal(400, 'INVALID_FIELD', 'Invalid session: must be 1 to 64 letters, digits, _, . and -');
    }
    if (!joins) return error;
    const { terminals } = await transport.call<{ terminals: TerminalSession[] }>('GET', `${pathOf(id)}/terminals`);
    if (terminals.some((each) => each.session === session)) return error;
    return refusal(404, 'SESSION_NOT_FOUND', `Terminal session ${session} not found`);
  } catch (reason) {
    return reason;
  }
}

/**
 * Whoever may read a sandbox need not be allowed to use a terminal; a ticket needs exactly that right. Returns null if the
 * caller has it, and for servers without tickets.
 */
async function findDenial(
  transport: SandboxTransport,
  id: string,
  signal: AbortSignal | undefined,
): Promise<ApiError | null> {
  try {
    await transport.call('POST', `${pathOf(id)}/terminal/tickets`, { signal });
    return null;
  } catch (error) {
    if (error instanceof UnauthorizedError || error instanceof ForbiddenError) return error;
    if (error instanceof ApiError) return null;
    throw error;
  }
}

function refusal(status: number, code: string, message: string): Error {
  return createApiError({ status, code, message, requestId: null, details: {}, retryAfterSeconds: null });
}
