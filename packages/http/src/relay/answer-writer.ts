import type { ServerResponse } from 'node:http';
import { BlockWriter } from '@svc/bytes';
import type { AnswerHead } from './answer-head.ts';
import type { PlainConnection } from './plain-connection.ts';
import { endToEndTrailers, keptHeaders, type HeaderList } from './relay-headers.ts';
import type { RelayTarget } from './relay-request.ts';

/** A response up to this size is written as text together with its head: one write, and no off-heap memory. */
const SMALL_BYTES = 16 * 1024;

/** Writes the response of one exchange from borrowed bytes, which are valid only during each call. */
export class AnswerWriter {
  readonly #response: ServerResponse;
  readonly #target: Pick<RelayTarget, 'answerHeaders' | 'onAnswer'>;
  readonly #connection: PlainConnection;
  #hasFlushed = false;
  /** First piece of the body, held until more arrives; one character per byte. */
  #held = '';
  #bulk: BlockWriter | null = null;
  #isWhole = false;

  constructor(
    response: ServerResponse,
    target: Pick<RelayTarget, 'answerHeaders' | 'onAnswer'>,
    connection: PlainConnection,
  ) {
    this.#response = response;
    this.#target = target;
    this.#connection = connection;
  }

  begin(head: AnswerHead): void {
    const { onAnswer, answerHeaders } = this.#target;
    const headers: HeaderList = keptHeaders(head.headers, head.connection);
    onAnswer?.(head.status);
    this.#response.writeHead(head.status, head.reason, answerHeaders?.(headers) ?? headers);
    // Flush after the bytes that arrived with the head: a watch or an event stream may send its first byte much later.
    queueMicrotask(() => this.#flushHead());
  }

  /** Returns false to pause until the connection's `resume` is called. */
  write(bytes: Buffer): boolean {
    if (!this.#hasFlushed && this.#held === '' && bytes.length <= SMALL_BYTES) {
      this.#held = bytes.toString('latin1');
      return true;
    }
    this.#flushHead();
    this.#bulk ??= new BlockWriter(this.#response, this.#connection.memory, () => {
      if (!this.#isWhole) this.#connection.resume(); // otherwise it belongs to the next exchange
    });
    return this.#bulk.write(bytes);
  }

  end(trailers: readonly string[]): void {
    if (trailers.length > 0) this.#response.addTrailers(endToEndTrailers({ rawTrailers: trailers }));
    this.#isWhole = true;
    this.#hasFlushed = true;
    if (this.#bulk !== null) this.#bulk.flush(() => this.#response.end());
    else if (this.#held === '') this.#response.end();
    else this.#response.end(this.#held, 'latin1');
    this.#held = '';
  }

  #flushHead(): void {
    if (this.#hasFlushed || this.#response.destroyed) return;
    this.#hasFlushed = true;
    if (this.#held === '') this.#response.flushHeaders();
    else this.#response.write(this.#held, 'latin1');
    this.#held = '';
  }
}
