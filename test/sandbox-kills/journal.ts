import type { Records, SandboxRecord } from './api.ts';

export type State = 'running' | 'paused' | 'stopped' | 'error';

/** Possible content numbers of a file; null for no file. The last one was written last. */
type Contents = readonly (number | null)[];

export interface Wish {
  /** Null for a generated name. */
  readonly name: string | null;
  readonly network: 'none' | 'egress';
  readonly egressAllow: readonly string[] | null;
  readonly resources: SandboxRecord['resources'];
}

/** What the responses reveal about a requested item: it exists, it is deleted, or either is possible. */
export type Existence = 'there' | 'gone' | 'open';

export interface KnownSandbox {
  readonly label: string;
  readonly wish: Wish;
  id: string | null;
  existence: Existence;
  /** A single state unless its outcome is open. */
  states: ReadonlySet<State>;
  /** Its first process was killed, and no later event has shown the result. */
  isDoubtful: boolean;
  /** All but those on its volume. */
  files: ReadonlyMap<string, Contents>;
  readonly volume: KnownVolume | null;
}

/** A volume has one sandbox at a time, and keeps its files for the next one. */
export interface KnownVolume {
  readonly name: string;
  id: string | null;
  existence: Existence;
  files: ReadonlyMap<string, Contents>;
}

export interface KnownSnapshot {
  readonly name: string;
  readonly wish: Wish;
  id: string | null;
  existence: Existence;
  readonly files: ReadonlyMap<string, Contents>;
}

const MOST_EVENTS = 20;

/** What the clients of a campaign know, across all rounds. */
export class Journal {
  readonly seed: number;
  readonly sandboxes: KnownSandbox[] = [];
  readonly snapshots: KnownSnapshot[] = [];
  readonly volumes: KnownVolume[] = [];
  /** Sandbox ids whose first process was killed; the client may not know the id yet. */
  readonly #killed = new Set<string>();
  /** Responses that were wrong in themselves. */
  readonly findings: string[] = [];
  readonly events: string[] = [];
  readonly answered = new Map<string, number>();
  /** Images not requested yet. */
  readonly furtherImages: string[];
  open = 0;
  #lastNumber = 0;

  constructor(seed: number, furtherImages: readonly string[]) {
    this.seed = seed;
    this.furtherImages = [...furtherImages];
  }

  nextNumber(): number {
    this.#lastNumber += 1;
    return this.#lastNumber;
  }

  bytesOf(content: number): Buffer {
    const line = `seed ${this.seed}, content ${content}\n`;
    // Some contents are large enough for a kill to interrupt the write.
    const times = content % 8 === 0 ? 16 : 1;
    return Buffer.from(line.repeat(times * (1 + ((content * 7919) % 4_000))));
  }

  beginSandbox(
    label: string,
    wish: Wish,
    files: ReadonlyMap<string, Contents> = new Map(),
    volume: KnownVolume | null = null,
  ): KnownSandbox {
    const fresh: KnownSandbox = {
      label,
      wish,
      id: null,
      existence: 'open',
      states: new Set(['running']),
      isDoubtful: false,
      files,
      volume,
    };
    this.sandboxes.push(fresh);
    return fresh;
  }

  beginVolume(name: string): KnownVolume {
    const fresh: KnownVolume = { name, id: null, existence: 'open', files: new Map() };
    this.volumes.push(fresh);
    return fresh;
  }

  /** Whether no sandbox has the volume, as far as is known. */
  isFree(volume: KnownVolume): boolean {
    return (
      volume.existence === 'there' &&
      this.sandboxes.every((sandbox) => sandbox.volume !== volume || sandbox.existence === 'gone')
    );
  }

  beginSnapshot(name: string, { wish, files }: KnownSandbox): KnownSnapshot {
    const fresh: KnownSnapshot = { name, wish, id: null, existence: 'open', files };
    this.snapshots.push(fresh);
    return fresh;
  }

