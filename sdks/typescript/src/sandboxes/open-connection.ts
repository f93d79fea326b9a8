import { NetworkError } from '../errors.ts';
import type { QueryValue } from '../transport.ts';
import { explainRefusal } from './explain-refusal.ts';
import { RawConnection } from './raw-connection.ts';
import type { SandboxTransport } from './sandbox-transport.ts';
import { V1Connection, type TerminalConnection, type V1Listener } from './v1-connection.ts';

/** A terminal to open. `session` names a session to join or create; `since` is the offset to resume its output from. */
export interface OpenRequest {
  query: Readonly<Record<string, QueryValue>>;
  session: string | undefined;
  since: number | undefined;
  signal: AbortSignal | undefined;
}

/** Connects by `sandbox.v1`, or by the contract's raw terminal if the server supports no subprotocol. */
export async function openConnection(
  transport: SandboxTransport,
  id: string,
  request: OpenRequest,
  listener: V1Listener,
): Promise<TerminalConnection> {
  if (transport.contractOnly) return await RawConnection.open(transport, id, request, listener);
  try {
    return await V1Connection.open(transport, id, request, listener);
  } catch (error) {
    const { session, since, signal, query } = request;
    const joins = since !== undefined || query['mode'] === 'ro';
    const reason = await explainRefusal(transport, id, error, { session, joins, signal });
    // The sandbox is running and the caller has access, so the server rejected the subprotocol.
    if (reason !== error || !(error instanceof NetworkError) || session !== undefined) throw reason;
    const connection = await RawConnection.open(transport, id, request, listener);
    transport.contractOnly = true;
    return connection;
  }
}
