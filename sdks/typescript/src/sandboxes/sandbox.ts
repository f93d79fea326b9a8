import { ApiError, UnexpectedAnswerError } from '../errors.ts';
import type { PageQuery } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import { followEvents, pageOfEvents, type EventOptions, type EventPage } from './events.ts';
import { execCommand, type CommandResult, type RunnableCommand, type RunOptions } from './exec.ts';
import { SandboxFiles } from './files.ts';
import { markerRun } from './marker-run.ts';
import { SandboxProcess, type ProcessOptions } from './process.ts';
import { pathOf, type SandboxTransport } from './sandbox-transport.ts';
import type {
  EgressRule,
  OpenPort,
  PortPreview,
  ProcessSignal,
  PublicPorts,
  RunningProcess,
  SandboxEvent,
  SandboxInfo,
  SandboxMetrics,
  SandboxStatus,
  Snapshot,
  TerminalSession,
} from './sandbox-types.ts';
import { Terminal, type TerminalOptions } from './terminal.ts';

const LONG_POLL_SECONDS = 30;
/** The files of a sandbox in a connected cluster travel for up to four hours. */
const COPY_LIMIT_MS = 5 * 3_600_000;

/** Options for deleting a sandbox. */
export interface DeleteOptions extends CallOptions {
  /** `delete` also deletes writable volumes that no other sandbox mounts. Defaults to `keep`. */
  volumes?: 'keep' | 'delete' | undefined;
  /** For forks: also deletes the volumes and buckets that were made for it, unless others mount them. */
  dropData?: boolean | undefined;
}

/** What to change of a sandbox. Absent fields stay. */
export interface SandboxUpdate {
  /** Replace all labels. */
  labels?: Readonly<Record<string, string>> | undefined;
  /** From now on; null: never expires. */
  expiresInSeconds?: number | null | undefined;
}

/** Options for forking a sandbox. */
export interface ForkOptions extends CallOptions {
  name?: string | undefined;
  /** Number of forks; 1 by default. */
  count?: number | undefined;
  /** Fork the buckets that it mounts to write, or share them. Defaults to `fork`. */
  mounts?: 'fork' | 'share' | undefined;
}

/** A sandbox by its id. Creating this object makes no request. */
export class SandboxHandle {
  /** Id of the sandbox. */
  readonly id: string;
  /** The files of the sandbox. */
  readonly files: SandboxFiles;
  readonly #transport: SandboxTransport;

  constructor(transport: SandboxTransport, id: string) {
    this.#transport = transport;
    this.id = id;
    this.files = new SandboxFiles(transport, id);
  }

  /** Returns the current state of the sandbox. */
  get(options: CallOptions = {}): Promise<SandboxInfo> {
    return this.#transport.call('GET', pathOf(this.id), options);
  }

