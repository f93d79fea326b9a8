import type { AppError } from '@svc/errors';
import type {
  CommandAck,
  CommandName,
  CommandOutput,
  CommandProgress,
  CommandResult,
  DeployCommand,
  Envelope,
  OutputAck,
  PlatformPayloads,
} from '@svc/protocol';
import type { Logger } from '@svc/telemetry';
import type { Delivery } from '../channel/delivery.ts';
import type { PlatformChannel } from '../channel/channel.ts';
import type { Clock } from '@svc/runtime';
import type { LiveConfig } from '../config/live-config.ts';
import { agentErrors } from '../errors.ts';
import type { AgentMetrics } from '../metrics.ts';
import { toMessageError } from './error-of.ts';
import { fitIntoFrame } from './fit-into-frame.ts';
import type { CommandHandler, CommandHandlers, CommandInput, CommandOutcome } from './handler.ts';
import type { CommandJournal, InterruptedCommand } from './journal.ts';
import { RunningCommand } from './running-command.ts';
import type { AgentConfig } from '../config/schema.ts';

export interface CommandRunnerOptions {
  handlers: CommandHandlers;
  journal: CommandJournal;
  delivery: Delivery;
  channel: PlatformChannel;
  config: LiveConfig;
  clock: Clock;
  log: Logger;
  metrics: AgentMetrics;
}

/**
 * More than a platform keeps open for one cluster (200 by default): commands queued while the agent was offline arrive
 * all at once.
 */
const MAX_RUNNING = 512;
const MAX_WAITING_FOR_PROGRESS = 64;
/** A deploy during which the agent has ended this often is probably the cause. */
const MAX_RESUMES = 3;

/** Runs each command id once: acknowledges, journals and runs it, and sends exactly one result. */
export class CommandRunner {
  readonly #options: CommandRunnerOptions;
  readonly #running = new Map<string, RunningCommand>();
  #ending: Promise<unknown>[] = [];
  #stopped = false;

  constructor(options: CommandRunnerOptions) {
    this.#options = options;
  }

