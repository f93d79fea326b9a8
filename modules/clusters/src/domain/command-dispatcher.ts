import { isAppError } from '@svc/errors';
import type { PlatformPayloads } from '@svc/protocol';
import type { AgentLink } from './agent-link.ts';
import { commandKey, type Changes } from './changes.ts';
import { type Clock } from '@svc/runtime';
import { timestampAfter } from './timestamps.ts';
import { isFinished, type Command, type CommandOutcome, type CommandStore, type CommandSubmission } from './command.ts';
import { planRecovery } from './command-recovery.ts';
import type { OutputRelays } from './output-relays.ts';

export interface DispatcherOptions {
  commands: CommandStore;
  changes: Changes;
  relays: OutputRelays;
  clock: Clock;
  maxOpenCommands: number;
  /** Reports failures that have no caller. */
  onError: (error: unknown, context: Record<string, unknown>) => void;
  onFinished: (kind: Command['kind'], outcome: CommandOutcome) => void;
}

const WAITING_CLUSTERS = 10_000;
const MAX_CANCELS = 10_000;

/** Delivers stored commands to their agents. All of its state is in the database, so it recovers after a crash. */
export class CommandDispatcher {
  readonly #options: DispatcherOptions;
  readonly #links = new Map<string, AgentLink>();
  /** One queue run per cluster at a time; `again` = check again when it ends. */
  readonly #runs = new Map<string, { again: boolean; done: Promise<void> }>();

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  async submit(submission: CommandSubmission): Promise<{ commandId: string; replayed: boolean }> {
    const submitted = await this.#options.commands.submit(submission);
    if (!submitted.replayed) this.#pump(submission.command.clusterId);
    return submitted;
  }

  /** Called when the agent is ready: settles commands left open by an earlier connection, then sends queued ones. */
  async attach(link: AgentLink, inFlight: ReadonlySet<string>): Promise<void> {
    const { commands, maxOpenCommands } = this.#options;
    const open = await commands.open(link.clusterId, ['dispatched', 'running'], maxOpenCommands);
    for (const command of open) {
      if (link.closed) return;
      await this.#recover(link, command, inFlight);
    }
    const current = this.#links.get(link.clusterId);
    if (link.closed || (current !== undefined && current.epoch > link.epoch)) return;
    this.#links.set(link.clusterId, link);
    this.#pump(link.clusterId);
  }

