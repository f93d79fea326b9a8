import type { HelperConnection } from '../../helper/helper-connection.ts';
import { listSessions } from '../sessions.ts';
import type { ScreenAnswer, ScreenRefusal } from './screen-messages.ts';
import { ScreenThread } from './screen-thread.ts';
import { SessionScreen, type Snapshot } from './session-screen.ts';

/** Maximum number of screens in the thread; further sessions are replayed from the ring. */
const MAX_SCREENS = 64;
/** Bytes queued for the thread, for all sessions together. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
const MAX_DRAWING_MS = 20_000;

export interface SessionScreensOptions {
  readonly nowMs: () => number;
  readonly setTimer: (callback: () => void, delayMs: number) => () => void;
  /** Called when a screen is no longer kept; with `thread`, all screens are lost. */
  readonly failed: (reason: ScreenRefusal | 'limit' | 'thread', detail: Readonly<Record<string, unknown>>) => void;
}

/**
 * The screens of all sessions on this node, for clients that attach when the beginning is no longer in the ring. The
 * thread is loaded only once a session has produced half a ring of output.
 */
export class SessionScreens {
  readonly #options: SessionScreensOptions;
  readonly #followed = new Map<HelperConnection, Map<string, SessionScreen>>();
  readonly #byNumber = new Map<number, SessionScreen>();
  /** Screens known to the thread. */
  readonly #kept = new Set<number>();
  readonly #thread: ScreenThread;
  /** Sessions that crashed a thread. */
  readonly #refused = new WeakMap<HelperConnection, Set<string>>();
  #nextNumber = 1;

  constructor(options: SessionScreensOptions) {
    this.#options = options;
    this.#thread = new ScreenThread({
      setTimer: options.setTimer,
      answered: (answer) => this.#answered(answer),
      died: (reason, culprit) => this.#died(reason, culprit),
    });
  }

  /** Number of screens kept. */
  get size(): number {
    return this.#kept.size;
  }

  /**
   * Follows a session from now on, unless it is already followed. Call it for new sessions and whenever a client
   * attaches.
   */
  follow(connection: HelperConnection, session: string): SessionScreen | null {
    const sessions = this.#followed.get(connection) ?? this.#begin(connection);
    const known = sessions.get(session);
    if (known !== undefined) return known;
    if (this.#refused.get(connection)?.has(session) === true) return null;
    const number = this.#nextNumber;
    this.#nextNumber += 1;
    const screen: SessionScreen = new SessionScreen({
      number,
      connection,
      session,
      nowMs: this.#options.nowMs,
      setTimer: this.#options.setTimer,
      order: (order) => {
        if (order.kind === 'size' && !this.#hold(number, screen)) return;
        if (this.#kept.has(number)) this.#thread.order(order);
      },
      hasRoom: (bytes) => this.#waitingBytes() + bytes <= MAX_WAITING_BYTES,
      ended: () => this.#ended(number, sessions, session),
    });
    sessions.set(session, screen);
    this.#byNumber.set(number, screen);
    return screen;
  }

  /** Follows all sessions that survived in a reconnected sandbox. */
  async followAll(connection: HelperConnection): Promise<void> {
    const sessions = await listSessions(connection).catch(() => []);
    for (const { session } of sessions) this.follow(connection, session);
  }

  /** Returns null if the screen is not kept or is not drawn in time. */
  async snapshot(connection: HelperConnection, session: string, atLeast: number): Promise<Snapshot | null> {
    const screen = this.follow(connection, session);
    if (screen === null) return null;
    const late = Promise.withResolvers<null>();
    const cancel = this.#options.setTimer(() => late.resolve(null), MAX_DRAWING_MS);
    try {
      return await Promise.race([screen.snapshot(atLeast), late.promise]);
    } finally {
      cancel();
    }
  }

  async close(): Promise<void> {
    for (const screen of this.#byNumber.values()) screen.end();
    await this.#thread.stop();
  }

  #begin(connection: HelperConnection): Map<string, SessionScreen> {
    const sessions = new Map<string, SessionScreen>();
    this.#followed.set(connection, sessions);
    void connection.closed.then(() => this.#followed.delete(connection));
    return sessions;
  }

  #hold(number: number, screen: SessionScreen): boolean {
    if (this.#kept.has(number)) return true;
    if (this.#kept.size < MAX_SCREENS) {
      this.#kept.add(number);
      return true;
    }
    this.#options.failed('limit', { limit: MAX_SCREENS });
    screen.end();
    return false;
  }

  #answered(answer: ScreenAnswer): void {
    const screen = this.#byNumber.get(answer.screen);
    if (screen === undefined) return;
    if (answer.kind === 'refused') {
      this.#options.failed(answer.reason, { session: screen.session });
      this.#refuse(answer.screen);
    }
    screen.answered(answer);
  }

  #refuse(number: number): void {
    for (const [connection, sessions] of this.#followed) {
      for (const [session, screen] of sessions) {
        if (this.#byNumber.get(number) !== screen) continue;
        const refused = this.#refused.get(connection) ?? new Set();
        this.#refused.set(connection, refused.add(session));
      }
    }
  }

  /** Other screens restart from their rings when a client attaches. */
  #died(reason: string, culprit: number | null): void {
    this.#options.failed('thread', { cause: reason, screens: this.#kept.size });
    if (culprit !== null) this.#refuse(culprit);
    const held = [...this.#kept];
    this.#kept.clear();
    for (const number of held) this.#byNumber.get(number)?.end();
  }

  #ended(number: number, sessions: Map<string, SessionScreen>, session: string): void {
    this.#byNumber.delete(number);
    sessions.delete(session);
    this.#kept.delete(number);
    if (this.#kept.size === 0) void this.#thread.stop();
  }

  #waitingBytes(): number {
    let bytes = 0;
    for (const number of this.#kept) bytes += this.#byNumber.get(number)?.waitingBytes ?? 0;
    return bytes;
  }
}
