/** Where agents open their second connection. */
export const TUNNEL_PATH = '/v1/agent/tunnel';

/** The one service that is no configured forward: the API server. */
export const KUBERNETES_SERVICE = 'kubernetes';

/** Why a tunnel was ended, as the code of its GOAWAY. */
export const TUNNEL_CLOSE_CODES = {
  /** A newer tunnel of the same cluster took over: do not fight it. */
  replaced: 256,
  /** The token was revoked or rotated. */
  unauthorized: 257,
  /** The cluster was removed. */
  forbidden: 258,
} as const;

/** Why an agent does not serve a stream, as the code of its RESET. The reason is a sentence for the caller. */
export const TUNNEL_STREAM_CODES = {
  unknownService: 300,
  /** Nobody listens there, no such name, no route. */
  unreachable: 301,
  timedOut: 302,
  /** What the platform asked for is no request of this document. */
  malformed: 303,
} as const;

/** The metadata of a stream, as JSON: which service, and for whom. A host or a port is never part of it. */
export interface TunnelRequest {
  service: string;
  /** `svc:user:<id>`; whom the API server may be told of. */
  user: string;
  /** Role of that user in the workspace of the cluster. */
  role: string;
}

const SERVICE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const NAME = /^[\x21-\x7e]{1,256}$/;

/** Whether the text can be the name of a service at all. */
export function isServiceName(text: string): boolean {
  return SERVICE.test(text);
}

export function encodeTunnelRequest({ service, user, role }: TunnelRequest): Buffer {
  return Buffer.from(JSON.stringify({ service, user, role }));
}

/** Null for anything that is no request. Unknown fields are for later and are ignored. */
export function decodeTunnelRequest(metadata: Buffer): TunnelRequest | null {
  let value: unknown;
  try {
    value = JSON.parse(metadata.toString('utf8'));
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { service, user, role } = value as Record<string, unknown>; // each field is looked at below
  if (typeof service !== 'string' || !SERVICE.test(service)) return null;
  if (typeof user !== 'string' || !NAME.test(user)) return null;
  if (typeof role !== 'string' || !NAME.test(role)) return null;
  return { service, user, role };
}
