import { MUX_CODES, MuxError, ProtocolViolation } from './errors.ts';
import { MAX_STREAM_ID } from './frames.ts';
import type { SessionStream } from './stream.ts';

/** Open streams, used ids and the next free id. */
export class StreamTable {
  readonly #streams = new Map<number, SessionStream>();
  #nextOwnId: number;
  #lastPeerId = 0;
  #ownCount = 0;

  constructor(role: 'client' | 'server') {
    this.#nextOwnId = role === 'client' ? 1 : 2;
  }

  get size(): number {
    return this.#streams.size;
  }

  get ownCount(): number {
    return this.#ownCount;
  }

  get peerCount(): number {
    return this.#streams.size - this.#ownCount;
  }

  all(): SessionStream[] {
    return [...this.#streams.values()];
  }

  takeId(): number {
    if (this.#nextOwnId > MAX_STREAM_ID)
      throw new MuxError(MUX_CODES.REFUSED, 'this connection has used up its stream ids');
    const id = this.#nextOwnId;
    this.#nextOwnId += 2;
    return id;
  }

  /** Records the id of a stream opened by the peer; throws if the id is not allowed. */
  takePeerId(id: number): void {
    if (this.#isOwn(id) || id <= this.#lastPeerId || id > MAX_STREAM_ID) {
      throw new ProtocolViolation(MUX_CODES.PROTOCOL_ERROR, `stream ${id} cannot be opened`);
    }
    this.#lastPeerId = id;
  }

  add(stream: SessionStream): void {
    this.#streams.set(stream.id, stream);
    if (stream.isOwn) this.#ownCount += 1;
  }

  remove(stream: SessionStream): void {
    if (this.#streams.delete(stream.id) && stream.isOwn) this.#ownCount -= 1;
  }

  /** Returns undefined for an ended stream; throws if the id was never used. */
  find(id: number): SessionStream | undefined {
    const stream = this.#streams.get(id);
    if (stream !== undefined) return stream;
    const wasOpened = this.#isOwn(id) ? id < this.#nextOwnId : id <= this.#lastPeerId;
    if (!wasOpened) throw new ProtocolViolation(MUX_CODES.PROTOCOL_ERROR, `stream ${id} was never opened`);
    return undefined;
  }

  #isOwn(id: number): boolean {
    return id % 2 === this.#nextOwnId % 2;
  }
}
