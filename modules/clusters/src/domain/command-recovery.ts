import type { AgentLink } from './agent-link.ts';
import type { Command } from './command.ts';

/** What to do with a command that was sent over an earlier connection. */
export type Recovery = 'keep' | 'send-again' | 'lose' | 'abandon';

/**
 * - `keep`: the agent reports that it has the command, or it knows only the contract and reports nothing, or its hello
 *   was late and the command was sent over this connection in the meantime.
 * - `send-again`: the same process may never have received it and deduplicates by id, so a repeat is safe. A deploy is
 *   also safe for another process: the agent keeps deploy ids in the cluster, and applying is idempotent. A command
 *   sent before a late hello went to the process that is now reconnecting; a process that connects for the first time
 *   is another one. Any other command is safe for another process on the same folder if it was never acknowledged: a
 *   process writes each command to that folder's journal before it starts it, and lists it in its hello.
 * - `lose`: another process may have run part of an exec; running it twice would be worse than an unknown result.
 * - `abandon`: logs whose reader ended with the platform's previous run.
 */
export function planRecovery(
  command: Command,
  link: Pick<AgentLink, 'instanceId' | 'outboxId' | 'isFirstConnection' | 'connectedAtMs'>,
  inFlight: ReadonlySet<string>,
  hasReader: boolean,
): Recovery {
  if (command.kind === 'logs' && !hasReader) return 'abandon';
  if (link.instanceId === null || inFlight.has(command.id)) return 'keep';
  if (command.sentInstanceId === null && wasSentOver(link, command)) return 'keep';
  if (command.kind === 'deploy' || command.sentInstanceId === link.instanceId) return 'send-again';
  if (command.sentInstanceId === null) return link.isFirstConnection ? 'lose' : 'send-again';
  const sameJournal = command.sentOutboxId !== null && command.sentOutboxId === link.outboxId;
  return sameJournal && command.acknowledgedAt === null ? 'send-again' : 'lose';
}

/** That connection is alive: anything sent over it arrives after the hello. */
function wasSentOver({ connectedAtMs }: Pick<AgentLink, 'connectedAtMs'>, { sentAt }: Command): boolean {
  return sentAt !== null && Date.parse(sentAt) >= connectedAtMs;
}
