import { Heartbeat, messageBytes, OutputCredit, TERMINAL_CLOSE_CODES } from '@svc/link';
import type { WebSocket } from 'ws';
import type { Outcome } from '../../domain/helper/helper-stream.ts';
import { exitStatusOf, type ExitStatus } from '../../domain/helper/exit-status.ts';
import type { SandboxNotice } from '../../domain/notice.ts';
import { parseCount } from '../../domain/terminal/count-of.ts';
import type { ClientInput, Framing, Message } from '../../domain/terminal/framing.ts';
import type { TerminalListener } from '../../domain/terminal/late-viewer.ts';
import type { ProcessStream } from '../../domain/terminal/process-stream.ts';
import type { Snapshot } from '../../domain/terminal/screens/session-screen.ts';
import type { SendBuffers } from '../../domain/terminal/send-buffers.ts';

/** Above this much pending input, the socket is not read, so that further input waits at the client. */
const MAX_PENDING_INPUT_BYTES = 1024 * 1024;
/** Input is acked in steps, not for each key. */
const ACKNOWLEDGE_EVERY_BYTES = 64 * 1024;
const INPUT_GRACE_MS = 1_000;

export interface TerminalConnectionOptions {
  readonly socket: WebSocket;
  readonly framing: Framing;
  /** Buffers that the framing uses. */
  readonly buffers: SendBuffers;
  readonly open: (listener: TerminalListener) => ProcessStream;
  /** Name of the session that outlives this client, or null. */
  readonly session: string | null;
  /** Of the connection that this one resumes; null if that is unknown. */
  readonly inputTakenBytes: number | null;
  readonly readOnly: boolean;
  readonly acknowledges: boolean;
  readonly cols: number;
  readonly rows: number;
  /** Called for every input, as activity of the sandbox. */
  readonly active: () => void;
  /** Called before anything is sent to the process. */
  readonly used: () => void;
  /** Returns how to close the socket after the sandbox was lost. */
  readonly lostClose: () => Promise<{ code: number; reason: string }>;
}

/** Connects one WebSocket to one process. Output waits in the sandbox for a slow client, input waits at the client. */
export class TerminalConnection {
  /** Resolves when the client has disconnected. */
  readonly closed: Promise<void>;
  /** Resolves when the process has ended, too. */
  readonly over: Promise<void>;
  readonly #options: TerminalConnectionOptions;
  readonly #stream: ProcessStream;
  readonly #credit: OutputCredit;
  readonly #heartbeat: Heartbeat;
  #screen: Snapshot | null = null;
  #input: Promise<unknown> = Promise.resolve();
  #pendingInputBytes = 0;
  #unacknowledgedBytes = 0;
  #takenBytes = 0;
  #takesInput = true;
  #hasStarted = false;

  constructor(options: TerminalConnectionOptions) {
    this.#options = options;
    const { socket, framing, acknowledges } = options;
    this.#credit = new OutputCredit(acknowledges, (bytes) => this.#stream.consumed(bytes));
    this.#stream = options.open({
      screen: (snapshot) => (this.#screen = snapshot),
      event: (event) => this.#handleEvent(event),
      data: (bytes, channel) => this.#send(framing.output(bytes, channel), bytes.length),
    });
    socket.on('message', (data, isBinary) => this.#receive(messageBytes(data), isBinary));
    this.#heartbeat = new Heartbeat(socket);
    socket.on('error', () => socket.terminate()); // `close` follows
    socket.once('close', () => this.#stream.abandon());
    this.closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    this.over = Promise.all([this.closed, this.#stream.outcome.then((outcome) => this.#end(outcome))]).then(
      () => undefined,
    );
  }

  /** Call it every 20 s: a client that answers neither of two pings is disconnected. */
  heartbeat(): void {
    this.#heartbeat.beat();
  }

  /** Before its process has started, the client knows nothing that could be announced. */
  notify(notice: SandboxNotice): void {
    if (this.#hasStarted) this.#send(this.#options.framing.notice(notice), 0);
  }

  close(code: number, reason: string): void {
    this.#options.socket.close(code, reason);
  }

  /** Closes the connection once its client knows how much of its input was taken, so that it can send the rest elsewhere. */
  async handOver(code: number, reason: string): Promise<void> {
    this.#takesInput = false;
    await this.#input;
    this.#reportTaken();
    this.close(code, reason);
  }

  /** Takes no more input. Resolves with the bytes that the process got. */
  async endInput(): Promise<number> {
    this.#takesInput = false;
    const gone = setTimeout(() => this.terminate(), INPUT_GRACE_MS); // a program that reads nothing holds its input back
    await this.#input;
    clearTimeout(gone);
    this.terminate();
    return this.#takenBytes;
  }

  terminate(): void {
    this.#options.socket.terminate();
  }

  #handleEvent(event: Readonly<Record<string, unknown>>): void {
    const { framing, socket } = this.#options;
    if (event['type'] === 'started') this.#started(event);
    if (event['type'] !== 'lagged') return;
    const told = framing.lagged(parseCount(event['bytes']));
    if (told === null) socket.close(TERMINAL_CLOSE_CODES.tooSlow, 'the client is too slow');
    else this.#send(told, 0);
  }

  #started({ pid, path, offset, end }: Readonly<Record<string, unknown>>): void {
    const { framing, cols, rows, session, inputTakenBytes } = this.#options;
    const from = parseCount(offset);
    const process = { pid: parseCount(pid), path: typeof path === 'string' ? path.slice(0, 4096) : '', cols, rows };
    const screen = this.#screen;
    this.#screen = null;
    this.#hasStarted = true;
    if (screen !== null) this.#credit.screen(screen.bytes.length);
    const output = { offset: from, end: Math.max(from, parseCount(end)), screen };
    this.#send(framing.started({ ...process, session, ...output, inputTakenBytes }), 0);
  }

  /** Counts the bytes as taken once the last of their frames has left this process. */
  #send(messages: readonly Message[], bytes: number): void {
    const { socket, buffers } = this.#options;
    this.#credit.send(bytes);
    if (socket.readyState !== socket.OPEN || messages.length === 0) {
      this.#credit.taken(bytes);
      return;
    }
    messages.forEach((message, index) => {
      const isLast = index === messages.length - 1;
      socket.send(message, { binary: typeof message !== 'string' }, () => {
        buffers.give(message);
        if (isLast) this.#credit.taken(bytes);
      });
    });
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const { framing, socket, readOnly } = this.#options;
    if (socket.readyState !== socket.OPEN) return; // closed by this side: ignore it
    this.#options.active();
    const input = framing.input(data, isBinary);
    switch (input.kind) {
      case 'ping':
        this.#send(framing.pong(), 0);
        return;
      case 'ack':
        this.#credit.acknowledge(input.bytes);
        return;
      case 'unusable':
        return;
      case 'violation':
        socket.close(TERMINAL_CLOSE_CODES.violation, input.reason);
        return;
      default:
        if (readOnly) this.#send(framing.readOnly(), 0);
        else this.#applyInput(input);
    }
  }

