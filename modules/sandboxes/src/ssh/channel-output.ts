import type { ServerChannel } from 'ssh2';
import type { Channel } from '../domain/helper/helper-stream.ts';

/** Fields in which ssh2 keeps the rest of a write that waited for the client's window, and its callback. */
const NO_REST = { _chunk: undefined, _chunkcb: undefined, _chunkErr: undefined, _chunkcbErr: undefined };

/**
 * Writes to a channel, one piece at a time in order: ssh2 resumes only one waiting write per channel, and it keeps the
 * rest of an earlier one, which it would send again in place of standard error.
 */
export class ChannelOutput {
  readonly #channel: ServerChannel;
  readonly #drained: () => Promise<void>;
  #last: Promise<void> = Promise.resolve();

  /** `drained` resolves once the connection accepts more data. */
  constructor(channel: ServerChannel, drained: () => Promise<void>) {
    this.#channel = channel;
    this.#drained = drained;
  }

  /**
   * Copies the bytes. Resolves when the client's window and the connection have taken them; never, if the channel closes
   * first.
   */
  write(bytes: Buffer, to: Channel): Promise<void> {
    const copy = Buffer.from(bytes);
    this.#last = this.#last.then(() => this.#send(copy, to));
    return this.#last;
  }

  /** Resolves when everything is written; never, if the channel closes first. */
  flushed(): Promise<void> {
    return this.#last;
  }

  async #send(bytes: Buffer, to: Channel): Promise<void> {
    const channel = this.#channel;
    Object.assign(channel, NO_REST);
    await new Promise<void>((resolve) => {
      (to === 1 ? channel : channel.stderr).write(bytes, () => resolve());
    });
    await this.#drained();
  }
}
