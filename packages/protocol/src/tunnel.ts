/** Path of the agents' second connection. */
export const TUNNEL_PATH = '/v1/agent/tunnel';

/** The API server, the only service that is not a configured forward. */
export const KUBERNETES_SERVICE = 'kubernetes';

/**
 * The API server as the platform's driver of sandboxes uses it: only what sandboxes need, in one namespace. The agent
 * offers it if its configuration enables sandboxes.
 */
export const SANDBOXES_SERVICE = 'svc-sandboxes';

/** Path at which that service describes where sandboxes run in the cluster, as a `SandboxProfile`. */
export const SANDBOX_PROFILE_PATH = '/svc/sandboxes';

/** Where and how sandboxes run in a cluster, as its agent's configuration says. */
export interface SandboxProfile {
  /** Has nothing but sandboxes. */
  namespace: string;
  /** Image that brings the helper into each pod. */
  helper_image: string;
  /** Secret in the namespace with the credentials for pulling images. */
  pull_secret: string | null;
  runtime_class: string | null;
  gvisor_runtime_class: string | null;
  /** StorageClass of the claims with the files of sandboxes; null: pods have their files. Absent in earlier agents. */
  storage_class?: string | null;
  user_namespaces: boolean;
  /** IPv4 resolvers of sandboxes with egress; without any, there is no egress. */
  nameservers: string[];
  denied_networks: string[];
  network_policies: 'verify' | 'trust';
}

/** Why a tunnel ended, as the code of its GOAWAY. */
export const TUNNEL_CLOSE_CODES = {
  /** A newer tunnel of the same cluster took over: do not compete with it. */
  replaced: 256,
  /** The token was revoked or rotated. */
  unauthorized: 257,
  /** The cluster was deleted. */
  forbidden: 258,
} as const;

/** Why an agent refused a stream, as the code of its RESET. The reason is a sentence for the caller. */
export const TUNNEL_STREAM_CODES = {
  unknownService: 300,
  /** Connection refused, unknown host or no route. */
  unreachable: 301,
  timedOut: 302,
  /** The platform's request violates this protocol. */
  malformed: 303,
} as const;

/** Metadata of a stream, as JSON: the service and the user. Never a host or port. */
export interface TunnelRequest {
  service: string;
  /** `svc:user:<id>`, the user to impersonate at the API server; `svc:sandboxes` for the driver of sandboxes. */
  user: string;
  /** The user's role in the cluster's workspace; `sandboxes` for the driver of sandboxes. */
  role: string;
}

const SERVICE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const NAME = /^[\x21-\x7e]{1,256}$/;

/** Whether the text is the name of a service that users may reach. */
export function isServiceName(text: string): boolean {
  return SERVICE.test(text) && text !== SANDBOXES_SERVICE;
}

/** Encodes the metadata of a stream. */
export function encodeTunnelRequest({ service, user, role }: TunnelRequest): Buffer {
  return Buffer.from(JSON.stringify({ service, user, role }));
}

/** Returns null if invalid. Ignores unknown fields, for forward compatibility. */
export function decodeTunnelRequest(metadata: Buffer): TunnelRequest | null {
  let value: unknown;
  try {
    value = JSON.parse(metadata.toString('utf8'));
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { service, user, role } = value as Record<string, unknown>; // each field is checked below
  if (typeof service !== 'string' || !SERVICE.test(service)) return null;
  if (typeof user !== 'string' || !NAME.test(user)) return null;
  if (typeof role !== 'string' || !NAME.test(role)) return null;
  return { service, user, role };
}
