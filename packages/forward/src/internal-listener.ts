import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Server, TLSSocket, type SecureContextOptions } from 'node:tls';
import { toAppError } from '@svc/errors';
import {
  createListener,
  httpErrors,
  refuseUpgrade,
  renderFlatError,
  resolveRequestId,
  type Listener,
  type ListenerOptions,
} from '@svc/http';
import type { Forwarder, ReplicaIdentity } from './forwarder.ts';
import { HOP_HEADER } from './hop.ts';
import { isCertificateOf } from './peer-identity.ts';

/** A client's headers, which may be as large as the public listener accepts, plus those of the hop. */
const LIMITS = { maxHeaderSizeBytes: 64 * 1024 };
/** Of connections that have shown no certificate yet, so that strangers leave room for replicas. */
const MAX_HANDSHAKES = 1_000;

/** The listener for other replicas. */
export interface InternalListener extends Listener {
  /** Takes a new identity for new connections; open ones stay. */
  replaceIdentity(identity: ReplicaIdentity): void;
}

type Served = Required<Pick<ListenerOptions, 'handler' | 'onUpgrade'>>;

/**
 * Creates the listener for other replicas. It completes no handshake without a certificate of the authority, and passes
 * on only requests with a valid hop.
 */
export function createInternalListener(
  options: Served & Omit<ListenerOptions, 'tls'> & { identity: ReplicaIdentity; forwarder: Forwarder },
): InternalListener {
  const { identity, forwarder, handler, onUpgrade, ...others } = options;
  const names = new WeakMap<Duplex, string | undefined>(); // reading a certificate takes longer than verifying a hop
  const admit = (request: IncomingMessage): void => {
    const { socket } = request;
    if (!names.has(socket)) names.set(socket, subjectAltName(socket));
    forwarder.admit(request, (replica) => isCertificateOf(replica, names.get(socket)));
  };
  const listener = createListener({
    ...others,
    limits: { ...others.limits, ...LIMITS },
    shares: { ...others.shares, maxHandshakes: MAX_HANDSHAKES },
    tls: { ...contextFor(identity), requestCert: true, rejectUnauthorized: true },
    ...guarded({ handler, onUpgrade }, admit),
  });
  const { server } = listener;
  const replaceIdentity = (renewed: ReplicaIdentity): void => {
    if (server instanceof Server) server.setSecureContext(contextFor(renewed));
  };
  return { ...listener, replaceIdentity };
}

function contextFor({ ca, cert, key }: ReplicaIdentity): SecureContextOptions {
  return { ca: [...ca], cert, key, minVersion: 'TLSv1.3' };
}

/** Refuses requests with a hop header: on a public listener, none comes from a replica. */
export function refuseHops<Options extends Partial<Served>>(served: Options & Pick<Served, 'handler'>): Options {
  const refuse = ({ headers }: IncomingMessage): void => {
    if (headers[HOP_HEADER] === undefined) return;
    throw httpErrors.HOP_REFUSED({ details: { reason: 'only replicas may forward' } });
  };
  const { handler, onUpgrade } = served;
  const both = guarded({ handler, onUpgrade: onUpgrade ?? (() => undefined) }, refuse);
  return { ...served, handler: both.handler, ...(onUpgrade === undefined ? {} : { onUpgrade: both.onUpgrade }) };
}

/** Calls `check` before each request; its error is the answer. */
function guarded({ handler, onUpgrade }: Served, check: (request: IncomingMessage) => void): Served {
  return {
    handler: (request, response) => {
      try {
        check(request);
      } catch (error) {
        return refuse(request, response, error);
      }
      handler(request, response);
    },
    onUpgrade: (request, socket, head) => {
      try {
        check(request);
      } catch (error) {
        return refuseSocket(request, socket, error);
      }
      onUpgrade(request, socket, head);
    },
  };
}

function subjectAltName(socket: Duplex): string | undefined {
  return socket instanceof TLSSocket ? socket.getPeerCertificate().subjectaltname : undefined;
}

function refuse(request: IncomingMessage, response: ServerResponse, raw: unknown): void {
  const error = toAppError(raw);
  const requestId = resolveRequestId(request.headers);
  const body = JSON.stringify(renderFlatError(error, requestId));
  response.writeHead(error.status, {
    ...error.headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
    'cache-control': 'no-store',
    connection: 'close', // the body is not read
  });
  response.end(body);
}

function refuseSocket(request: IncomingMessage, socket: Duplex, error: unknown): void {
  socket.on('error', () => socket.destroy());
  refuseUpgrade(socket, error, resolveRequestId(request.headers), renderFlatError);
}
