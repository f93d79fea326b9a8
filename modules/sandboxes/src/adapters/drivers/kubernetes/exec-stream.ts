import { Duplex } from 'node:stream';
import { isStatusError } from '@svc/kube';
import { openExec, type ExecRoute, type ExecTarget } from '@svc/kube/exec';
import { canEndInput, EXEC_CHANNELS, readExecEnd, type ExecEnd } from '@svc/kube/values';
import { messageBytes } from '@svc/link';
import { pause, type Clock } from '@svc/runtime';
import { WebSocket } from 'ws';
import { HELPER_PATH } from '../local/oci-config.ts';

const MAX_STATUS_BYTES = 64 * 1024;
const MAX_COMPLAINT_CHARACTERS = 1000;
const CLOSE_GRACE_MS = 2000;
const BRIDGE_RETRY_MS = 250;
/** Extra time to end programs beyond their grace period. */
const HALT_MARGIN_MS = 20_000;
const MAX_HALTS = 5;

/**
 * The standard streams of a process run by `pods/exec` without a terminal, as one duplex stream: writes go to stdin,
 * reads come from stdout. Each message starts with the byte of its channel.
 */
export class PodExecStream extends Duplex {
  readonly #socket: WebSocket;
  readonly #status: Buffer[] = [];
  #statusBytes = 0;
  #complaint = '';

  /** The socket must be open and paused; the stream owns it. */
  constructor(socket: WebSocket) {
    super({ allowHalfOpen: false });
    this.#socket = socket;
    socket.on('message', (data) => this.#receive(messageBytes(data)));
    socket.once('close', () => this.push(null)); // destroys the stream once everything is read
    socket.on('error', () => socket.terminate()); // `close` follows
  }

  /** The beginning of its standard error. */
  get complaint(): string {
    return this.#complaint.trim();
  }

  /** How the process ended; null if the connection broke first or has not ended. */
  get exitStatus(): ExecEnd | null {
    return this.#statusBytes === 0 ? null : readExecEnd(Buffer.concat(this.#status).toString('utf8'));
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#send(EXEC_CHANNELS.stdin, chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    if (canEndInput(this.#socket.protocol)) {
      this.#send(EXEC_CHANNELS.close, Buffer.of(EXEC_CHANNELS.stdin), done);
      return;
    }
    this.#close(); // the only way to end the input in version 4
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#close();
    done(error);
  }

  /** Calls back once the network has taken the message, which holds back the writer. */
  #send(channel: number, data: Buffer, done: (error?: Error | null) => void): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return done(); // `close` follows
    this.#socket.send(Buffer.concat([Buffer.of(channel), data]), () => done()); // after an error, `close` follows
  }

  #receive(data: Buffer): void {
    const body = data.subarray(1);
    switch (data[0]) {
      case EXEC_CHANNELS.stdout:
        if (body.length > 0 && !this.push(body)) this.#socket.pause();
        return;
      case EXEC_CHANNELS.stderr:
        if (this.#complaint.length < MAX_COMPLAINT_CHARACTERS) {
          this.#complaint += body.subarray(0, MAX_COMPLAINT_CHARACTERS).toString('utf8');
        }
        return;
      case EXEC_CHANNELS.status:
        if (body.length === 0 || this.#statusBytes + body.length > MAX_STATUS_BYTES) return;
        this.#status.push(Buffer.from(body)); // the message may be part of a larger block
        this.#statusBytes += body.length;
        return;
      default: // a channel of a later version
    }
  }

  #close(): void {
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    this.#socket.resume(); // a paused socket never reads the peer's close frame
    this.#socket.close(1000);
    const cut = setTimeout(() => this.#socket.terminate(), CLOSE_GRACE_MS);
    this.#socket.once('close', () => clearTimeout(cut));
  }
}

/** Connects to the helper of a pod. Waits for an API server that does not answer: its restart ends no sandbox. */
export async function openBridge(
  route: ExecRoute,
  target: Pick<ExecTarget, 'namespace' | 'pod' | 'container'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<PodExecStream> {
  const bridge = { ...target, command: [HELPER_PATH, 'bridge'], stdin: true, tty: false };
  for (;;) {
    try {
      return new PodExecStream(await openExec(route, bridge, { signal }));
    } catch (error) {
      const isFinal = isStatusError(error) && error.status < 500;
      if (isFinal || signal.aborted) throw error;
      await pause(clock, BRIDGE_RETRY_MS, signal);
    }
  }
}

/**
 * Runs a command in a container to its end, without input. Throws if the API server refuses or the connection breaks
 * first.
 */
export async function runInPod(
  route: ExecRoute,
  target: Omit<ExecTarget, 'stdin' | 'tty'>,
  signal: AbortSignal,
): Promise<ExecEnd> {
  const stream = new PodExecStream(await openExec(route, { ...target, stdin: false, tty: false }, { signal }));
  const closed = Promise.withResolvers<void>();
  stream.once('close', closed.resolve);
  stream.on('error', () => undefined); // `close` follows
  stream.resume();
  const abort = (): void => void stream.destroy();
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  await closed.promise;
  signal.removeEventListener('abort', abort);
  const end = stream.exitStatus;
  if (end !== null) return end;
  signal.throwIfAborted();
  throw new Error('the connection to the pod was lost');
}

/**
 * Ends everything in a container but the helper. Programs inside may kill the process that ends them, so it is started again,
 * without grace.
 */
export async function endPrograms(
  route: ExecRoute,
  target: Pick<ExecTarget, 'namespace' | 'pod' | 'container'>,
  graceMs: number,
): Promise<void> {
  const signal = AbortSignal.timeout(graceMs + HALT_MARGIN_MS);
  let graceLeftMs = graceMs;
  for (let attempt = 1; ; attempt += 1) {
    const end = await runInPod(route, { ...target, command: [HELPER_PATH, 'halt', String(graceLeftMs)] }, signal);
    if (!('exitCode' in end)) throw new Error(end.reason);
    if (end.exitCode === 0) return;
    if (attempt === MAX_HALTS) throw new Error(`its processes did not end (exit code ${end.exitCode})`);
    graceLeftMs = 0;
  }
}
