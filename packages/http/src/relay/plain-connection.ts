import type { BlockMemory, LendingStream } from '@svc/bytes';
import { answerBody, type AnswerBody } from './answer-body.ts';
import { MalformedAnswer, MAX_HEAD_BYTES, readAnswerHead, type AnswerHead } from './answer-head.ts';

/** Hears of one exchange. After `whole` or `failed` nothing more is said. */
export interface ExchangeEvents {
  head(head: AnswerHead): void;
  /** A piece of the body, lent for the moment of the call; false asks for a pause, until `resume` is called. */
  piece(bytes: Buffer): boolean;
  whole(trailers: readonly string[]): void;
  /** `atOnce`: not one byte of an answer came, so that a kept connection may just have been closed. */
  failed(error: Error, atOnce: boolean): void;
}

interface Exchange {
  method: string;
  events: ExchangeEvents;
  /** Null before the head is whole. */
  body: AnswerBody | null;
  isKept: boolean;
}

/**
 * HTTP/1.1 on one stream, one exchange after the other: requests without a body. Its listeners are attached once, which
 * is what a connection of `node:http` does anew for each request.
 */
export class PlainConnection {
  readonly #stream: LendingStream;
  /** Called when the connection is free again, or over. */
  readonly #onFree: (connection: PlainConnection) => void;
  readonly #onOver: (connection: PlainConnection) => void;
  #exchange: Exchange | null = null;
  #head: Buffer | null = null;
  #isOver = false;
  /** When it became free, on the clock of its owner. */
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

  /** Sends the head of a request that has no body. */
  ask(head: string, method: string, events: ExchangeEvents): void {
    this.#exchange = { method, events, body: null, isKept: false };
    this.#stream.write(head, 'latin1');
  }

  /** Of the stream, to pass bulk on in. */
  get memory(): BlockMemory {
    return this.#stream.memory;
  }

  resume(): void {
    this.#stream.lendMore();
  }

  /** Whoever asked has gone, or the answer is of no use. */
  destroy(): void {
    this.#exchange = null;
    this.#isOver = true;
    this.#onOver(this);
    this.#stream.destroy();
  }

  /** False asks for a pause. */
  #receive(bytes: Buffer): boolean {
    const exchange = this.#exchange;
    if (exchange === null) {
      this.destroy(); // nobody asked: what would come of it is no answer to the next request
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

  /** Answers what follows the head, null while it is not whole. Interim answers (1xx) are read over. */
  #receiveHead(exchange: Exchange, bytes: Buffer): Buffer | null {
    let rest = this.#head === null ? bytes : Buffer.concat([this.#head, bytes]);
    for (;;) {
      const head = readAnswerHead(rest, exchange.method);
      if (head === null) {
        // A copy: a slice would keep a whole network chunk alive for as long as the rest takes.
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
    if (this.#exchange !== exchange) return true; // whoever asked went away in the middle
    if (!body.isWhole) return wantsMore;
    this.#finish(exchange, body, rest.length === 0);
    return true;
  }

  #finish(exchange: Exchange, body: AnswerBody, isClean: boolean): void {
    this.#exchange = null;
    // Bytes that follow belong to no request: the next one would take them for its answer.
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
