import { PassThrough } from 'node:stream';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { whenClosed, type HttpApp } from '@svc/http';
import type { FastifyReply } from 'fastify';
import { sandboxErrors } from '../errors.ts';
import type { FileChange, FileWatch } from '../domain/files/file-watch.ts';
import { ownerOf, target, type FileRoutesOptions } from './file-routes.ts';
import { watchQuery } from './file-schemas.ts';

const HEARTBEAT_EVERY_MS = 15_000;
const MAX_WATCHES = 16;

/** Number of open watches per sandbox. */
export class WatchCounts {
  readonly #counts = new Map<string, number>();

  /** Returns the function that releases the watch. Throws TOO_MANY_WATCHES. */
  take(id: string): () => void {
    const count = this.#counts.get(id) ?? 0;
    if (count >= MAX_WATCHES) throw sandboxErrors.TOO_MANY_WATCHES({ details: { limit: MAX_WATCHES } });
    this.#counts.set(id, count + 1);
    return () => {
      const left = (this.#counts.get(id) ?? 1) - 1;
      if (left === 0) this.#counts.delete(id);
      else this.#counts.set(id, left);
    };
  }
}

export interface WatchRoutesOptions extends FileRoutesOptions {
  readonly watches: WatchCounts;
}

export function registerWatchRoutes(app: HttpApp, { prefix, files, owner, watches }: WatchRoutesOptions): void {
  app.get(
    `${prefix}/:${owner.key}/files/watch`,
    {
      config: owner.reads,
      schema: {
        tags: owner.tags,
        summary: 'Stream the changes of a file or folder as server-sent events',
        description:
          'The stream starts with `watching {path, recursive, folders}`. It continues with `created`, `changed`, ' +
          '`removed` and `moved`, each `{path, is_dir, from?}`, and `overflow {reason}` if changes were missed. It ' +
          'ends when the watched path is gone. A file written through this API is reported as `changed`, even if ' +
          'it is new.',
        params: owner.params,
        querystring: watchQuery,
      },
    },
    async (request, reply) => {
      const { of, path } = await target(request, owner, files);
      const { recursive = false } = request.query;
      const release = watches.take(ownerOf(request, owner));
      whenClosed(reply.raw, release);
      const watch = await of.watch(path, { recursive });
      if (reply.raw.destroyed) watch.close(); // the client disconnected while it was opened
      return sendChanges(reply, watch, { path, recursive, folders: watch.folders });
    },
  );
}

function sendChanges(reply: FastifyReply, watch: FileWatch, facts: Readonly<Record<string, unknown>>): FastifyReply {
  const out = new PassThrough();
  const over = new AbortController();
  out.on('error', () => undefined); // the client disconnected; `close` of the response ends the watch
  whenClosed(reply.raw, () => {
    over.abort();
    watch.close();
    out.destroy();
  });
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' };
  out.write(`event: watching\ndata: ${JSON.stringify(facts)}\n\n`);
  void beat(out, over.signal);
  void pass(watch, out).finally(() => {
    over.abort();
    out.end();
  });
  return reply.headers(headers).send(out);
}

/** Sends changes one at a time, so that a slow client fills the sandbox's queue and none of our memory. */
async function pass(watch: FileWatch, out: PassThrough): Promise<void> {
  try {
    for await (const change of watch.changes()) {
      const text = `event: ${change.type}\ndata: ${JSON.stringify(render(change))}\n\n`;
      await new Promise<void>((resolve, reject) => out.write(text, (error) => (error ? reject(error) : resolve())));
    }
  } catch {
    watch.close(); // the client disconnected, or the helper violated the protocol
  }
}

async function beat(out: PassThrough, signal: AbortSignal): Promise<void> {
  const pause = (): Promise<boolean> => sleepFor(HEARTBEAT_EVERY_MS, true, { signal, ref: false }).catch(() => false);
  while (await pause()) if (!out.writableNeedDrain) out.write(': still watching\n\n');
}

function render(change: FileChange): Readonly<Record<string, unknown>> {
  if (change.type === 'overflow') return { reason: change.reason };
  return {
    path: change.path,
    is_dir: change.isDir,
    ...(change.pathBase64 === null ? {} : { path_b64: change.pathBase64 }),
    ...(change.from === null ? {} : { from: change.from }),
  };
}
