import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { contentHeaders, type ContentView } from '../domain/content/content-headers.ts';
import { inlineContent, readContent } from '../domain/content/read-content.ts';
import type { StoreDeps } from '../domain/store-deps.ts';
import type { ContentKey } from '../domain/encryption/content-key.ts';
import type { ReadRange } from '../domain/ports/blob-store.ts';
import type { FoundObject } from '../domain/ports/objects.ts';
import { respondEmpty, respondStream } from './respond.ts';

/**
 * The response head for an object's bytes. `contentHeaders` decides its headers, overriding the object and the request.
 * There is no other way to create one, and `sendContent` accepts nothing else.
 */
export class ContentHead {
  readonly #headers: OutgoingHttpHeaders;

  private constructor(headers: OutgoingHttpHeaders) {
    this.#headers = headers;
  }

  /** `headers` are lower case. Headers that decide how a browser interprets the bytes are replaced. */
  static decide(headers: OutgoingHttpHeaders, view: ContentView): ContentHead {
    const disposition = headers['content-disposition'];
    const stored = {
      contentType: String(headers['content-type'] ?? ''),
      contentDisposition: disposition === undefined ? null : String(disposition),
    };
    return new ContentHead({ ...headers, ...contentHeaders(stored, view) });
  }

  get headers(): OutgoingHttpHeaders {
    return this.#headers;
  }
}

/** Bytes that a download reads and writes in one turn. */
const DOWNLOAD_TURN_BYTES = 256 * 1024;

export interface SentContent {
  /** Workspace of the bucket, whose downloads take turns. */
  readonly workspaceUuid: string;
  readonly found: FoundObject;
  readonly key: ContentKey | null;
  readonly range: ReadRange;
  readonly status: number;
  readonly head: ContentHead;
  readonly isHead: boolean;
  /** Called right before the head is written, when the request can no longer fail. */
  readonly onStart?: () => void;
}

/** Responds with the bytes as fast as the client reads them. The only place that sends an object's bytes. */
export async function sendContent(
  deps: StoreDeps,
  response: ServerResponse,
  { workspaceUuid, found, key, range, status, head, isHead, onStart = () => undefined }: SentContent,
): Promise<void> {
  const length = range.endExclusive - range.start;
  const headers = { ...head.headers, 'content-length': length };
  if (isHead) {
    onStart();
    respondEmpty(response, status, headers);
    return;
  }
  if (length === 0 || found.inline !== null) {
    // Write head and body at once: two small segments would run into Nagle's algorithm and delayed acknowledgements.
    const body = inlineContent(found, key)?.subarray(range.start, range.endExclusive);
    onStart();
    response.writeHead(status, headers);
    response.end(body);
    return;
  }
  const content = readContent(deps, found, range, key);
  // Read the first chunk before writing the head, so that unreadable bytes cause an error response instead of a
  // truncated one.
  const first = await content.next();
  onStart();
  response.writeHead(status, headers);
  const turn = (): Promise<void> | undefined => deps.workspaceTraffic.turnOfDownload(workspaceUuid);
  await respondStream(response, inTurns(first, content, turn), length);
}

/** The client has these bytes already. Headers are repeated because caches update their stored ones. */
export function sendNotModified(response: ServerResponse, head: ContentHead, onStart?: () => void): void {
  const { 'content-type': _, ...headers } = head.headers;
  onStart?.();
  respondEmpty(response, 304, headers);
}

/** Yields `first` and the rest. Waits for a turn before pieces are read, decrypted and written. */
async function* inTurns(
  first: IteratorResult<Uint8Array>,
  rest: AsyncGenerator<Uint8Array>,
  turn: () => Promise<void> | undefined,
): AsyncGenerator<Uint8Array> {
  let untilTurn = 0;
  try {
    for (let next = first; next.done !== true; next = await rest.next()) {
      if (untilTurn <= 0) {
        await turn();
        untilTurn = DOWNLOAD_TURN_BYTES;
      }
      untilTurn -= next.value.length;
      yield next.value;
    }
  } finally {
    await rest.return(undefined);
  }
}
