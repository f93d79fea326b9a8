import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { UpgradeRequest, UpgradeRoute } from '@svc/http';
import { TERMINAL_CLOSE_CODES } from '@svc/link';
import type { Clock, Random } from '@svc/runtime';
import { WebSocketServer, type WebSocket } from 'ws';
import { processEnvironment } from '../../domain/egress-rules/process-environment.ts';
import type { HelperConnection } from '../../domain/helper/helper-connection.ts';
import type { LiveSandboxes } from '../../domain/live-sandboxes.ts';
import type { SandboxNotice } from '../../domain/notice.ts';
import type { Sandbox } from '../../domain/sandbox.ts';
import type { EventRecorder } from '../../domain/events/event-recorder.ts';
import type { SandboxService } from '../../domain/sandbox-service.ts';
import { sandboxErrors } from '../../errors.ts';
import { selectProtocol } from './credentials.ts';
import { defaultFraming } from '../../domain/terminal/default-framing.ts';
import { findSession, sessionRequests } from '../../domain/terminal/find-session.ts';
import { LateViewer, type TerminalListener } from '../../domain/terminal/late-viewer.ts';
import { isTerminalPath, parseTerminalRequest, type TerminalRequest } from '../../domain/terminal/terminal-request.ts';
import type { ProcessStream } from '../../domain/terminal/process-stream.ts';
import type { SessionScreens } from '../../domain/terminal/screens/session-screens.ts';
import { SendBuffers } from '../../domain/terminal/send-buffers.ts';
import { SessionStream } from '../../domain/terminal/session-stream.ts';
import { recordTerminal } from '../../domain/terminal/terminal-events.ts';
import type { Admitted, TerminalAdmission } from './terminal-admission.ts';
import type { TerminalSlots } from '../../domain/terminal/terminal-slots.ts';
import { TerminalConnection } from './terminal-connection.ts';
import { TypedInput } from '../../domain/terminal/typed-input.ts';
import { SANDBOX_V1, v1Framing } from '../../domain/terminal/v1-framing.ts';

const HOLD_WHILE_CREATING_MS = 60_000;
const HEARTBEAT_EVERY_MS = 20_000;
const CLOSE_GRACE_MS = 2_000;
/** A paste arrives as one message; larger ones must be split (close code 1009). */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

export interface TerminalHubOptions {
  readonly admission: TerminalAdmission;
  readonly service: SandboxService;
  readonly live: LiveSandboxes;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly screens: SessionScreens;
  readonly slots: TerminalSlots;
}

/** The sandbox and session of a terminal; without a session, it stands alone. */
interface Place {
  readonly sandboxId: string;
  readonly session: string | null;
}

