import type { Clock } from '@svc/runtime';
import { processEnvironment } from '../egress-rules/process-environment.ts';
import type { LiveSandboxes } from '../live-sandboxes.ts';
import type { SandboxNotice } from '../notice.ts';
import type { SandboxService } from '../sandbox-service.ts';
import { sandboxErrors } from '../../errors.ts';
import { runCommand, type CommandEnd, type CommandListener, type CommandRequest } from './command.ts';

const HOLD_WHILE_CREATING_MS = 60_000;

export interface CommandServiceOptions {
  readonly service: SandboxService;
  readonly live: LiveSandboxes;
  readonly clock: Clock;
  /** Maximum number of concurrent commands per sandbox. */
  readonly maxCommands: number;
}

/** Runs commands in sandboxes. A running command counts as activity of its sandbox. */
export class CommandService {
  readonly #options: CommandServiceOptions;
  /** Listeners of the running commands, by sandbox. */
  readonly #running = new Map<string, Set<CommandListener>>();

  constructor(options: CommandServiceOptions) {
    this.#options = options;
  }

  get running(): number {
    let count = 0;
    for (const listeners of this.#running.values()) count += listeners.size;
    return count;
  }

  /** Gives notice to every running command of a sandbox. */
  notify(id: string, notice: SandboxNotice): void {
    for (const listener of this.#running.get(id) ?? []) listener.notice?.(notice);
  }

  /**
   * Waits for a sandbox that is being created, then for the command. Throws SANDBOX_NOT_FOUND, SANDBOX_NOT_RUNNING,
   * TOO_MANY_COMMANDS, and INVALID_FIELD for what only the sandbox can check.
   */
  async run(
    workspaceUuid: string,
    id: string,
    request: CommandRequest,
    listener: CommandListener,
    signal: AbortSignal,
  ): Promise<CommandEnd> {
    const { service, live, clock } = this.#options;
    const sandbox = await service.settled(workspaceUuid, id, HOLD_WHILE_CREATING_MS, signal);
    const connection = await service.connectionTo(sandbox);
    const release = this.#take(id, listener);
    const endActivity = live.begin(id, clock.nowMs());
    try {
      const env = { ...processEnvironment(sandbox), ...request.env };
      const end = await runCommand(connection, { ...request, env }, listener, clock, signal);
      refuse(end);
      // The connection was lost because the sandbox was stopped or deleted: respond with 409 or 404, not a result.
      if (end.lost) throw notRunning((await service.get(workspaceUuid, id)).status);
      return end;
    } finally {
      endActivity();
      release();
    }
  }

  #take(id: string, listener: CommandListener): () => void {
    const listeners = this.#running.get(id) ?? new Set();
    const { maxCommands } = this.#options;
    if (listeners.size >= maxCommands) throw sandboxErrors.TOO_MANY_COMMANDS({ details: { limit: maxCommands } });
    this.#running.set(id, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#running.delete(id);
    };
  }
}

function notRunning(status: string): Error {
  return sandboxErrors.SANDBOX_NOT_RUNNING({ details: { status: status === 'running' ? 'unreachable' : status } });
}

/** As in a shell, a missing command is a result; a missing working directory is a bad request. */
function refuse({ error }: CommandEnd): void {
  const reason = error?.message;
  switch (error?.code) {
    case 'NO_SUCH_USER':
      throw sandboxErrors.USER_NOT_FOUND({ details: { field: 'user', reason } });
    case 'INVALID_DIRECTORY':
      throw sandboxErrors.INVALID_FIELD({ details: { field: 'workdir', reason } });
    case 'INVALID_ENVIRONMENT':
      throw sandboxErrors.INVALID_FIELD({ details: { field: 'env', reason } });
    case 'INVALID_COMMAND':
      throw sandboxErrors.INVALID_FIELD({ details: { field: 'command', reason } });
    case 'LIMIT_REACHED':
      throw sandboxErrors.NO_CAPACITY({ details: { reason } });
  }
}
