import type { Subscription } from '../domain/changes.ts';
import { isFinished, type Command, type CommandNote, type CommandStore } from '../domain/command.ts';
import type { ServerEvent, ServerEvents } from './event-stream.ts';

export interface NotesStreamOptions {
  commands: CommandStore;
  clusterId: string;
  commandId: string;
  after: number;
  subscription: Subscription;
  signal: AbortSignal;
  /** The body of the final event. */
  final: () => Promise<unknown>;
}

const PAGE = 100;
const KEEP_ALIVE_MS = 15_000;

/**
 * Streams a command's history from its rows: a client that reconnects reads what it missed, and a slow reader delays
 * only itself. Ends after the result.
 */
export async function* commandEvents(options: NotesStreamOptions): ServerEvents {
  const { commands, commandId, subscription, signal } = options;
  let { after } = options;
  while (!signal.aborted) {
    const notes = await commands.notes(commandId, after, PAGE);
    for (const note of notes) {
      after = note.sequence;
      yield await toServerEvent(note, options.final);
      if (note.type === 'result') return;
    }
    if (notes.length === PAGE) continue;
    if ((await commands.find(options.clusterId, commandId)) === undefined) return;
    const before = after;
    await subscription.next(KEEP_ALIVE_MS, signal);
    if (!signal.aborted && before === after) yield null;
  }
}

/** True if a reader that has seen `after` has nothing more to read. */
export async function hasSeenAll(
  commands: CommandStore,
  command: Command,
  after: number | undefined,
): Promise<boolean> {
  if (after === undefined || !isFinished(command.state)) return false;
  return (await commands.notes(command.id, after, 1)).length === 0;
}

async function toServerEvent(note: CommandNote, final: () => Promise<unknown>): Promise<ServerEvent> {
  const { sequence: id, type: event, createdAt } = note;
  if (event === 'result') return { id, event, data: await final() };
  const status = event === 'state' ? note.data['state'] : 'running';
  return { id, event, data: { ...note.data, status, timestamp: createdAt } };
}
