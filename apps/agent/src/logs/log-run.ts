import type { Readable } from 'node:stream';
import { fieldAt, isStatusError, type KubeClient, type KubeObject, type LogOptions } from '@svc/kube';
import type { LogsCommand, LogsResult } from '@svc/protocol';
import { pause, type Clock } from '@svc/runtime';
import { agentErrors } from '../errors.ts';
import { containerStatus } from '../pods/container-status.ts';
import { afterEnd, hasStableName } from './after-end.ts';
import { readLogLines, type LogLine } from './log-lines.ts';
import type { LogQueue } from './log-queue.ts';
import { ReadBefore, decodePlace } from './log-place.ts';
import { SeenLines } from './seen-lines.ts';

export interface LogRunOptions {
  client: KubeClient;
  clock: Clock;
  payload: LogsCommand;
  container: string;
  pod: KubeObject;
  queue: LogQueue;
  signal: AbortSignal;
}

const DEFAULT_TAIL_LINES = 100;
const MAX_TAIL_LINES = 10_000;
const MAX_LINE_BYTES = 64 * 1024;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;
/** How long a pod of a StatefulSet may take to return. */
const COME_BACK_MS = 120_000;

type EndReason = LogsResult['reason'];

/** The lines of one container, over as many streams as needed. */
export class LogRun {
  readonly #options: LogRunOptions;
  readonly #seen = new SeenLines();
  /** Lines that the caller already has from an earlier agent. */
  readonly #before: ReadBefore | null;
  readonly #tailLines: number;
  readonly #openedAt: string;
  #pod: KubeObject;
  #restarts: number;
  #lines = 0;
  #bytes = 0;
  #atLimit = false;
  #tailCapped = false;

  constructor(options: LogRunOptions) {
    this.#options = options;
    this.#pod = options.pod;
    this.#restarts = countRestarts(options.pod, options.container);
    this.#openedAt = options.clock.now().toISOString();
    const { tail_lines: wanted, since_time: time, since_seconds: seconds, resume_after: place } = options.payload;
    const decoded = place === undefined ? null : decodePlace(place);
    if (place !== undefined && decoded === null) {
      const reason = 'resume_after is not a position returned by this agent version';
      throw agentErrors.INVALID_REQUEST({ details: { field: 'resume_after', reason } });
    }
    this.#before = decoded === null ? null : new ReadBefore(decoded);
    const since = time !== undefined || seconds !== undefined;
    this.#tailLines = Math.min(wanted ?? (since ? MAX_TAIL_LINES : DEFAULT_TAIL_LINES), MAX_TAIL_LINES);
    this.#tailCapped = wanted !== undefined && wanted > MAX_TAIL_LINES;
  }

