import type { SeenCommand } from './platform-api.ts';

export interface CommandRecord {
  kind: 'deploy' | 'exec';
  /** Name of its effect: an object, or a line in the worker's journal. */
  name: string;
  submittedAtMs: number;
  /** The platform has responded, or its work is over. */
  answered: boolean;
  /** Null if the platform never accepted it. */
  id: string | null;
  /** Null if the platform had none in the end. */
  seen: SeenCommand | null;
}

/** Events from both sides: the platform's records and the cluster's own view. */
export interface Records {
  readonly commands: CommandRecord[];
  /** How often each object of a deploy was created; it is deleted as soon as it is seen. */
  readonly applied: Map<string, number>;
  /** Lines of the journal that commands append to. */
  readonly journal: Map<string, number>;
  /** Created and deleted pods, as seen by a watch of the API server. */
  readonly podsCreated: Set<string>;
  readonly podsDeleted: Set<string>;
  /** `event_type resource`, and how often the platform recorded it. */
  readonly events: Map<string, number>;
  readonly droppedEvents: number;
  /** The numbers in each followed log, until it ended. */
  readonly logs: LogRecord[];
  readonly agentKilledAtMs: readonly number[];
}

export interface LogRecord {
  numbers: number[];
  /** Non-numeric lines: messages of the platform. */
  remarks: string[];
}

export function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
