import type { SeenCommand } from './platform-api.ts';

export interface CommandRecord {
  kind: 'deploy' | 'exec';
  /** Name of what it makes: an object, or a line in the worker's journal. */
  name: string;
  submittedAtMs: number;
  /** The platform has answered it, or its work is over. */
  answered: boolean;
  /** Null: the platform never accepted it. */
  id: string | null;
  /** Null: the platform had none in the end. */
  seen: SeenCommand | null;
}

/** What happened, from both sides: what the platform says, and what the cluster itself shows. */
export interface Records {
  readonly commands: CommandRecord[];
  /** How often each object of a deploy came to be: it is deleted as soon as it is seen. */
  readonly applied: Map<string, number>;
  /** Lines of the journal that commands write into. */
  readonly journal: Map<string, number>;
  /** Pods that came and went, as a watch of the API server saw it. */
  readonly podsCreated: Set<string>;
  readonly podsDeleted: Set<string>;
  /** `event_type resource` and how often the platform has it. */
  readonly events: Map<string, number>;
  readonly droppedEvents: number;
  /** The numbers of each log that was followed, until it ended. */
  readonly logs: LogRecord[];
  readonly agentKilledAtMs: readonly number[];
}

export interface LogRecord {
  numbers: number[];
  /** Lines that are no numbers: what the platform had to say. */
  remarks: string[];
}

export function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