  result(reason: EndReason): LogsResult {
    const { queue, container } = this.#options;
    return {
      container,
      reason,
      lines: this.#lines,
      bytes: this.#bytes,
      dropped_lines: queue.droppedLines,
      truncated: this.#atLimit || queue.droppedLines > 0 || this.#tailCapped,
      ...(this.#seen.lastTime === '' ? {} : { last_timestamp: this.#seen.lastTime }),
    };
  }

  /** Reads the existing lines. A slow platform holds the reader back, so nothing is lost. */
  async once(): Promise<EndReason> {
    if (this.#tailLines === 0) return 'eof';
    const { queue, payload } = this.#options;
    const stream = await this.#open({ ...this.#beginning(), previous: payload.previous ?? false });
    for await (const line of readLogLines(stream, MAX_LINE_BYTES)) {
      if (!this.#take(line)) return 'limit';
      await queue.room();
    }
    return 'eof';
  }

  /**
   * Follows until the container is gone for good. Lines that arrive faster than the platform reads are dropped, oldest
   * first.
   */
  async follow(): Promise<EndReason> {
    let pauseMs = FIRST_PAUSE_MS;
    let options: LogOptions = this.#beginning();
    if (this.#before !== null && this.#restartedSince(this.#before.sinceTime)) {
      await this.#copy({ previous: true, sinceTime: this.#before.sinceTime });
    }
    for (;;) {
      const before = this.#lines;
      const broken = await this.#copy({ ...options, follow: true });
      if (this.#atLimit) return 'limit';
      this.#options.signal.throwIfAborted();
      const reason = await this.#reasonToEnd(broken);
      if (reason !== null) return reason;
      pauseMs = this.#lines > before ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      await pause(this.#options.clock, pauseMs, this.#options.signal);
      this.#options.signal.throwIfAborted();
      options = { sinceTime: this.#seen.lastTime || (this.#before?.sinceTime ?? this.#openedAt) };
      this.#seen.beginReplay();
    }
  }

  /** Reads one stream to its end. Returns true if it broke and the container may have written more. */
  async #copy(options: LogOptions): Promise<boolean> {
    const { signal } = this.#options;
    try {
      const stream = await this.#open(options);
      for await (const line of readLogLines(stream, MAX_LINE_BYTES)) if (!this.#take(line)) return false;
      return false;
    } catch (error) {
      signal.throwIfAborted();
      // 401 and 403 are permanent; a container waiting to start (400), a broken connection and a restarting server are
      // not.
      if (isStatusError(error, 403) || isStatusError(error, 401)) throw error;
      return true;
    }
  }

  async #reasonToEnd(broken: boolean): Promise<EndReason | null> {
    const { client, signal, container, payload } = this.#options;
    const reference = { apiVersion: 'v1', kind: 'Pod', namespace: payload.namespace, name: payload.pod };
    let pod: KubeObject | null;
    try {
      pod = await client.get(reference, signal);
    } catch {
      signal.throwIfAborted();
      return null; // the API server is down; the next attempt will show
    }
    const after = afterEnd(pod, container, hasStableName(this.#pod));
    if (after.next === 'wait_for_pod') return this.#waitForPod(reference);
    if (after.next === 'end') return after.reason;
    if (pod !== null) await this.#noteRestart(pod, broken);
    return null;
  }

  /** After a broken stream, also reads the rest of the previous instance. */
  async #noteRestart(pod: KubeObject, broken: boolean): Promise<void> {
    const restarts = countRestarts(pod, this.#options.container);
    const missed = broken && restarts > this.#restarts && this.#seen.lastTime !== '';
    this.#pod = pod;
    this.#restarts = restarts;
    if (!missed) return;
    this.#seen.beginReplay();
    await this.#copy({ previous: true, sinceTime: this.#seen.lastTime });
  }

  async #waitForPod(reference: { apiVersion: string; kind: string; namespace: string; name: string }) {
    const { client, clock, signal } = this.#options;
    const untilMs = clock.nowMs() + COME_BACK_MS;
    while (clock.nowMs() < untilMs) {
      await pause(clock, 1000, signal);
      signal.throwIfAborted();
      const pod = await client.get(reference, signal).catch(() => null);
      if (pod === null || pod.metadata.uid === this.#pod.metadata.uid) continue;
      this.#pod = pod;
      this.#restarts = countRestarts(pod, this.#options.container);
      return null;
    }
    return 'pod_deleted' as const;
  }

  /** True if the running container started after that line, while its reader was disconnected. */
  #restartedSince(time: string): boolean {
    const status = containerStatus(this.#pod, this.#options.container);
    const ended = fieldAt(status, 'lastState', 'terminated', 'finishedAt');
    // Kubernetes rounds down to whole seconds: the line may have been written earlier in the same one.
    return this.#restarts > 0 && typeof ended === 'string' && Date.parse(ended) + 1000 > Date.parse(time);
  }

  #beginning(): LogOptions {
    if (this.#before !== null) return { sinceTime: this.#before.sinceTime };
    const { since_time: sinceTime, since_seconds: sinceSeconds } = this.#options.payload;
    return {
      tailLines: this.#tailLines,
      ...(sinceTime === undefined ? {} : { sinceTime }),
      ...(sinceSeconds === undefined || sinceTime !== undefined ? {} : { sinceSeconds }),
    };
  }

  #open(options: LogOptions): Promise<Readable> {
    const { client, payload, container, signal } = this.#options;
    const pod = { namespace: payload.namespace, name: payload.pod };
    return client.logs(pod, { ...options, container, timestamps: true, signal });
  }

  /** Returns false once the caller's limit is reached. */
  #take(line: LogLine): boolean {
    const { payload, queue } = this.#options;
    if (this.#seen.isRepeated(line) || this.#before?.includes(line) === true) return true;
    const text =
      payload.timestamps === true && line.begins && line.time !== '' ? `${line.time} ${line.text}` : line.text;
    const sizeBytes = Buffer.byteLength(text);
    if (this.#bytes + sizeBytes > (payload.limit_bytes ?? Number.MAX_SAFE_INTEGER)) {
      this.#atLimit = true;
      return false;
    }
    this.#bytes += sizeBytes;
    if (line.begins) this.#lines += 1;
    queue.add(text, payload.follow === true ? this.#seen.place : null);
    return true;
  }
}

function countRestarts(pod: KubeObject, container: string): number {
  const count = fieldAt(containerStatus(pod, container), 'restartCount');
  return typeof count === 'number' ? count : 0;
}
