import { Agent as PlainAgent, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { isAppError } from '@svc/errors';
import { relayRequest, RelayTimeout, relayUpgrade, type RelayTarget } from '@svc/http/relay';
import { joinStreams } from '@svc/mux';
import { refuseRequest, refuseUpgrade, type GatewayRefusal } from './refusals.ts';
import { offersHere, requestHeaders, requestPath, type Injection } from './secret-injection.ts';
import { NoPublicAddress } from './upstream-lookup.ts';

/** Slow models take minutes for the first byte of an answer. */
const ANSWER_MS = 15 * 60_000;

/** Where a request goes, and what is added to it. */
export interface Destination {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly injection: Injection;
  readonly lookup: LookupFunction;
  readonly connections: UpstreamConnections;
}

/** Each connection of a sandbox has a connection of its own to the host, which ends with it. */
export class UpstreamConnections {
  readonly #agents = new WeakMap<Duplex, SecureAgent | PlainAgent>();

  agentFor(socket: Duplex, isSecure: boolean): SecureAgent | PlainAgent {
    const known = this.#agents.get(socket);
    if (known !== undefined) return known;
    const options = { keepAlive: true, maxSockets: 1 };
    const agent = isSecure ? new SecureAgent(options) : new PlainAgent(options);
    this.#agents.set(socket, agent);
    socket.once('close', () => agent.destroy());
    return agent;
  }
}

/** Sends a request on, with both bodies as streams. Never rejects. */
export async function sendRequest(request: IncomingMessage, response: ServerResponse, to: Destination): Promise<void> {
  try {
    const agent = to.connections.agentFor(request.socket, to.isSecure);
    await relayRequest(request, response, targetOf(request, to, agent));
  } catch (error) {
    refuseRequest(response, refusalFor(error));
    request.resume(); // the client reads the answer only after it has sent its body
  }
}

/** Sends a WebSocket handshake on, and joins both sides if the host agrees. Never rejects. */
export async function sendUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  to: Destination,
): Promise<void> {
  socket.on('error', () => socket.destroy());
  try {
    await relayUpgrade({ request, socket, head }, targetOf(request, to, false), joinStreams);
  } catch (error) {
    refuseUpgrade(socket, refusalFor(error));
  }
}

function targetOf(request: IncomingMessage, to: Destination, agent: RelayTarget['agent']): RelayTarget {
  const { host, port, lookup, injection } = to;
  return {
    agent,
    // The certificate is verified for the host and against the public roots, whatever the environment says.
    connection: { protocol: to.isSecure ? 'https:' : 'http:', host, port, lookup, rejectUnauthorized: true },
    path: requestPath(request.url ?? '/', injection),
    headers: requestHeaders(request, host, injection),
    dropsTrailer: (name) => injection.headers.has(name),
    timeoutMs: ANSWER_MS,
    answerHeaders: offersHere,
  };
}

/** Faults of the handshake that concern the certificate have codes of OpenSSL. */
const CERTIFICATE_FAULT = /CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|ERR_TLS_/;

function refusalFor(error: unknown): GatewayRefusal {
  if (error instanceof NoPublicAddress) return 'private';
  if (error instanceof RelayTimeout) return 'late';
  if (isAppError(error)) return 'target'; // the request's own framing
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return CERTIFICATE_FAULT.test(code) ? 'untrusted' : 'unreachable';
}