  /** What follows the end of the input is the client's to send again. */
  #applyInput(input: Extract<ClientInput, { kind: 'stdin' | 'resize' | 'signal' | 'eof' }>): void {
    if (!this.#takesInput) return;
    if (input.kind !== 'resize') this.#options.used(); // resizing a window is not activity
    switch (input.kind) {
      case 'stdin':
        this.#type(input.bytes);
        return;
      case 'resize':
        this.#stream.control({ type: 'resize', cols: input.cols, rows: input.rows });
        return;
      case 'signal':
        this.#stream.control({ type: 'signal', name: input.name });
        return;
      case 'eof':
        // Ordered after earlier input.
        this.#input = this.#input.then(() => this.#stream.finishInput());
    }
  }

  #type(bytes: Uint8Array): void {
    const { socket } = this.#options;
    this.#pendingInputBytes += bytes.length;
    if (this.#pendingInputBytes > MAX_PENDING_INPUT_BYTES) socket.pause();
    this.#input = this.#input
      .then(() => this.#stream.write(bytes))
      .then((isTaken) => {
        this.#pendingInputBytes -= bytes.length;
        if (isTaken) this.#acknowledge(bytes.length);
        if (this.#pendingInputBytes <= MAX_PENDING_INPUT_BYTES && socket.isPaused) socket.resume();
      });
  }

  #acknowledge(bytes: number): void {
    this.#takenBytes += bytes;
    this.#unacknowledgedBytes += bytes;
    if (this.#unacknowledgedBytes >= ACKNOWLEDGE_EVERY_BYTES) this.#reportTaken();
  }

  #reportTaken(): void {
    const { framing, acknowledges } = this.#options;
    if (acknowledges && this.#unacknowledgedBytes > 0) this.#send(framing.taken(this.#unacknowledgedBytes), 0);
    this.#unacknowledgedBytes = 0;
  }

  /** The socket already has all output, so the close comes after it. */
  async #end(outcome: Outcome): Promise<void> {
    const { socket, framing, lostClose } = this.#options;
    if (socket.isPaused) socket.resume(); // the close handshake must be read
    if (!outcome.ok && (outcome.code === 'LOST' || outcome.code === 'DETACHED' || outcome.code === 'ABORTED')) {
      if (socket.readyState !== socket.OPEN) return;
      const { code, reason } = await lostClose();
      await this.handOver(code, reason);
      return;
    }
    if (!outcome.ok && outcome.code === 'NO_SUCH_SESSION') {
      socket.close(TERMINAL_CLOSE_CODES.sessionEnded, 'the session has ended');
      return;
    }
    const status = exitStatusOf(outcome);
    this.#send(framing.exit(status), 0);
    socket.close(TERMINAL_CLOSE_CODES.ended, closeReason(status));
  }
}

/** A close reason is limited to 123 bytes (RFC 6455, section 5.5). */
function closeReason({ exitCode, signal, error }: ExitStatus): string {
  return JSON.stringify({
    exit_code: exitCode,
    ...(signal === null ? {} : { signal }),
    ...(error === null ? {} : { error: error.code }),
  });
}