  made(sandbox: KnownSandbox, id: string): void {
    sandbox.id = id;
    sandbox.existence = 'there';
    if (this.#killed.has(id)) sandbox.isDoubtful = true;
  }

  /** Call this before the kill, because its effect may be visible immediately. */
  willKill(id: string): void {
    this.#killed.add(id);
    for (const sandbox of this.sandboxes) if (sandbox.id === id) sandbox.isDoubtful = true;
  }

  wrong(finding: string): void {
    this.findings.push(finding);
  }

  /** Context for people who investigate a finding. */
  note(event: string): void {
    this.events.push(`${new Date().toISOString()} ${event}`);
    if (this.events.length > MOST_EVENTS) this.events.shift();
  }

  count(operation: string): void {
    this.answered.set(operation, (this.answered.get(operation) ?? 0) + 1);
  }

  get answeredTotal(): number {
    return [...this.answered.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Compares with the records of a platform at rest; allowed differences are adopted as the expected state. */
  judge({ sandboxes: records, snapshots, volumes }: Pick<Records, 'sandboxes' | 'snapshots' | 'volumes'>): string[] {
    const named = new Map(records.map((record) => [record.name, record]));
    const taken = new Set<string>();
    const findings: string[] = [];
    const asked = new Set(this.sandboxes.map(({ wish }) => wish.name));
    // A fork has the labels of its source, and always a name.
    const find = ({ label, wish }: KnownSandbox): SandboxRecord | undefined =>
      wish.name === null
        ? records.find((each) => each.labels['campaign'] === label && !asked.has(each.name))
        : named.get(wish.name);
    for (const sandbox of this.sandboxes) {
      const record = find(sandbox);
      if (record !== undefined) {
        taken.add(record.id);
        // Killed before the client received its id.
        if (sandbox.id === null && this.#killed.has(record.id)) sandbox.isDoubtful = true;
      }
      findings.push(...judgeSandbox(sandbox, record));
    }
    for (const { id, name } of records) if (!taken.has(id)) findings.push(`nobody asked for sandbox ${id} (${name})`);
    for (const snapshot of this.snapshots) {
      const record = snapshots.find(({ name }) => name === snapshot.name);
      findings.push(...judgeExistence(`snapshot ${snapshot.name}`, snapshot, record?.id));
    }
    const names = new Set(this.snapshots.map(({ name }) => name));
    for (const { name } of snapshots) if (!names.has(name)) findings.push(`nobody asked for the snapshot ${name}`);
    for (const volume of this.volumes) {
      const record = volumes.find(({ name }) => name === volume.name);
      findings.push(...judgeExistence(`volume ${volume.name}`, volume, record?.id));
    }
    const knownVolumes = new Set(this.volumes.map(({ name }) => name));
    for (const { name } of volumes) if (!knownVolumes.has(name)) findings.push(`nobody asked for the volume ${name}`);
    remove(this.volumes, ({ existence }) => existence === 'gone');
    remove(this.sandboxes, ({ existence }) => existence === 'gone');
    remove(this.snapshots, ({ existence }) => existence === 'gone');
    return findings;
  }
}

function judgeSandbox(sandbox: KnownSandbox, record: SandboxRecord | undefined): string[] {
  const subject = `sandbox ${sandbox.label} (${record?.id ?? sandbox.id})`;
  const findings = judgeExistence(subject, sandbox, record?.id);
  if (record === undefined) return findings;
  const state = stateOf(record);
  const isExplained = state === 'error' && sandbox.isDoubtful;
  if (state !== null && !sandbox.states.has(state) && !isExplained) {
    const why = record.error === null ? record.state_reason : `${record.error.code}: ${record.error.message}`;
    findings.push(`${subject} is ${state} (${why}), expected ${[...sandbox.states].join(' or ')}`);
  }
  const { wish } = sandbox;
  for (const [what, is, wanted] of [
    ['resources', record.resources, wish.resources],
    ['network', record.network, wish.network],
    ['egress_allow', record.egress_allow, wish.egressAllow],
    ['volumes', record.volumes.map(({ name }) => name), sandbox.volume === null ? [] : [sandbox.volume.name]],
  ] as const) {
    const [found, expected] = [JSON.stringify(is), JSON.stringify(wanted)];
    if (found !== expected) findings.push(`${subject} has ${what} ${found}, expected ${expected}`);
  }
  if (state !== null) sandbox.states = new Set([state]);
  // A paused sandbox that was killed only ends when it is resumed.
  sandbox.isDoubtful &&= state === 'paused';
  return findings;
}

function judgeExistence(
  subject: string,
  known: { existence: Existence; id: string | null },
  foundId: string | undefined,
): string[] {
  const { existence } = known;
  known.existence = foundId === undefined ? 'gone' : 'there';
  known.id = foundId ?? known.id;
  if (existence === 'there' && foundId === undefined) return [`${subject} is gone`];
  if (existence === 'gone' && foundId !== undefined) return [`${subject} was deleted and is there`];
  return [];
}

/** Null while it is being created. */
export function stateOf({ status, paused_at: pausedAt }: SandboxRecord): State | null {
  if (status === 'creating') return null;
  return status === 'running' && pausedAt !== null ? 'paused' : status;
}

function remove<Each>(list: Each[], which: (each: Each) => boolean): void {
  list.splice(0, list.length, ...list.filter((each) => !which(each)));
}
