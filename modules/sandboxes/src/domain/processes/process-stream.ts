import { exitStatusOf, type ExitStatus } from '../helper/exit-status.ts';
import type { HelperConnection, HelperRequest } from '../helper/helper-connection.ts';
import type { Channel, HelperStream } from '../helper/helper-stream.ts';
import { processError } from './process-errors.ts';

export interface ProcessOutput {
  /** 1 for stdout and a terminal, 2 for stderr. */
  readonly channel: Channel;
  readonly bytes: Buffer;
}

/**
 * The output of a process, from its start or from an attach on. The process waits for a stream that is not read, and
 * keeps running if the stream is closed.
 */
export class ProcessStream {
  readonly pid: number;
  readonly #stream: HelperStream;
  readonly #queue: OutputQueue;

  private constructor(stream: HelperStream, queue: OutputQueue, pid: number) {
    this.#stream = stream;
    this.#queue = queue;
    this.pid = pid;
  }

  /** Resolves once the process runs. Throws PROCESS_NOT_FOUND, COMMAND_NOT_FOUND and INVALID_FIELD. */
  static async open(connection: HelperConnection, request: HelperRequest): Promise<ProcessStream> {
    const queue = new OutputQueue();
    const started = Promise.withResolvers<number>();
    const stream = connection.start(request, {
      data: (bytes, channel) => queue.push(bytes, channel),
      event: ({ type, pid }) => {
        if (type === 'started') started.resolve(typeof pid === 'number' ? pid : 0);
      },
    });
    void stream.outcome.then((outcome) => {
      queue.end();
      if (!outcome.ok) started.reject(processError(outcome));
      else started.resolve(0);
    });
    return new ProcessStream(stream, queue, await started.promise);
  }

  /** Yields the output as it arrives. Ends after the last output, or when the stream is closed. */
  async *output(): AsyncGenerator<ProcessOutput, void> {
    for (;;) {
      const output = await this.#queue.next();
      if (output === null) return;
      yield output;
      this.#stream.consumed(output.bytes.length);
    }
  }

  /** Resolves when the process has ended. Throws if the sandbox stopped or the stream was closed first. */
  async exit(): Promise<ExitStatus> {
    const outcome = await this.#stream.outcome;
    if (!outcome.ok) throw processError(outcome);
    return exitStatusOf(outcome);
  }

  /** Ends the input of a process that was started by this stream. */
  finishInput(): void {
    this.#stream.finishInput();
  }

  signal(name: string): void {
    this.#stream.control({ type: 'signal', name });
  }

  /** Stops listening. The process keeps running. */
  close(): void {
    this.#queue.end();
    this.#stream.abandon();
  }
}

/** Output that has arrived and is not taken yet. The stream's window bounds it. */
class OutputQueue {
  readonly #waiting: ProcessOutput[] = [];
  #ended = false;
  #wake: (() => void) | null = null;

  push(bytes: Buffer, channel: Channel): void {
    // Copied, because the connection reuses the frame's buffer.
    this.#waiting.push({ channel, bytes: Buffer.from(bytes) });
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async next(): Promise<ProcessOutput | null> {
    for (;;) {
      const output = this.#waiting.shift();
      if (output !== undefined) return output;
      if (this.#ended) return null;
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = null;
    }
  }
}
