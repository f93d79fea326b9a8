import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

type Json = Record<string, unknown>;

const KINDS: Readonly<Record<string, Json[]>> = {
  '/api/v1': [
    { name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs: ['get', 'patch'] },
    { name: 'pods', kind: 'Pod', namespaced: true, verbs: ['get'] },
  ],
  '/apis/apps/v1': [{ name: 'deployments', kind: 'Deployment', namespaced: true, verbs: ['get', 'patch'] }],
  '/apis/autoscaling/v2': [
    { name: 'horizontalpodautoscalers', kind: 'HorizontalPodAutoscaler', namespaced: true, verbs: ['get', 'patch'] },
  ],
};

/**
 * The part of an API server that a deploy of config maps and deployments needs: discovery, get, and a server-side apply
 * that replaces what the body names and is a no-op if nothing changes.
 */
export class PlayedKubernetes {
  /** Stored objects by path. */
  readonly objects = new Map<string, Json>();
  /** Paths of applies that changed something. */
  readonly changes: string[] = [];
  readonly #server: Server;
  readonly #held = new Map<string, () => void>();
  #version = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<PlayedKubernetes> {
    const server = createServer((request, response) => void played.#answer(request, response));
    const played = new PlayedKubernetes(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return played;
  }

  /** Kubeconfig for this server, without credentials. */
  get kubeconfig(): string {
    const { port } = this.#server.address() as AddressInfo; // TCP: never a string
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'played',
      clusters: [{ name: 'played', cluster: { server: `http://127.0.0.1:${port}` } }],
      users: [{ name: 'played', user: {} }],
      contexts: [{ name: 'played', context: { cluster: 'played', user: 'played' } }],
    });
  }

  /** Sets a status like a controller. */
  setStatus(path: string, status: Json): void {
    const object = this.objects.get(path);
    if (object === undefined) throw new Error(`there is no ${path}`);
    this.#version += 1;
    this.objects.set(path, {
      ...object,
      metadata: { ...(object['metadata'] as Json), resourceVersion: `${this.#version}` },
      status,
    });
  }

  /** Leaves requests to this path unanswered; resolves with the first one. */
  hold(path: string): Promise<void> {
    return new Promise((resolve) => this.#held.set(path, resolve));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://played');
    const held = this.#held.get(url.pathname);
    if (held !== undefined) return held();
    const [status, body] = await this.#result(request, url);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  async #result(request: IncomingMessage, { pathname, searchParams }: URL): Promise<[number, Json]> {
    if (pathname === '/version') return [200, { gitVersion: 'v1.33.0' }];
    if (pathname === '/api') return [200, { versions: ['v1'] }];
    const kinds = KINDS[pathname];
    if (kinds !== undefined) return [200, { resources: kinds }];
    const known = this.objects.get(pathname);
    if (request.method === 'PATCH') {
      const wanted = (await json(request)) as Json; // the agent applies JSON objects
      return this.#apply(pathname, known, wanted, searchParams.has('dryRun'));
    }
    if (request.method === 'GET' && known !== undefined) return [200, known];
    return [404, { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404, message: 'not found' }];
  }

  #apply(path: string, known: Json | undefined, wanted: Json, dryRun: boolean): [number, Json] {
    const { metadata: before, status, ...rest } = known ?? {};
    const { metadata, ...content } = wanted;
    const server = (before ?? { uid: `uid-${path}`, generation: 1, resourceVersion: '0' }) as Json;
    const isSame = known !== undefined && JSON.stringify({ ...rest, ...content }) === JSON.stringify(rest);
    if (isSame) return [200, known];
    const resourceVersion = String(this.#version + 1);
    const object = {
      ...content,
      metadata: { ...server, ...(metadata as Json), resourceVersion },
      ...(status === undefined ? {} : { status }),
    };
    if (!dryRun) {
      this.#version += 1;
      this.objects.set(path, object);
      this.changes.push(path);
    }
    return [known === undefined ? 201 : 200, object];
  }
}