  detach(link: AgentLink): void {
    if (this.#links.get(link.clusterId) === link) this.#links.delete(link.clusterId);
  }

  findLink(clusterId: string): AgentLink | undefined {
    return this.#links.get(clusterId);
  }

  /** Returns the command's state after the request; undefined if the cluster has no such command. */
  async cancel(clusterId: string, id: string): Promise<Command | undefined> {
    const { commands, clock } = this.#options;
    const state = await commands.requestCancel(clusterId, id, clock.now().toISOString());
    if (state === undefined) return undefined;
    if (state === 'dispatched' || state === 'running') await this.sendCancel(clusterId, id);
    return commands.find(clusterId, id);
  }

  /** Stores a command's single outcome. Returns false if it already has one or does not belong to the cluster. */
  async finish(clusterId: string, id: string, outcome: CommandOutcome): Promise<boolean> {
    const { commands, clock, relays } = this.#options;
    const stored = await commands.finish(clusterId, id, outcome, clock.now().toISOString());
    if (!stored) return false;
    relays.end(id, outcome);
    const command = await commands.find(clusterId, id);
    if (command !== undefined) this.#options.onFinished(command.kind, outcome);
    return true;
  }

  /** Ends the reader here of a command that another replica finished: the agent is there now. */
  async loseReader(id: string): Promise<void> {
    const { relays, commands } = this.#options;
    const clusterId = relays.clusterOf(id);
    if (clusterId === undefined || this.#links.has(clusterId)) return;
    const command = await commands.find(clusterId, id);
    if (command !== undefined && isFinished(command.state)) relays.lose(id);
  }

  /** The same for every command with a reader here. */
  async loseReaders(): Promise<void> {
    for (const { id } of this.#options.relays.commands) await this.loseReader(id);
  }

  /** Waits up to `waitMs` for the command to finish. */
  async wait(clusterId: string, id: string, waitMs: number, signal: AbortSignal): Promise<Command | undefined> {
    const { commands, changes, clock } = this.#options;
    const subscription = changes.subscribe(commandKey(id));
    const untilMs = clock.nowMs() + waitMs;
    try {
      for (;;) {
        const command = await commands.find(clusterId, id);
        const leftMs = untilMs - clock.nowMs();
        if (command === undefined || isFinished(command.state) || leftMs <= 0 || signal.aborted) return command;
        await subscription.next(leftMs, signal);
      }
    } finally {
      subscription.end();
    }
  }

  /** Sends what is queued if the agent is connected here. */
  sendQueuedTo(clusterId: string): void {
    if (this.#links.has(clusterId)) this.#pump(clusterId);
  }

  /** Finds commands that another replica queued for an agent connected here. */
  async sendQueued(): Promise<void> {
    if (this.#links.size === 0) return;
    for (const clusterId of await this.#options.commands.waitingClusters(WAITING_CLUSTERS)) {
      this.sendQueuedTo(clusterId);
    }
  }

  /** Asks the agent to cancel the command, if the agent is connected here. */
  async sendCancel(clusterId: string, id: string): Promise<void> {
    const link = this.#links.get(clusterId);
    if (link === undefined || link.instanceId === null) return;
    // If the agent disconnects now, it learns of this at its next hello.
    await link.send('cancel', { command_id: id }).catch((error: unknown) => {
      if (!link.closed) this.#options.onError(error, { cluster: clusterId, command: id });
    });
  }

  /** Finds sent commands that another replica cancelled. */
  async sendCancels(): Promise<void> {
    if (this.#links.size === 0) return;
    for (const { clusterId, id } of await this.#options.commands.cancelling(MAX_CANCELS)) {
      await this.sendCancel(clusterId, id);
    }
  }

  /** Resolves when no command is being sent. */
  async idle(): Promise<void> {
    while (this.#runs.size > 0) await Promise.all([...this.#runs.values()].map(({ done }) => done));
  }

  async #recover(link: AgentLink, command: Command, inFlight: ReadonlySet<string>): Promise<void> {
    const { relays } = this.#options;
    switch (planRecovery(command, link, inFlight, relays.has(command.id))) {
      case 'keep':
        if (isResumed(command, link)) await this.#giveTimeAgain(link, command);
        break;
      case 'send-again':
        await this.#sendAgain(link, command);
        break;
      case 'lose':
        await this.finish(
          link.clusterId,
          command.id,
          createOutcome('lost', 'LOST', 'The agent restarted while the command was running'),
        );
        return;
      case 'abandon':
        await this.finish(
          link.clusterId,
          command.id,
          createOutcome('cancelled', 'CANCELLED', 'The client that followed it disconnected'),
        );
        if (link.instanceId !== null) await link.send('cancel', { command_id: command.id });
        return;
    }
    if (command.cancelRequestedAt !== null && link.instanceId !== null) {
      await link.send('cancel', { command_id: command.id });
    }
  }

  /** A process that takes over a deploy waits for readiness from the start, so the deadline restarts too. */
  async #giveTimeAgain(link: AgentLink, command: Command): Promise<void> {
    const { commands, clock } = this.#options;
    const now = clock.now();
    await commands.reclaim(command.id, link, now.toISOString(), timestampAfter(now, command.timeoutMs));
  }

  async #sendAgain(link: AgentLink, command: Command): Promise<void> {
    const { commands, clock } = this.#options;
    const payload = await commands.payload(command.id);
    if (payload === undefined) return;
    const now = clock.now();
    const deadlineAt = timestampAfter(now, command.timeoutMs);
    if (!(await commands.reclaim(command.id, link, now.toISOString(), deadlineAt))) return;
    await this.#sendCommand(link, command, payload);
  }

  #pump(clusterId: string): void {
    const run = this.#runs.get(clusterId);
    if (run !== undefined) {
      run.again = true;
      return;
    }
    const started = { again: true, done: Promise.resolve() };
    this.#runs.set(clusterId, started);
    started.done = this.#sendQueued(clusterId, started).catch((error: unknown) => {
      this.#options.onError(error, { cluster: clusterId });
    });
  }

  async #sendQueued(clusterId: string, run: { again: boolean }): Promise<void> {
    try {
      while (run.again) {
        run.again = false;
        for (;;) {
          const link = this.#links.get(clusterId);
          if (link === undefined || link.closed) return;
          const [command] = await this.#options.commands.open(clusterId, ['queued'], 1);
          if (command === undefined) break;
          await this.#dispatch(link, command);
        }
      }
    } finally {
      this.#runs.delete(clusterId); // Same tick as the last check, so a later request starts a new run.
    }
  }

  /**
   * Marks the row `dispatched` before sending: after a crash in between, the command is sent again rather than
   * forgotten.
   */
  async #dispatch(link: AgentLink, command: Command): Promise<void> {
    const { commands, clock } = this.#options;
    const payload = await commands.payload(command.id);
    const now = clock.now();
    const deadlineAt = timestampAfter(now, command.timeoutMs);
    if (payload === undefined) return; // just deleted
    const outcome = await commands.claim(command.id, link, now.toISOString(), deadlineAt);
    if (outcome === 'superseded') {
      this.detach(link);
      link.supersede();
    }
    if (outcome !== 'claimed') return; // `gone`: just cancelled or superseded
    await this.#sendCommand(link, command, payload);
  }

  async #sendCommand(link: AgentLink, command: Command, payload: Record<string, unknown>): Promise<void> {
    try {
      // The routes validated the payload against the schema of its kind before storing it.
      await link.send(command.kind, payload as PlatformPayloads['deploy' | 'exec' | 'logs'], command.id);
    } catch (error) {
      if (link.closed) return; // the next connection sends it again
      if (!isAppError(error) || error.code !== 'FRAME_TOO_LARGE') throw error;
      await this.finish(link.clusterId, command.id, createOutcome('failed', 'MANIFEST_TOO_LARGE', error.message));
    }
  }
}

function isResumed({ kind, sentInstanceId }: Command, { instanceId }: AgentLink): boolean {
  return kind === 'deploy' && sentInstanceId !== null && instanceId !== null && sentInstanceId !== instanceId;
}

export function createOutcome(status: CommandOutcome['status'], code: string, message: string): CommandOutcome {
  return { status, result: null, error: { code, message } };
}
