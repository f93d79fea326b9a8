import type { SeenCommand } from './platform-api.ts';

export interface CommandRecord {
  kind: 'deploy' | 'exec';
  /** Name of what it creates: an object, or a line in the worker's journal. */
  name: string;
  submittedAtMs: number;
  /** The platform has responded, or its work is done. */
  answered: boolean;
  /** Null: never accepted by the platform. */
  id: string | null;
  /** Null: missing on the platform at the end. */
  seen: SeenCommand | null;
}

/** What happened, from both sides: the platform's and the cluster's. */
export interface Records {
  readonly commands: CommandRecord[];
  /** How often each deployed object was created: it is deleted once seen. */
  readonly applied: Map<string, number>;
  /** Lines of the journal that commands write to. */
  readonly journal: Map<string, number>;
  /** Pods created and deleted, from a watch of the API server. */
  readonly podsCreated: Set<string>;
  readonly podsDeleted: Set<string>;
  /** `event_type resource` and how often the platform has it. */
  readonly events: Map<string, number>;
  readonly droppedEvents: number;
  /** The numbers of each followed log, until it ended. */
  readonly logs: LogRecord[];
  readonly agentKilledAtMs: readonly number[];
}

export interface LogRecord {
  numbers: number[];
  /** Lines that are not numbers: messages of the platform. */
  remarks: string[];
}

export function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
