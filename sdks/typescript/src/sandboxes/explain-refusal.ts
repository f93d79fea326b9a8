import { apiErrorOf, NetworkError } from '../errors.ts';
import { pathOf, type SandboxTransport } from './sandbox-transport.ts';
import type { SandboxInfo, TerminalSession } from './sandbox-types.ts';

/**
 * The error of a WebSocket that did not open: its owner is not told the status of the answer, so the same is asked of the
 * API. 401, 403 and 404 come as from any other call.
 */
export async function explainRefusal(
  transport: SandboxTransport,
  id: string,
  error: unknown,
  {
    session,
    since,
    signal,
  }: { session: string | undefined; since: number | undefined; signal: AbortSignal | undefined },
): Promise<unknown> {
  if (!(error instanceof NetworkError)) return error;
  try {
    const { status } = await transport.call<SandboxInfo>('GET', pathOf(id), { signal });
    if (status !== 'running') {
      return refusal(409, 'SANDBOX_NOT_RUNNING', `The sandbox is not running: its status is ${status}`);
    }
    if (session === undefined || since === undefined) return error;
    const { terminals } = await transport.call<{ terminals: TerminalSession[] }>('GET', `${pathOf(id)}/terminals`);
    if (terminals.some((each) => each.session === session)) return error;
    return refusal(404, 'SESSION_NOT_FOUND', `There is no terminal session ${session}`);
  } catch (reason) {
    return reason;
  }
}

function refusal(status: number, code: string, message: string): Error {
  return apiErrorOf({ status, code, message, requestId: null, details: {}, retryAfterSeconds: null });
}