  /** Waits for a status by long polling. Stops on `error` and at the time limit. */
  async waitFor(status: SandboxStatus, options: CallOptions = {}): Promise<SandboxInfo> {
    const endsAtMs = performance.now() + (options.timeoutMs ?? 120_000);
    for (;;) {
      const leftSeconds = Math.ceil((endsAtMs - performance.now()) / 1000);
      const timeout = Math.max(0, Math.min(LONG_POLL_SECONDS, leftSeconds));
      const query = { wait_for: status, timeout };
      const askedAtMs = performance.now();
      const call = { query, signal: options.signal, timeoutMs: (timeout + 15) * 1000 };
      const info = await this.#transport.call<SandboxInfo>('GET', pathOf(this.id), call);
      if (info.status === status || info.status === 'error' || leftSeconds <= 0) return info;
      // Poll servers without long polling every two seconds, as the contract suggests.
      if (performance.now() - askedAtMs < 1_000) await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
  }

  /** Starts a stopped sandbox. */
  start(options: CallOptions = {}): Promise<SandboxInfo> {
    return this.#change('start', options);
  }

  /** Stops the sandbox. Its files remain. */
  stop(options: CallOptions = {}): Promise<SandboxInfo> {
    return this.#change('stop', options);
  }

  /** Pauses the sandbox: its processes freeze and use no CPU. Any access resumes it. */
  pause(options: CallOptions = {}): Promise<SandboxInfo> {
    return this.#change('pause', options);
  }

  /** Resumes a paused sandbox. */
  resume(options: CallOptions = {}): Promise<SandboxInfo> {
    return this.#change('resume', options);
  }

  /** Replaces the hosts and IPv4 ranges that the sandbox can reach; null for everything. Open connections end. */
  async setEgress(allow: readonly string[] | null, options: CallOptions = {}): Promise<SandboxInfo> {
    return this.#transport.call('PUT', `${pathOf(this.id)}/egress`, { ...options, body: { egress_allow: allow } });
  }

  /** Lets the sandbox reach everything except these IPv4 addresses and ranges. Open connections end. */
  async denyEgress(deny: readonly string[], options: CallOptions = {}): Promise<SandboxInfo> {
    return this.#transport.call('PUT', `${pathOf(this.id)}/egress`, { ...options, body: { egress_deny: deny } });
  }

  /** Changes labels and expiry in one step, or neither if one is refused. */
  async update({ labels, expiresInSeconds }: SandboxUpdate, options: CallOptions = {}): Promise<SandboxInfo> {
    const body = {
      ...(labels !== undefined && { labels }),
      ...(expiresInSeconds !== undefined && { expires_in_seconds: expiresInSeconds }),
    };
    return this.#transport.call('PATCH', pathOf(this.id), { ...options, body });
  }

  /** Changes when the sandbox expires; null keeps it. `on_expiry` says what happens then. */
  async expireIn(seconds: number | null, options: CallOptions = {}): Promise<SandboxInfo> {
    return this.update({ expiresInSeconds: seconds }, options);
  }

  /** Replaces all labels of the sandbox. */
  async setLabels(labels: Readonly<Record<string, string>>, options: CallOptions = {}): Promise<SandboxInfo> {
    return this.update({ labels }, options);
  }

  /** Replaces the rules that add secrets to requests of the sandbox; they apply at once if it runs. */
  async setEgressRules(rules: readonly EgressRule[], options: CallOptions = {}): Promise<SandboxInfo> {
    return this.#transport.call('PUT', `${pathOf(this.id)}/egress/rules`, {
      ...options,
      body: { egress_rules: rules },
    });
  }

  /** Deletes the sandbox and its files, in any state. */
  async delete({ volumes = 'keep', dropData = false, ...options }: DeleteOptions = {}): Promise<void> {
    const query = { ...(volumes === 'delete' && { volumes }), ...(dropData && { drop_data: true }) };
    await this.#transport.call('DELETE', pathOf(this.id), { query, ...options });
  }

  /**
   * Copies the files into a snapshot. Resolves when it is complete: in a connected cluster after up to four hours, although
   * the `fetch` of Node.js waits for five minutes. A snapshot that is complete later sends the event `snapshot_created`.
   */
  snapshot({ name, ...options }: CallOptions & { name?: string } = {}): Promise<Snapshot> {
    const body = name === undefined ? {} : { name };
    return this.#transport.call('POST', `${pathOf(this.id)}/snapshots`, { timeoutMs: COPY_LIMIT_MS, ...options, body });
  }

  /**
   * Creates sandboxes with a copy of this one's current files, volumes and buckets. Resolves when they are running, after as
   * long as a snapshot takes. The names of the new buckets are in `mounts` of their info.
   */
  async fork({ name, count, mounts, ...options }: ForkOptions = {}): Promise<Sandbox[]> {
    const body = {
      ...(name !== undefined && { name }),
      ...(count !== undefined && { count }),
      ...(mounts !== undefined && { mounts }),
    };
    const { containers } = await this.#transport.call<{ containers: SandboxInfo[] }>(
      'POST',
      `${pathOf(this.id)}/fork`,
      { timeoutMs: COPY_LIMIT_MS, ...options, body },
    );
    const forks = containers.map((info) => new Sandbox(this.#transport, info));
    const { signal, timeoutMs = COPY_LIMIT_MS } = options;
    const making = forks.filter(({ status }) => status === 'creating');
    await Promise.all(making.map((fork) => fork.waitFor('running', { signal, timeoutMs })));
    return forks;
  }

  /** Streams events of the sandbox, from now on or after a given event. */
  events(options: EventOptions = {}): AsyncGenerator<SandboxEvent, void> {
    return followEvents(this.#transport, `${pathOf(this.id)}/events`, options);
  }

  /** Returns one page of stored events, newest first. */
  eventPage(page: PageQuery = {}, options: CallOptions = {}): Promise<EventPage> {
    return pageOfEvents(this.#transport, `${pathOf(this.id)}/events`, page, options);
  }

  /** Returns recent samples of resource usage, optionally since a time. */
  metrics({ since, ...options }: CallOptions & { since?: Date } = {}): Promise<SandboxMetrics> {
    const query = { since: since?.toISOString() };
    return this.#transport.call('GET', `${pathOf(this.id)}/metrics`, { query, ...options });
  }

  /**
   * Runs a command to completion. A non-zero exit code is a result, not an error. On servers that offer only the
   * contract's raw terminal, the command runs in a shell there, indistinguishable from an interactive one.
   */
  async run(command: RunnableCommand, options: RunOptions = {}): Promise<CommandResult> {
    if (!this.#transport.contractOnly) {
      try {
        return await execCommand(this.#transport, this.id, command, options);
      } catch (error) {
        if (!isMissingRoute(error)) throw error;
        await this.get({ signal: options.signal }); // throws if the sandbox itself does not exist
        this.#transport.contractOnly = true;
      }
    }
    if (options.user !== undefined) throw new TypeError('This server runs commands as its own user only; omit `user`');
    return await markerRun(this.#transport, this.id, command, options);
  }

  /** Starts a command with pipes, for interaction while it runs. */
  spawn(command: RunnableCommand, options: ProcessOptions = {}): Promise<SandboxProcess> {
    return SandboxProcess.start(this.#transport, this.id, command, options);
  }

  /** Lists running commands, terminals and background processes that were started through the API. */
  async processes(options: CallOptions = {}): Promise<RunningProcess[]> {
    const path = `${pathOf(this.id)}/processes`;
    return (await this.#transport.call<{ processes: RunningProcess[] }>('GET', path, options)).processes;
  }

  /** Sends a signal to a process and its children. After `SIGKILL` resolves, the process is gone. */
  async signal(pid: number, signal: ProcessSignal, options: CallOptions = {}): Promise<void> {
    const path = `${pathOf(this.id)}/processes/${pid}/signal`;
    await this.#transport.call('POST', path, { ...options, body: { signal } });
  }

  /** Opens a shell on a terminal, or joins a session. */
  terminal(options: TerminalOptions = {}): Promise<Terminal> {
    return Terminal.open(this.#transport, this.id, options);
  }

  /** Lists the terminal sessions, whose shells outlive their clients. */
  async terminals(options: CallOptions = {}): Promise<TerminalSession[]> {
    const path = `${pathOf(this.id)}/terminals`;
    return (await this.#transport.call<{ terminals: TerminalSession[] }>('GET', path, options)).terminals;
  }

  /** Ends a session with SIGHUP. */
  async endTerminal(session: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.call('DELETE', `${pathOf(this.id)}/terminals/${encodeURIComponent(session)}`, options);
  }

  /** Creates a link to a port, valid for anyone who has it; for one hour by default. */
  previewPort(
    port: number,
    { expiresInSeconds, ...options }: CallOptions & { expiresInSeconds?: number } = {},
  ): Promise<PortPreview> {
    const body = { port, ...(expiresInSeconds !== undefined && { expires_in_seconds: expiresInSeconds }) };
    return this.#transport.call('POST', `${pathOf(this.id)}/ports`, { ...options, body });
  }

  /** Lists the active port links. */
  async ports(options: CallOptions = {}): Promise<OpenPort[]> {
    const path = `${pathOf(this.id)}/ports`;
    return (await this.#transport.call<{ ports: OpenPort[] }>('GET', path, options)).ports;
  }

  /**
   * Opens every port to anyone who knows its address, or requires links again, which cuts connections without one.
   * Returns the URL of a port, with `{port}` for its number.
   */
  async publishPorts(isPublic: boolean, options: CallOptions = {}): Promise<PublicPorts> {
    return this.#transport.call('PUT', `${pathOf(this.id)}/ports`, { ...options, body: { public: isPublic } });
  }

  /** Whether every port is open without a link, and the URL of a port, with `{port}` for its number. */
  async publicPorts(options: CallOptions = {}): Promise<PublicPorts> {
    const path = `${pathOf(this.id)}/ports`;
    const answer = await this.#transport.call<PublicPorts>('GET', path, options);
    return { public: answer.public, url: answer.url };
  }

  /** Revokes the links to one port or to all, and cuts their open connections. Returns the number of revoked links. */
  async closePorts({ port, ...options }: CallOptions & { port?: number | undefined } = {}): Promise<number> {
    const path = `${pathOf(this.id)}/ports${port === undefined ? '' : `/${port}`}`;
    return (await this.#transport.call<{ revoked: number }>('DELETE', path, options)).revoked;
  }

  async #change(verb: string, options: CallOptions): Promise<SandboxInfo> {
    const answer = await this.#transport.call<SandboxInfo>('POST', `${pathOf(this.id)}/${verb}`, {
      timeoutMs: 120_000,
      ...options,
    });
    if (typeof answer?.id !== 'string') throw new UnexpectedAnswerError('The answer is no sandbox');
    return answer;
  }
}

/**
 * A sandbox with its state as of this program's last request.
 *
 * @example
 * ```ts
 * const sandbox = await svc.sandboxes.create({ image: 'debian' });
 * const { stdout, exitCode } = await sandbox.run('uname -a');
 * await sandbox.delete();
 * ```
 */
export class Sandbox extends SandboxHandle {
  #info: SandboxInfo;

  constructor(transport: SandboxTransport, info: SandboxInfo) {
    super(transport, info.id);
    this.#info = info;
  }

  /** The last known state. */
  get info(): SandboxInfo {
    return this.#info;
  }

  /** Name of the sandbox. */
  get name(): string {
    return this.#info.name;
  }

  /** Image of the sandbox. */
  get image(): string {
    return this.#info.image;
  }

  /** The last known status; `get` updates it. */
  get status(): SandboxStatus {
    return this.#info.status;
  }

  override async get(options: CallOptions = {}): Promise<SandboxInfo> {
    return (this.#info = await super.get(options));
  }

  override async waitFor(status: SandboxStatus, options: CallOptions = {}): Promise<SandboxInfo> {
    return (this.#info = await super.waitFor(status, options));
  }

  override async start(options: CallOptions = {}): Promise<SandboxInfo> {
    return (this.#info = await super.start(options));
  }

  override async stop(options: CallOptions = {}): Promise<SandboxInfo> {
    return (this.#info = await super.stop(options));
  }

  override async setEgress(allow: readonly string[] | null, options: CallOptions = {}): Promise<SandboxInfo> {
    return (this.#info = await super.setEgress(allow, options));
  }

  override async update(changes: SandboxUpdate, options: CallOptions = {}): Promise<SandboxInfo> {
    return (this.#info = await super.update(changes, options));
  }

  override async setEgressRules(rules: readonly EgressRule[], options: CallOptions = {}): Promise<SandboxInfo> {
    return (this.#info = await super.setEgressRules(rules, options));
  }

  override async pause(options: CallOptions = {}): Promise<SandboxInfo> {
    return (this.#info = await super.pause(options));
  }

  override async resume(options: CallOptions = {}): Promise<SandboxInfo> {
    return (this.#info = await super.resume(options));
  }

  /** Returns the last known state. */
  toJSON(): SandboxInfo {
    return this.#info;
  }
}

/** Matches 404 and 405 from servers without the route; a missing sandbox has its own code. */
function isMissingRoute(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.code === 'SANDBOX_NOT_FOUND') return false;
  return error.status === 404 || error.status === 405 || error.status === 501;
}