/** Handles `/ws/terminal/:id`: waits for a sandbox that is being created, and owns all open terminals. */
export class TerminalHub implements UpgradeRoute {
  readonly name = 'terminal';
  readonly hold = 'required';
  readonly forwards = true;
  readonly #options: TerminalHubOptions;
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    handleProtocols: (offered) => selectProtocol([...offered], [SANDBOX_V1]) ?? false,
  });
  readonly #open = new Map<TerminalConnection, Place>();
  readonly #buffers = new SendBuffers();
  readonly #typed = new TypedInput();
  #cancelHeartbeat: () => void = () => undefined;
  #closing = false;

  constructor(options: TerminalHubOptions) {
    this.#options = options;
  }

  matches(_request: IncomingMessage, url: URL): boolean {
    return isTerminalPath(url.pathname);
  }

  async handle(upgrade: UpgradeRequest): Promise<void> {
    const { request, socket, url } = upgrade;
    const wanted = parseTerminalRequest(url);
    const admitted = await this.#options.admission.admit(upgrade, wanted);
    if (admitted === null) return; // another node serves it
    const { sandbox, held } = admitted;
    const ready = await this.#waitUntilRunning(sandbox, socket);
    const connection = this.#options.live.findConnection(ready.id);
    if (ready.status !== 'running' || connection === null || this.#closing) {
      throw sandboxErrors.SANDBOX_NOT_RUNNING({ details: { status: ready.status } });
    }
    if (wanted.user !== null) connection.require('users');
    const session =
      wanted.session === null ? null : await findSession(connection, wanted.session, this.#options.random.bytes);
    const inputTakenBytes = await this.#takenBytes({ sandboxId: ready.id, session }, wanted);
    const release = await this.#options.slots.take(ready);
    if (socket.destroyed) return release();
    let isJoined = false; // `ws` calls back synchronously unless it rejects the handshake
    this.#server.handleUpgrade(request, socket, upgrade.head, (webSocket) => {
      isJoined = true;
      this.#join(webSocket, { sandbox: ready, held }, { ...wanted, inputTakenBytes }, session, release);
    });
    if (!isJoined) release();
  }

  start(): void {
    const { live, screens } = this.#options;
    for (const connection of live.connections) void screens.followAll(connection);
    this.#beat();
  }

  #beat(): void {
    this.#cancelHeartbeat = this.#options.clock.setTimer(() => {
      for (const terminal of this.#open.keys()) terminal.heartbeat();
      if (!this.#closing) this.#beat();
    }, HEARTBEAT_EVERY_MS);
  }

  /** Closes every terminal with a restart code, and cuts those that do not respond. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#cancelHeartbeat();
    const terminals = [...this.#open.keys()];
    for (const terminal of terminals)
      void terminal.handOver(TERMINAL_CLOSE_CODES.restarting, 'the platform is restarting');
    const cancel = this.#options.clock.setTimer(() => {
      for (const terminal of terminals) terminal.terminate();
    }, CLOSE_GRACE_MS);
    await Promise.all(terminals.map((terminal) => terminal.closed));
    cancel();
    this.#server.close();
    await this.#options.screens.close();
  }

  /** Announces to the clients of a sandbox what is about to happen to it. */
  notify(id: string, notice: SandboxNotice): void {
    for (const [terminal, { sandboxId }] of this.#open) if (sandboxId === id) terminal.notify(notice);
  }

  get openTerminals(): number {
    return this.#open.size;
  }

  get keptScreens(): number {
    return this.#options.screens.size;
  }

  /** Holds a client that connects right after a create, so that it does not have to poll. */
  async #waitUntilRunning(sandbox: Sandbox, socket: Duplex): Promise<Sandbox> {
    if (sandbox.status !== 'creating') return sandbox;
    const gone = new AbortController();
    const abort = (): void => gone.abort();
    socket.once('close', abort);
    try {
      const { service } = this.#options;
      const { workspaceUuid, id } = sandbox;
      return await service.settled(workspaceUuid, id, HOLD_WHILE_CREATING_MS, gone.signal);
    } finally {
      socket.off('close', abort);
    }
  }

  #join(
    socket: WebSocket,
    { sandbox, held }: Admitted,
    wanted: TerminalRequest & { readonly inputTakenBytes: number | null },
    session: string | null,
    release: () => void,
  ): void {
    const { live, clock, screens } = this.#options;
    const connection = live.findConnection(sandbox.id);
    if (connection === null) {
      release();
      void this.#findClose(sandbox.id).then(({ code, reason }) => socket.close(code, reason));
      return;
    }
    const place: Place = { sandboxId: sandbox.id, session };
    if (wanted.session?.takeover === true) this.#sendAway(place);
    const nowMs = (): number => clock.nowMs();
    const endActivity = live.begin(sandbox.id, nowMs());
    const isV1 = socket.protocol === SANDBOX_V1;
    const terminal = new TerminalConnection({
      socket,
      open: (listener) => openProcess(connection, screens, sandbox, wanted, session, listener),
      framing: isV1 ? v1Framing(this.#buffers) : defaultFraming(wanted.encoding, this.#buffers),
      buffers: this.#buffers,
      session,
      inputTakenBytes: wanted.inputTakenBytes,
      readOnly: wanted.session?.readOnly ?? false,
      acknowledges: isV1 && wanted.acknowledges,
      cols: wanted.cols,
      rows: wanted.rows,
      active: () => live.active(sandbox.id, nowMs()),
      used: () => live.use(sandbox.id),
      lostClose: () => this.#findClose(sandbox.id),
    });
    this.#open.set(terminal, place);
    const name = wanted.session?.connection ?? null;
    const endTyped = name === null ? () => undefined : this.#typed.follow(placeName(place), name, terminal);
    held.farewell(() => terminal.close(TERMINAL_CLOSE_CODES.revoked, 'the right to this terminal was taken'));
    const recordEnd = recordTerminal(this.#options.recorder, sandbox, wanted, session);
    void terminal.closed.finally(() => {
      endTyped();
      release();
    });
    void terminal.over.finally(() => {
      this.#open.delete(terminal);
      endActivity();
      recordEnd();
    });
  }

  async #takenBytes(place: Place, { session }: TerminalRequest): Promise<number | null> {
    const resumed = session?.resumes ?? null;
    return resumed === null ? null : await this.#typed.takenBytes(placeName(place), resumed);
  }

  #sendAway({ sandboxId, session }: Place): void {
    for (const [terminal, place] of this.#open) {
      if (place.sandboxId === sandboxId && place.session === session)
        terminal.close(TERMINAL_CLOSE_CODES.replaced, 'another client took over');
    }
  }

  /** Close code and reason for a terminal that lost its sandbox. */
  async #findClose(id: string): Promise<{ code: number; reason: string }> {
    if (this.#closing) return { code: TERMINAL_CLOSE_CODES.restarting, reason: 'the platform is restarting' };
    const sandbox = await this.#options.service.byId(id).catch(() => null);
    if (sandbox === null) return { code: TERMINAL_CLOSE_CODES.deleted, reason: 'the sandbox was deleted' };
    if (sandbox.status === 'stopped') return { code: TERMINAL_CLOSE_CODES.stopped, reason: 'the sandbox was stopped' };
    return { code: TERMINAL_CLOSE_CODES.lost, reason: 'the sandbox has stopped' };
  }
}

function placeName({ sandboxId, session }: Place): string {
  return `${sandboxId} ${session ?? ''}`;
}

function openProcess(
  connection: HelperConnection,
  screens: SessionScreens,
  sandbox: Sandbox,
  { argv, user, cols, rows, session: wish }: TerminalRequest,
  session: string | null,
  listener: TerminalListener,
): ProcessStream {
  const env = processEnvironment(sandbox);
  if (argv !== null) {
    return connection.start({ op: 'process.start', env, argv, ...(user === null ? {} : { user }) }, listener);
  }
  const shell = { env, tty: { cols, rows } };
  if (session === null || wish === null) return connection.start({ op: 'process.start', ...shell }, listener);
  return new LateViewer({
    open: (each) => new SessionStream(connection, sessionRequests(session, wish, shell), each),
    listener,
    since: wish.since ?? 0,
    joined: () => void screens.follow(connection, session),
    snapshot: (atLeast) =>
      wish.replay === 'screen' ? screens.snapshot(connection, session, atLeast) : Promise.resolve(null),
  });
}
