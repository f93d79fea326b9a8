import type { BlockMemory, LendingStream } from '@svc/bytes';
import { answerBody, type AnswerBody } from './answer-body.ts';
import { MalformedAnswer, MAX_HEAD_BYTES, readAnswerHead, type AnswerHead } from './answer-head.ts';

/** A request as it is sent. */
export interface SentRequest {
  readonly method: string;
  /** With the empty line at its end; one character per byte. */
  readonly head: string;
  readonly body?: Buffer;
}

/** Events of one exchange. None follow `whole` or `failed`. */
export interface ExchangeEvents {
  head(head: AnswerHead): void;
  /** A piece of the body, valid only during the call. Return false to pause until `resume`. */
  piece(bytes: Buffer): boolean;
  whole(trailers: readonly string[]): void;
  /** `atOnce`: no byte of a response arrived, so the server may just have closed a kept connection. */
  failed(error: Error, atOnce: boolean): void;
}

interface Exchange {
  method: string;
  events: ExchangeEvents;
  /** Null until the head is complete. */
  body: AnswerBody | null;
  isKept: boolean;
}

/**
 * HTTP/1.1 client on one stream, for sequential requests without a body or with a small one. Attaches its listeners once; `node:http`
 * attaches them for each request.
 */
export class PlainConnection {
  readonly #stream: LendingStream;
  /** Called when the connection is idle again, or closed. */
  readonly #onFree: (connection: PlainConnection) => void;
  readonly #onOver: (connection: PlainConnection) => void;
  #exchange: Exchange | null = null;
  #head: Buffer | null = null;
  #isOver = false;
  /** When it became idle, on the owner's clock. */
  freeSinceMs = 0;

  constructor(
    stream: LendingStream,
    onFree: (connection: PlainConnection) => void,
    onOver: (connection: PlainConnection) => void,
  ) {
    this.#stream = stream;
    this.#onFree = onFree;
    this.#onOver = onOver;
    let failure: Error | null = null;
    stream.lend((bytes) => this.#receive(bytes));
    stream.on('error', (error: Error) => (failure = error));
    stream.on('end', () => this.#ended());
    stream.on('close', () => this.#over(failure ?? new Error('the connection was closed')));
  }

  get isOpen(): boolean {
    return !this.#isOver && !this.#stream.destroyed && !this.#stream.readableEnded;
  }

  /** Sends a request, in one write. */
  ask({ method, head, body }: SentRequest, events: ExchangeEvents): void {
    this.#exchange = { method, events, body: null, isKept: false };
    if (body === undefined) this.#stream.write(head, 'latin1');
    else this.#stream.write(Buffer.concat([Buffer.from(head, 'latin1'), body]));
  }

  /** Block memory of the stream, for passing on large bodies. */
  get memory(): BlockMemory {
    return this.#stream.memory;
  }

  resume(): void {
    this.#stream.lendMore();
  }

  /** Closes the connection because the caller left or its response is useless. */
  destroy(): void {
    this.#exchange = null;
    this.#isOver = true;
    this.#onOver(this);
    this.#stream.destroy();
  }

  /** Returns false to pause. */
  #receive(bytes: Buffer): boolean {
    const exchange = this.#exchange;
    if (exchange === null) {
      this.destroy(); // an unsolicited response must not answer the next request
      return true;
    }
    try {
      let rest: Buffer | null = bytes;
      if (exchange.body === null) rest = this.#receiveHead(exchange, bytes);
      return rest === null || exchange.body === null || this.#receiveBody(exchange, exchange.body, rest);
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
      return true;
    }
  }

  /** Returns the bytes after the head, or null if it is incomplete. Skips interim responses (1xx). */
  #receiveHead(exchange: Exchange, bytes: Buffer): Buffer | null {
    let rest = this.#head === null ? bytes : Buffer.concat([this.#head, bytes]);
    for (;;) {
      const head = readAnswerHead(rest, exchange.method);
      if (head === null) {
        // Copy: a slice would keep a whole network chunk alive until the rest arrives.
        this.#head = Buffer.from(rest.subarray(0, MAX_HEAD_BYTES + 1));
        return null;
      }
      rest = rest.subarray(head.sizeBytes);
      if (head.status === 101) throw new MalformedAnswer('another protocol was not asked for');
      if (head.status < 200) continue;
      this.#head = null;
      exchange.body = answerBody(head.length);
      exchange.isKept = head.isHttp11 && head.length !== 'end' && !/\bclose\b/.test(head.connection);
      exchange.events.head(head);
      return rest;
    }
  }

  #receiveBody(exchange: Exchange, body: AnswerBody, bytes: Buffer): boolean {
    let wantsMore = true;
    const rest = body.push(bytes, (piece) => {
      if (!exchange.events.piece(piece)) wantsMore = false;
    });
    if (this.#exchange !== exchange) return true; // the caller left in the meantime
    if (!body.isWhole) return wantsMore;
    this.#finish(exchange, body, rest.length === 0);
    return true;
  }

  #finish(exchange: Exchange, body: AnswerBody, isClean: boolean): void {
    this.#exchange = null;
    // Surplus bytes would be taken for the next request's response.
    if (exchange.isKept && isClean && this.isOpen) this.#onFree(this);
    else this.destroy();
    exchange.events.whole(body.trailers);
  }

  #ended(): void {
    const exchange = this.#exchange;
    if (exchange?.body?.endsWithConnection === true) this.#finish(exchange, exchange.body, true);
    else this.#fail(new Error('the connection was closed'));
  }

  #over(error: Error): void {
    if (!this.#isOver) this.#fail(error);
  }

  #fail(error: Error): void {
    const exchange = this.#exchange;
    const atOnce = exchange?.body === null && this.#head === null && !(error instanceof MalformedAnswer);
    this.destroy();
    exchange?.events.failed(error, atOnce);
  }
}
