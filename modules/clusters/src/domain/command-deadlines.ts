import { type Clock } from '@svc/runtime';
import { timestampAfter } from './timestamps.ts';
import { createOutcome, type CommandDispatcher } from './command-dispatcher.ts';
import type { Command, CommandStore } from './command.ts';

export interface CommandDeadlinesOptions {
  commands: CommandStore;
  dispatcher: CommandDispatcher;
  clock: Clock;
  lostAfterMs: number;
}

const CHECK_AGAIN_MS = 60_000;
/** A reconnecting agent may bring results; let them arrive before a deadline applies. */
const SETTLING_MS = 30_000;
const BATCH = 100;

/**
 * Ends overdue commands. An agent that is offline may already hold the result, so a command becomes `lost` only after
 * `lostAfterMs`.
 */
export class CommandDeadlines {
  readonly #options: CommandDeadlinesOptions;

  constructor(options: CommandDeadlinesOptions) {
    this.#options = options;
  }

  async sweep(): Promise<void> {
    const { commands, clock } = this.#options;
    for (const command of await commands.overdue(clock.now().toISOString(), BATCH)) await this.#settle(command);
  }

  async #settle(command: Command): Promise<void> {
    const { commands, dispatcher, clock, lostAfterMs } = this.#options;
    const finish = (status: 'timed_out' | 'lost', reason: string): Promise<boolean> =>
      dispatcher.finish(
        command.clusterId,
        command.id,
        createOutcome(status, status === 'lost' ? 'LOST' : 'TIMEOUT', reason),
      );
    if (command.state === 'queued') {
      await finish('timed_out', 'The agent did not connect in time');
      return;
    }
    const link = dispatcher.findLink(command.clusterId);
    if (link === undefined) {
      const lost = command.sentAt !== null && Date.parse(command.sentAt) + lostAfterMs <= clock.nowMs();
      if (lost) await finish('lost', 'The agent did not reconnect with the result');
      else await commands.postpone(command.id, timestampAfter(clock.now(), CHECK_AGAIN_MS));
      return;
    }
    if (clock.nowMs() - link.connectedAtMs < SETTLING_MS) {
      await commands.postpone(command.id, timestampAfter(clock.now(), SETTLING_MS));
      return;
    }
    await finish('timed_out', 'The agent sent no result in time');
    if (link.instanceId !== null && !link.closed) {
      await link.send('cancel', { command_id: command.id, reason: 'timed out' }).catch(() => {
        // The connection ended in this moment; the agent's own time limit ends the command.
      });
    }
  }
}
