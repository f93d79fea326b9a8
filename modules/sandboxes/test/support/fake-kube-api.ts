import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ClusterAccess, KubeObject } from '@svc/kube';
import { WebSocketServer, type WebSocket } from 'ws';
import { createFrameDecoder, encodeJsonFrame, FrameType } from '../../src/domain/helper/frames.ts';

const KINDS: Readonly<Record<string, object>> = {
  '/version': { gitVersion: 'v1.34.0', major: '1', minor: '34' },
  '/api/v1': {
    resources: [
      { name: 'pods', kind: 'Pod', namespaced: true, verbs: ['list'] },
      { name: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim', namespaced: true, verbs: ['list'] },
    ],
  },
  '/apis/networking.k8s.io/v1': {
    resources: [{ name: 'networkpolicies', kind: 'NetworkPolicy', namespaced: true, verbs: ['list'] }],
  },
};

/** What an operation of a helper is answered with; undefined: not at all. */
export type HelperAnswer = { readonly result: object } | { readonly error: object } | undefined;

/** An API server that has pods and nothing else. Each pod has a helper, which a test plays. */
export class FakeKubeApi {
  readonly pods = new Map<string, KubeObject>();
  /** Whether new pods get a node at once. */
  schedules = true;
  /** Operations that helpers were asked for, and commands that were run, in order. */
  readonly asked: string[] = [];
  answer: (op: string) => HelperAnswer = () => ({ result: {} });
  readonly #server: Server;
  readonly #sockets: WebSocketServer;
  readonly #watches = new Set<ServerResponse>();
  #version = 1;

  constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#sockets = new WebSocketServer({ server: this.#server, handleProtocols: () => 'v5.channel.k8s.io' });
    this.#sockets.on('connection', (socket, request) => this.#exec(socket, request));
  }

  async open(): Promise<ClusterAccess> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const { port } = this.#server.address() as AddressInfo; // it listens on a port
    return {
      server: new URL(`http://127.0.0.1:${port}`),
      insecureSkipVerify: false,
      namespace: 'sandboxes',
      token: { current: () => Promise.resolve(null), invalidate: () => undefined },
    };
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Gives the waiting pods a node. */
  schedule(): void {
    this.schedules = true;
    for (const pod of this.pods.values()) this.#put(pod, 'MODIFIED');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://fake');
    const name = /\/pods\/([^/]+)$/.exec(pathname)?.[1];
    const send = (body: object): void => void response.end(JSON.stringify(body));
    const known = KINDS[pathname];
    if (known !== undefined) return send(known);
    if (searchParams.get('watch') !== null) {
      this.#watches.add(response);
      response.flushHeaders();
      return;
    }
    if (request.method === 'GET') {
      if (pathname.endsWith('/persistentvolumeclaims')) return send({ metadata: {}, items: [] });
      return send({ metadata: { resourceVersion: String(this.#version) }, items: [...this.pods.values()] });
    }
    if (request.method === 'DELETE') {
      const pod = this.pods.get(name ?? '');
      this.pods.delete(name ?? '');
      if (pod !== undefined) this.#notify('DELETED', pod);
      return send({ kind: 'Status', status: 'Success' });
    }
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const body = JSON.parse(text) as KubeObject; // of the driver
    if (!pathname.includes('/pods')) return send(body);
    const before = this.pods.get(name ?? '');
    const metadata = { ...before?.metadata, ...body.metadata };
    send(this.#put({ ...before, ...body, metadata }, before === undefined ? 'ADDED' : 'MODIFIED'));
  }

  #put(pod: KubeObject, type: 'ADDED' | 'MODIFIED'): KubeObject {
    const { name } = pod.metadata;
    this.#version += 1;
    const metadata = { ...pod.metadata, uid: `uid of ${name}`, resourceVersion: String(this.#version) };
    const unscheduled = { type: 'PodScheduled', status: 'False', message: 'no node has room' };
    const status = this.schedules
      ? { phase: 'Running', containerStatuses: [{ name: 'sandbox', state: { running: {} } }] }
      : { phase: 'Pending', conditions: [unscheduled] };
    const stored = { ...pod, metadata, status };
    this.pods.set(name, stored);
    this.#notify(type, stored);
    return stored;
  }

  #notify(type: string, object: KubeObject): void {
    for (const watch of this.#watches) watch.write(`${JSON.stringify({ type, object })}\n`);
  }

  #exec(socket: WebSocket, request: IncomingMessage): void {
    const command = new URL(request.url ?? '/', 'http://fake').searchParams.getAll('command').slice(1);
    if (command[0] === 'bridge') return this.#help(socket);
    this.asked.push(command.join(' '));
    socket.send(Buffer.concat([Buffer.of(3), Buffer.from('{"status":"Success"}')]));
    socket.close(1000);
  }

  #help(socket: WebSocket): void {
    const send = (frame: Buffer): void => socket.send(Buffer.concat([Buffer.of(1), frame]));
    const decoder = createFrameDecoder({
      frame: (type, stream, payload) => {
        if (type !== FrameType.open) return;
        const { op } = JSON.parse(payload.toString()) as { op: string }; // of the driver
        this.asked.push(op);
        const answer = this.answer(op);
        if (op === 'root.save') {
          send(encodeJsonFrame(FrameType.control, stream, { type: 'begun', architecture: 'amd64' }));
        }
        if (answer !== undefined) send(encodeJsonFrame(FrameType.end, stream, answer));
      },
      data: () => undefined,
    });
    socket.on('message', (data: Buffer) => {
      if (data[0] === 0) decoder.push(data.subarray(1));
    });
    send(encodeJsonFrame(FrameType.hello, 0, { protocol: 1, pid: 1, features: ['pause', 'root'] }));
  }
}
