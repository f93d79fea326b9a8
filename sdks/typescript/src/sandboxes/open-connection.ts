import { NetworkError } from '../errors.ts';
import type { QueryValue } from '../transport.ts';
import { explainRefusal } from './explain-refusal.ts';
import { RawConnection } from './raw-connection.ts';
import type { SandboxTransport } from './sandbox-transport.ts';
import { V1Connection, type TerminalConnection, type V1Listener } from './v1-connection.ts';

export interface OpenRequest {
  query: Readonly<Record<string, QueryValue>>;
  session: string | undefined;
  since: number | undefined;
  signal: AbortSignal | undefined;
}

/** By `sandbox.v1`; on a server that knows no subprotocol, by the contract's raw terminal. */
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
    // The sandbox runs, and the caller may: then it is the subprotocol that was not taken.
    if (reason !== error || !(error instanceof NetworkError) || session !== undefined) throw reason;
    const connection = await RawConnection.open(transport, id, request, listener);
    transport.contractOnly = true;
    return connection;
  }
}