  /** Ids for the hello: running, or finished and not yet acknowledged. */
  get openCommandIds(): string[] {
    return [...new Set([...this.#running.keys(), ...this.#options.journal.unacknowledgedIds()])];
  }

  /**
   * Settles what the last process left unfinished. Applying is idempotent, so deploys resume, in order and before any
   * new command is received; the effects of other commands are unknown, so their result is `lost`.
   */
  async settleInterrupted(): Promise<void> {
    for (const interrupted of this.#options.journal.interrupted()) {
      const { commandId, command, startedAt, resumes } = interrupted;
      const deploy = command === 'deploy' ? await this.#resumable(interrupted) : null;
      if (deploy !== null) {
        this.#options.log.info({ command, command_id: commandId, ...describe(deploy) }, 'command resumed');
        this.#begin(commandId, resumes + 1, (running) => this.#execute('deploy', running, deploy, startedAt));
        continue;
      }
      const error = agentErrors.LOST({ details: { reason: 'the agent restarted while the command ran' } });
      await this.#finish(commandId, command, startedAt, { status: 'lost', error: toMessageError(error) });
    }
  }

  /** Never rejects: every outcome is sent as a message. */
  receive<Name extends CommandName>(command: Name, commandId: string, payload: PlatformPayloads[Name]): void {
    if (this.#running.has(commandId)) {
      this.#acknowledge({ command_id: commandId, command, state: 'duplicate' });
      return;
    }
    // A reader follows these logs: without a reply, the platform asks the next process for them.
    if (this.#stopped && 'follow' in payload && payload.follow) return;
    this.#begin(commandId, 0, (running) => this.#run(command, running, payload));
  }

  /** Refuses a command whose payload violates its schema, with a result like any other. */
  refuse(command: CommandName, envelope: Envelope, error: AppError): void {
    const { field, reason } = error.details;
    const refusal = agentErrors.INVALID_REQUEST({ details: { field, reason: `${String(field)} ${String(reason)}` } });
    const work = this.#refuse(command, envelope.id, refusal).catch((failure: unknown) => {
      this.#options.log.error({ err: failure, command_id: envelope.id }, 'a refusal could not be stored');
    });
    this.#ending.push(work);
    void work.finally(() => (this.#ending = this.#ending.filter((each) => each !== work)));
  }

  cancel(commandId: string, reason?: string): void {
    const details = reason === undefined ? {} : { details: { reason } };
    this.#running.get(commandId)?.cancel(agentErrors.CANCELLED(details));
  }

  outputStored({ outputs }: OutputAck): void {
    for (const { command_id: id, seq } of outputs) this.#running.get(id)?.outputStored(seq);
  }

  /** Called on a new connection: resends what the platform may not have received. */
  reconnected(): void {
    for (const running of this.#running.values()) running.reconnected();
  }

  input(commandId: string, input: CommandInput): void {
    this.#running.get(commandId)?.input(input);
  }

  /** Accepts no more commands, cancels running ones and waits until each has its result in the journal. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const reason = agentErrors.CANCELLED({ details: { reason: 'the agent is stopping' } });
    for (const running of this.#running.values()) running.cancel(reason);
    await Promise.allSettled(this.#ending);
  }

  #begin(commandId: string, resumes: number, run: (running: RunningCommand) => Promise<void>): void {
    const { clock, channel } = this.#options;
    const running = new RunningCommand({
      commandId,
      resumes,
      clock,
      sendProgress: (progress) => this.#sendProgress(progress),
      sendOutput: (output) => this.#sendOutput(output),
      connected: (signal) => channel.connected(signal),
      acknowledgesOutput: () => channel.session?.welcome?.acknowledges_output === true,
    });
    this.#running.set(commandId, running); // before any await: the same id may be in the next frame
    const work = run(running)
      .catch((error: unknown) => this.#options.log.error({ err: error, command_id: commandId }, 'a command broke'))
      .finally(() => {
        this.#running.delete(commandId);
        this.#ending = this.#ending.filter((each) => each !== work);
      });
    this.#ending.push(work);
  }

  async #resumable({ commandId, resumes }: InterruptedCommand): Promise<DeployCommand | null> {
    if (resumes >= MAX_RESUMES) return null;
    try {
      return await this.#options.journal.resume(commandId);
    } catch (error) {
      this.#options.log.error({ err: error, command_id: commandId }, 'a deploy cannot be resumed');
      return null;
    }
  }

  async #run<Name extends CommandName>(
    command: Name,
    running: RunningCommand,
    payload: PlatformPayloads[Name],
  ): Promise<void> {
    const { journal, delivery, config, clock, log } = this.#options;
    const { commandId } = running;
    const known = await journal.find(commandId);
    if (known !== null) {
      this.#acknowledge({ command_id: commandId, command, state: 'duplicate' });
      if (known.state === 'finished') delivery.resultReady(known.result);
      return;
    }
    const handler: CommandHandler<Name> = this.#options.handlers[command];
    try {
      this.#assertRoom();
      assertAllowed(config.current.policy, command, payload);
      await journal.begin(commandId, command, 'manifest' in payload ? payload : undefined);
    } catch (error) {
      await this.#refuse(command, commandId, error);
      return;
    }
    const position = handler.position(payload);
    this.#acknowledge({ command_id: commandId, command, state: position > 0 ? 'queued' : 'accepted', position });
    const startedAt = clock.now().toISOString();
    log.info({ command, command_id: commandId, ...describe(payload) }, 'command started');
    await this.#execute(command, running, payload, startedAt);
  }

  async #execute<Name extends CommandName>(
    command: Name,
    running: RunningCommand,
    payload: PlatformPayloads[Name],
    startedAt: string,
  ): Promise<void> {
    const { log } = this.#options;
    const { commandId } = running;
    const handler: CommandHandler<Name> = this.#options.handlers[command];
    const outcome = await handler.run(payload, running).catch((error: unknown): CommandOutcome => {
      if (running.signal.aborted) return { status: 'cancelled', error: toMessageError(running.signal.reason) };
      log.warn({ err: error, command, command_id: commandId }, 'command failed');
      return { status: 'failed', error: toMessageError(error) };
    });
    await running.outputSettled();
    await this.#finish(commandId, command, startedAt, outcome);
  }

  #assertRoom(): void {
    if (this.#stopped) throw agentErrors.UNAVAILABLE({ details: { reason: 'the agent is stopping' } });
    if (this.#running.size <= MAX_RUNNING) return;
    throw agentErrors.UNAVAILABLE({ details: { reason: `${MAX_RUNNING} commands are already running` } });
  }

  async #refuse(command: CommandName, commandId: string, refusal: unknown): Promise<void> {
    const error = toMessageError(refusal);
    this.#options.log.warn(
      { command, command_id: commandId, code: error.code, reason: error.message },
      'command refused',
    );
    this.#acknowledge({ command_id: commandId, command, state: 'rejected', error });
    await this.#finish(commandId, command, this.#options.clock.now().toISOString(), { status: 'failed', error });
  }

  async #finish(commandId: string, command: CommandName, startedAt: string, outcome: CommandOutcome): Promise<void> {
    const { journal, delivery, clock, log, metrics } = this.#options;
    const durationMs = Math.max(0, clock.nowMs() - Date.parse(startedAt));
    const result: CommandResult = fitIntoFrame({
      command_id: commandId,
      command,
      started_at: startedAt,
      finished_at: clock.now().toISOString(),
      duration_ms: durationMs,
      ...outcome,
    });
    metrics.commandFinished(command, result.status, durationMs / 1000);
    log.info({ command, command_id: commandId, status: result.status, duration_ms: durationMs }, 'command finished');
    try {
      await journal.finish(result);
    } catch (error) {
      // If the disk is full, still send the result once; it cannot be repeated after a restart.
      log.error({ err: error, command_id: commandId }, 'the result is not in the journal');
    }
    delivery.resultReady(result);
  }

  /** Progress is only useful when fresh: with a long queue it would arrive late and delay messages that matter. */
  #sendProgress(progress: CommandProgress): void {
    const { channel } = this.#options;
    if ((channel.session?.waiting ?? 0) > MAX_WAITING_FOR_PROGRESS) return;
    channel.send('command_progress', progress).catch(() => undefined);
  }

  /** Not before the platform has said whether it confirms output. */
  #sendOutput(output: CommandOutput): Promise<void> {
    const { channel } = this.#options;
    if (channel.session?.mode !== 'waiting') return channel.send('command_output', output);
    return Promise.reject(agentErrors.UNAVAILABLE({ details: { reason: 'the platform has not identified itself' } }));
  }

  #acknowledge(ack: CommandAck): void {
    this.#options.channel.send('command_ack', ack).catch(() => undefined); // the result supersedes the ack
  }
}

/** Fields for an audit line: names, never contents. */
function describe(payload: object): Record<string, unknown> {
  const { namespace, project_id: project, pod, actor } = { ...payload } as Record<string, unknown>;
  return { namespace, project_id: project, pod, actor };
}

/** Enforces the cluster owner's policy, for all callers and before any other check. Throws FORBIDDEN. */
function assertAllowed(
  policy: AgentConfig['policy'],
  command: CommandName,
  payload: { namespace: string; dry_run?: boolean },
): void {
  if (!policy.namespaces.includes('*') && !policy.namespaces.includes(payload.namespace)) {
    throw forbidden('policy.namespaces', `namespace ${payload.namespace} is not allowed on this cluster`);
  }
  if (policy.read_only && command !== 'logs' && payload.dry_run !== true) {
    throw forbidden('policy.read_only', 'this cluster is read-only by its policy');
  }
  if (command === 'exec' && !policy.exec) throw forbidden('policy.exec', 'exec is not allowed on this cluster');
  if (command === 'logs' && !policy.logs) throw forbidden('policy.logs', 'logs are not allowed on this cluster');
}

function forbidden(field: string, reason: string): Error {
  return agentErrors.FORBIDDEN({ details: { field, reason } });
}
