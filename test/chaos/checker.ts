import type { SeenCommand } from './platform-api.ts';
import type { CommandRecord, LogRecord, Records } from './records.ts';
import { COMMAND_SECONDS } from './workload.ts';

/** The agent's own limit: a deploy during which more processes are killed is lost. */
const MAX_RESUMES = 3;

/** All violations, one sentence each; none = all is well. */
export function findingsOf(records: Records): string[] {
  return [
    ...records.commands.flatMap((command) => commandFindings(command, records)),
    ...repeated('object', withoutResumed(records)),
    ...repeated('journal line', records.journal),
    ...eventFindings(records),
    ...records.logs.flatMap((log, index) => logFindings(log, index)),
  ];
}

function commandFindings(command: CommandRecord, records: Records): string[] {
  const { kind, name, id, seen } = command;
  if (id === null) return []; // never accepted, so nothing was promised; its effect still counts
  if (seen === null) return [`${kind} ${name} (${id}): its result is lost`];
  const done = (kind === 'deploy' ? records.applied : records.journal).get(name) ?? 0;
  switch (seen.status) {
    case 'succeeded':
      return done === 0 ? [`${kind} ${name} (${id}): succeeded, but nothing was done`] : [];
    case 'lost':
      return lossFindings(command, seen, records);
    case 'timed_out':
      // Also applies to a stored result, which an overloaded machine may deliver late but never early.
      return secondsOf(seen) < COMMAND_SECONDS ? [`${kind} ${name} (${id}): timed out after ${secondsOf(seen)} s`] : [];
    default:
      return [`${kind} ${name} (${id}): ${seen.status}: ${seen.error?.code ?? ''} ${seen.error?.message ?? ''}`];
  }
}

function secondsOf({ created_at: createdAt, finished_at: finishedAt }: SeenCommand): number {
  return finishedAt === null ? 0 : Math.round((Date.parse(finishedAt) - Date.parse(createdAt)) / 1000);
}

/** The progress of an interrupted exec is unknown; a deploy is finished by the next process, within its limit. */
function lossFindings(command: CommandRecord, seen: SeenCommand, records: Records): string[] {
  const { kind, name, id } = command;
  const kills = killsDuring(command, seen, records);
  if (kills === 0) return [`${kind} ${name} (${id}): lost, though no agent was killed`];
  if (kind === 'deploy' && kills <= MAX_RESUMES) return [`deploy ${name} (${id}): lost after ${kills} kills`];
  return [];
}

function killsDuring(
  { submittedAtMs }: CommandRecord,
  { finished_at: finishedAt }: SeenCommand,
  { agentKilledAtMs }: Records,
): number {
  const finishedAtMs = finishedAt === null ? Number.POSITIVE_INFINITY : Date.parse(finishedAt);
  return agentKilledAtMs.filter((atMs) => atMs >= submittedAtMs && atMs <= finishedAtMs).length;
}

/**
 * A deploy during which an agent was killed is applied again, so its object, which is deleted once seen, is created
 * again.
 */
function withoutResumed(records: Records): ReadonlyMap<string, number> {
  const resumed = records.commands.filter(
    (command) => command.kind === 'deploy' && command.seen !== null && killsDuring(command, command.seen, records) > 0,
  );
  const names = new Set(resumed.map(({ name }) => name));
  return new Map([...records.applied].filter(([name]) => !names.has(name)));
}

function repeated(what: string, counts: ReadonlyMap<string, number>): string[] {
  return [...counts].filter(([, times]) => times > 1).map(([name, times]) => `${what} ${name} came ${times} times`);
}

function eventFindings({ podsCreated, podsDeleted, events, droppedEvents }: Records): string[] {
  const expected = [
    ...[...podsCreated].map((name) => `pod_created pod/${name}`),
    ...[...podsDeleted].map((name) => `pod_deleted pod/${name}`),
  ];
  const missing = expected.filter((event) => !events.has(event)).map((event) => `event ${event} is lost`);
  const dropped = droppedEvents > 0 ? [`${droppedEvents} events were dropped, though they were few`] : [];
  return [...missing, ...repeated('event', events), ...dropped];
}

/** The container counts, so gaps and repetitions show. */
function logFindings({ numbers, remarks }: LogRecord, index: number): string[] {
  const broken = numbers.findIndex((each, at) => at > 0 && each !== (numbers[at - 1] ?? 0) + 1);
  const gap = broken === -1 ? [] : [`log ${index}: ${numbers[broken]} follows ${numbers[broken - 1]}`];
  return [...gap, ...remarks.map((remark) => `log ${index}: ${remark}`)];
}
