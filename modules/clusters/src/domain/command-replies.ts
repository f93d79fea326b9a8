import type { CommandAck, CommandOutput, CommandProgress, CommandResult } from '@svc/protocol';
import type { AgentLink } from './agent-link.ts';
import { type Clock } from '@svc/runtime';
import { timestampAfter } from './timestamps.ts';
import type { CommandDispatcher } from './command-dispatcher.ts';
import type { CommandStore, NoteDraft, NoteLimits } from './command.ts';
import type { OutputRelays } from './output-relays.ts';

export interface CommandRepliesOptions {
  commands: CommandStore;
  dispatcher: CommandDispatcher;
  relays: OutputRelays;
  clock: Clock;
  noteLimits: NoteLimits;
}

/** How long a rejected command may take to send its result before it is given up. */
const REJECTED_GRACE_MS = 15_000;

/**
 * Handles agents' messages about commands. Each lookup names the cluster of the connection, so an agent can neither
 * read nor change another cluster's commands: such a message has no effect and gets the same reply as one about a
 * forgotten command.
 */
export class CommandReplies {
  readonly #options: CommandRepliesOptions;

  constructor(options: CommandRepliesOptions) {
    this.#options = options;
  }

  async acknowledge(link: AgentLink, ack: CommandAck): Promise<void> {
    const { commands, clock } = this.#options;
    const now = clock.now();
    const running = ack.state === 'accepted' || ack.state === 'duplicate';
    const changed = await commands.acknowledge(link.clusterId, ack.command_id, running, now.toISOString());
    if (!changed) return;
    if (ack.state === 'rejected') await commands.postpone(ack.command_id, timestampAfter(now, REJECTED_GRACE_MS));
  }

  async progress(link: AgentLink, { command_id: id, seq, ...data }: CommandProgress): Promise<void> {
    await this.#note(link, id, { type: 'progress', data, agentSequence: seq, sizeBytes: data.message.length });
  }

  async output(link: AgentLink, output: CommandOutput): Promise<void> {
    if (this.#options.relays.output(link.clusterId, output)) return;
    const { command_id: id, seq, ...data } = output;
    await this.#note(link, id, { type: 'output', data, agentSequence: seq, sizeBytes: data.data.length });
  }

  /**
   * Acknowledged only once on disk. A result for a deleted command is acknowledged too; otherwise the agent would
   * resend it forever.
   */
  async result(link: AgentLink, result: CommandResult): Promise<void> {
    const { command_id: id, command, status, error, deploy, exec, logs, ...times } = result;
    await this.#options.dispatcher.finish(link.clusterId, id, {
      status,
      error: error ?? null,
      result: { ...times, ...{ deploy, exec, logs }[command] },
    });
    await link.send('result_ack', { command_ids: [id] });
  }

  async #note(link: AgentLink, id: string, draft: NoteDraft): Promise<void> {
    const { commands, clock, noteLimits } = this.#options;
    await commands.note(link.clusterId, id, draft, clock.now().toISOString(), noteLimits);
  }
}
