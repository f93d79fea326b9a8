import type { IncomingMessage } from 'node:http';
import { endToEndHeaders, listMembers, type HeaderList } from '@svc/http/relay';
import type { TunnelRequest } from '@svc/protocol';

/** Never taken from a caller: the platform and this agent decide the identity. */
const DROPPED: ReadonlySet<string> = new Set(['authorization', 'cookie', 'host', 'forwarded', 'x-real-ip']);
const DROPPED_PREFIXES: readonly string[] = ['impersonate-', 'x-remote-', 'x-forwarded-', 'x-svc-'];
/** How browsers send a token to an API server in the WebSocket subprotocols. */
const BEARER_SUBPROTOCOL = /^base64url\.bearer\.authorization\.k8s\.io\./i;

export interface KubernetesIdentity {
  host: string;
  /** Credentials of the agent; null with a client certificate. */
  authorization: string | null;
  /** Absent = as the agent itself. */
  impersonate?: TunnelRequest;
}

/** Headers that the API server receives. */
export function kubernetesHeaders(request: IncomingMessage, identity: KubernetesIdentity): HeaderList {
  const kept = endToEndHeaders(request, isDropped);
  const headers: HeaderList = ['Host', identity.host];
  for (let index = 0; index + 1 < kept.length; index += 2) {
    const name = kept[index] ?? '';
    const value = kept[index + 1] ?? '';
    if (name.toLowerCase() !== 'sec-websocket-protocol') {
      headers.push(name, value);
      continue;
    }
    const protocols = listMembers(value).filter((protocol) => !BEARER_SUBPROTOCOL.test(protocol));
    if (protocols.length > 0) headers.push(name, protocols.join(', '));
  }
  if (identity.authorization !== null) headers.push('Authorization', identity.authorization);
  if (identity.impersonate !== undefined) {
    headers.push('Impersonate-User', identity.impersonate.user);
    headers.push('Impersonate-Group', `svc:role:${identity.impersonate.role}`);
  }
  return headers;
}

export function isDropped(name: string): boolean {
  return DROPPED.has(name) || DROPPED_PREFIXES.some((prefix) => name.startsWith(prefix));
}
