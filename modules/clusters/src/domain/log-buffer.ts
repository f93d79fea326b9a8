import type { CommandOutput } from '@svc/protocol';
import type { CommandOutcome } from './command.ts';
import { clusterErrors } from '../errors.ts';
import type { OutputReader } from './output-relays.ts';

export interface LogPiece {
  text: string;
  /** Bytes lost just before this piece: dropped here for a slow reader, or by the agent. */
  droppedBytes: number;
  /** Lines that the agent lost just before this piece because we did not read in time. */
  droppedLines: number;
  /** Position of its last line, for `resume_after`; absent if the agent sent none. */
  position?: string;
}

/**
 * Buffers logs between an agent and one reader. A slow reader loses the oldest pieces and learns how many bytes it
 * lost; the agent's channel never waits for it.
 */
export class LogBuffer implements OutputReader {
  readonly #pieces: LogPiece[] = [];
  readonly #maxSizeBytes: number;
  #sizeBytes = 0;
  #lostBytes = 0;
  #lostLines = 0;
  #outcome: CommandOutcome | undefined;
  #isLost = false;
  #wake: (() => void) | undefined;

  constructor(maxSizeBytes: number) {
    this.#maxSizeBytes = maxSizeBytes;
  }

  get outcome(): CommandOutcome | undefined {
    return this.#outcome;
  }

  output(output: CommandOutput): void {
    const text = output.encoding === 'base64' ? Buffer.from(output.data, 'base64').toString() : output.data;
    this.#pieces.push({
      text,
      droppedBytes: output.dropped_bytes ?? 0,
      droppedLines: output.dropped_lines ?? 0,
      ...(output.position === undefined ? {} : { position: output.position }),
    });
    this.#sizeBytes += text.length;
    while (this.#sizeBytes > this.#maxSizeBytes && this.#pieces.length > 1) this.#dropOldest();
    this.#wake?.();
  }

  end(outcome: CommandOutcome): void {
    this.#outcome = outcome;
    this.#wake?.();
  }

  lost(): void {
    this.#isLost = true;
    this.#wake?.();
  }

  /**
   * The next piece; null at the end; undefined if the signal aborted. Throws AGENT_MOVED once the buffer is empty if no
   * more can arrive.
   */
  async next(signal: AbortSignal): Promise<LogPiece | null | undefined> {
    while (!signal.aborted) {
      const piece = this.#pieces.shift();
      if (piece !== undefined) {
        this.#sizeBytes -= piece.text.length;
        const droppedBytes = piece.droppedBytes + this.#lostBytes;
        const droppedLines = piece.droppedLines + this.#lostLines;
        this.#lostBytes = 0;
        this.#lostLines = 0;
        return { ...piece, droppedBytes, droppedLines };
      }
      if (this.#outcome !== undefined) return null;
      if (this.#isLost) throw clusterErrors.AGENT_MOVED({ headers: { 'retry-after': '1' } });
      await this.#changed(signal);
    }
    return undefined;
  }

  #dropOldest(): void {
    const oldest = this.#pieces.shift();
    if (oldest === undefined) return;
    this.#sizeBytes -= oldest.text.length;
    this.#lostBytes += oldest.text.length + oldest.droppedBytes;
    this.#lostLines += oldest.droppedLines;
  }

  #changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#wake = undefined;
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#wake = done;
      signal.addEventListener('abort', done, { once: true });
    });
  }
}
