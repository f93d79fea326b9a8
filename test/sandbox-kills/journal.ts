import type { Records, SandboxRecord } from './api.ts';
import { judgeExistence, type Contents, type Existence } from './known.ts';
import { judgeTemplates, type KnownBuild, type KnownTemplate } from './known-templates.ts';

export type State = 'running' | 'paused' | 'stopped' | 'error';

export interface Wish {
  /** Null for a generated name. */
  readonly name: string | null;
  readonly network: 'none' | 'egress';
  readonly egressAllow: readonly string[] | null;
  readonly resources: SandboxRecord['resources'];
}

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
  readonly templates: KnownTemplate[] = [];
  /** Hashes of uploaded archives; false if the upload was not answered. */
  readonly uploads = new Map<string, boolean>();
  /** Ids of sandboxes whose first process or program was killed, in order; the client may not know the id yet. */
  readonly #killed: string[] = [];
  /** Ids of sandboxes that clients created. */
  readonly #clientIds = new Set<string>();
  /** Responses that were wrong in themselves. */
  readonly findings: string[] = [];
  readonly events: string[] = [];
  readonly answered = new Map<string, number>();
  /** Images not requested yet. */
  readonly furtherImages: string[];
  open = 0;
  /** Builds that kills ended. */
  interruptedBuilds = 0;
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
    const { line, count } = this.linesOf(content);
    return Buffer.from(`${line}\n`.repeat(count));
  }

  /** A content consists of equal lines. */
  linesOf(content: number): { readonly line: string; readonly count: number } {
    // Some contents are large enough for a kill to interrupt the write.
    const times = content % 8 === 0 ? 16 : 1;
    return { line: `seed ${this.seed}, content ${content}`, count: times * (1 + ((content * 7919) % 4_000)) };
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

  beginTemplate(name: string): KnownTemplate {
    const fresh: KnownTemplate = { name, id: null, existence: 'open', builds: [] };
    this.templates.push(fresh);
    return fresh;
  }

  beginBuild(template: KnownTemplate, files: KnownBuild['files']): KnownBuild {
    const killsBefore = this.#killed.length;
    const fresh: KnownBuild = {
      tag: `n${this.nextNumber()}`,
      end: 'open',
      isJudged: false,
      killsBefore,
      killsUntil: killsBefore,
      files,
    };
    template.builds.push(fresh);
    return fresh;
  }

  buildEnded(build: KnownBuild, end: 'ready' | 'error'): void {
    build.end = end;
    build.killsUntil = this.#killed.length;
  }

  made(sandbox: KnownSandbox, id: string): void {
    sandbox.id = id;
    sandbox.existence = 'there';
    this.#clientIds.add(id);
    if (this.#killed.includes(id)) sandbox.isDoubtful = true;
  }

  /** Call this before the kill, because its effect may be visible immediately. */
  willKill(id: string): void {
    this.#killed.push(id);
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
  judge(all: Pick<Records, 'sandboxes' | 'snapshots' | 'volumes' | 'templates'>): string[] {
    const { sandboxes: records, snapshots, volumes, templates } = all;
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
        this.#clientIds.add(record.id);
        // Killed before the client received its id.
        if (sandbox.id === null && this.#killed.includes(record.id)) sandbox.isDoubtful = true;
      }
      findings.push(...judgeSandbox(sandbox, record));
    }
    for (const { id, name } of records) if (!taken.has(id)) findings.push(`no client created sandbox ${id} (${name})`);
    for (const snapshot of this.snapshots) {
      const record = snapshots.find(({ name }) => name === snapshot.name);
      findings.push(...judgeExistence(`snapshot ${snapshot.name}`, snapshot, record?.id));
    }
    const names = new Set(this.snapshots.map(({ name }) => name));
    for (const { name } of snapshots) if (!names.has(name)) findings.push(`no client created the snapshot ${name}`);
    for (const volume of this.volumes) {
      const record = volumes.find(({ name }) => name === volume.name);
      findings.push(...judgeExistence(`volume ${volume.name}`, volume, record?.id));
    }
    const knownVolumes = new Set(this.volumes.map(({ name }) => name));
    for (const { name } of volumes) if (!knownVolumes.has(name)) findings.push(`no client created the volume ${name}`);
    const pending = this.templates.flatMap(({ builds }) => builds).filter(({ isJudged }) => !isJudged);
    findings.push(...judgeTemplates(this.templates, templates, (build) => this.#isExplained(build)));
    this.interruptedBuilds += pending.filter(({ isJudged, end }) => isJudged && end === 'error').length;
    remove(this.templates, ({ existence }) => existence === 'gone');
    remove(this.volumes, ({ existence }) => existence === 'gone');
    remove(this.sandboxes, ({ existence }) => existence === 'gone');
    remove(this.snapshots, ({ existence }) => existence === 'gone');
    return findings;
  }

  /** Clients do not learn the ids of a build's sandboxes, so the kill of any that is not theirs explains a failure. */
  #isExplained({ killsBefore, killsUntil }: KnownBuild): boolean {
    return this.#killed.slice(killsBefore, killsUntil).some((id) => !this.#clientIds.has(id));
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

/** Null while it is being created. */
export function stateOf({ status, paused_at: pausedAt }: SandboxRecord): State | null {
  if (status === 'creating') return null;
  return status === 'running' && pausedAt !== null ? 'paused' : status;
}

function remove<Each>(list: Each[], which: (each: Each) => boolean): void {
  list.splice(0, list.length, ...list.filter((each) => !which(each)));
}
