import type { AgentLink } from './agent-link.ts';
import type { Command } from './command.ts';

/** What to do with a command that was sent over an earlier connection. */
export type Recovery = 'keep' | 'send-again' | 'lose' | 'abandon';

/**
 * - `keep`: the agent says it has it, or it is one of the contract and says nothing, or its hello came late and it was
 *   sent over this connection meanwhile.
 * - `send-again`: the same process may never have received it and knows its ids, so twice is safe. A deploy is also safe
 *   for another process: the agent keeps the ids of deploys in the cluster, and applying is idempotent. What was sent
 *   before a late hello went to the process that connects now again; a process that connects for the first time is another.
 *   Any other command is safe for another process on the same folder when none has acknowledged it: what a process of
 *   that folder begins, it writes into the journal there before, and names in its hello.
 * - `lose`: another process may have run an exec halfway; running it twice would be worse than not knowing.
 * - `abandon`: logs whose reader is gone with the last run of the platform.
 */
export function recoveryOf(
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

/** Its own connection is alive: what was sent over it arrives behind the hello. */
function wasSentOver({ connectedAtMs }: Pick<AgentLink, 'connectedAtMs'>, { sentAt }: Command): boolean {
  return sentAt !== null && Date.parse(sentAt) >= connectedAtMs;
}
