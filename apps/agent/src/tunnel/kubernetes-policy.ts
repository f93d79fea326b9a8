import type { IncomingMessage } from 'node:http';
import type { AgentConfig } from '../config/schema.ts';

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Subresources that lead into a container or past the API server, whatever the method. */
const WAYS_IN: ReadonlySet<string> = new Set(['exec', 'attach', 'portforward', 'proxy', 'ephemeralcontainers']);

type Rules = Pick<AgentConfig, 'policy' | 'tunnel'>;

/** Why this request must not reach the API server, or null. The server's RBAC decides after it. */
export function explainRefusal(request: IncomingMessage, role: string, { policy, tunnel }: Rules): string | null {
  const path = parsePath(request.url ?? '/');
  if (path === null) return 'the path is not in canonical form';
  const method = request.method ?? 'GET';
  const waysIn = path.words.find((word) => WAYS_IN.has(word));
  const isRead = READS.has(method) && waysIn === undefined;
  if (!isRead && policy.read_only) return 'this cluster is read-only by its policy';
  if (!isRead && tunnel.kubernetes.read_only_roles.includes(role)) return `the role ${role} may only read`;
  if (waysIn !== undefined && !policy.exec) return `${waysIn} is forbidden by the policy of this cluster`;
  if (path.readsLogs && !policy.logs) return 'logs are forbidden by the policy of this cluster';
  return namespaceRefusal(path, policy.namespaces);
}

function namespaceRefusal({ namespace, isResource }: KubernetesPath, allowed: readonly string[]): string | null {
  if (allowed.includes('*') || !isResource) return null; // discovery, versions and schemas reveal no objects
  if (namespace === null) return 'this cluster allows access to single namespaces only; specify one';
  return allowed.includes(namespace) ? null : `namespace ${namespace} is closed by the policy of this cluster`;
}

interface KubernetesPath {
  namespace: string | null;
  /** Names objects or kinds of objects, rather than just the API. */
  isResource: boolean;
  /**
   * Logs of a pod or the API server, or anything that a node's kubelet serves through `proxy`: the kubelet interprets
   * that path.
   */
  readsLogs: boolean;
  /** The path after an object's name: its subresource and beyond. */
  words: string[];
}

/** `/api/v1/...`, `/apis/GROUP/VERSION/...`; any other path is not a resource. Null for ambiguous paths. */
function parsePath(url: string): KubernetesPath | null {
  const parts = splitPath(url);
  if (parts === null) return null;
  const depth = parts[0] === 'api' ? 2 : parts[0] === 'apis' ? 3 : null;
  // Outside of both are /version, /openapi and the like, but also /logs of the node itself.
  if (depth === null) {
    const readsLogs = parts[0] === 'logs';
    return { namespace: null, isResource: readsLogs || parts[0] === 'debug', readsLogs, words: [] };
  }
  let rest = parts.slice(depth);
  const verb = rest[0] === 'watch' || rest[0] === 'proxy' ? [rest[0]] : [];
  rest = rest.slice(verb.length);
  if (rest.length === 0) return { namespace: null, isResource: false, readsLogs: false, words: [] };
  const [kind, name, ...inside] = rest;
  if (kind !== 'namespaces' || name === undefined) {
    const words = [...verb, ...inside];
    const readsLogs = words.includes('log') || (kind === 'nodes' && words.includes('proxy'));
    return { namespace: null, isResource: true, readsLogs, words };
  }
  // /namespaces/NS, /namespaces/NS/status and /namespaces/NS/KIND/NAME/SUBRESOURCE all belong to NS.
  const words = [...verb, ...inside.slice(2)];
  return { namespace: name, isResource: true, readsLogs: words.includes('log'), words };
}

/** The decoded parts of a path without slashes at its ends; null if two parsers could read it differently. */
export function splitPath(url: string): string[] | null {
  const text = url.split(/[?#]/, 1)[0] ?? '';
  let parts: string[];
  try {
    parts = text
      .replace(/^\/|\/$/g, '')
      .split('/')
      .map((part) => decodeURIComponent(part));
  } catch {
    return null;
  }
  const isPlain = parts.every((part) => part !== '.' && part !== '..' && !part.includes('/') && !part.includes('\\'));
  return isPlain && (text === '/' || !parts.includes('')) ? parts : null;
}
