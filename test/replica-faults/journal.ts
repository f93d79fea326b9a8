/** A content that was written: numbered, so that each write is told apart. */
export interface Content {
  readonly number: number;
  readonly sizeBytes: number;
}

/** What an object may be; null is absent. A single one unless an answer is missing. */
export interface KnownObject {
  possible: readonly (Content | null)[];
  /** An earlier request may still be carried out, so the key is left alone until everything is at rest. */
  isOpen: boolean;
  /** Changed since the last audit. */
  isFresh: boolean;
}

/** `done`: it ran once. `refused`: it did not run. `open`: it may have run once. */
export type LineState = 'done' | 'refused' | 'open';

export interface KnownSandbox {
  readonly label: string;
  id: string | null;
  existence: 'there' | 'gone' | 'open';
  /** Numbers that commands append to a file of the sandbox. */
  readonly lines: Map<number, LineState>;
}

/** A record as a replica has it. */
export interface SandboxFacts {
  readonly id: string;
  /** The label or name that its client gave it. */
  readonly label: string;
}

const MOST_EVENTS = 60;

/** What the clients of a campaign know, across all rounds. */
export class Journal {
  readonly seed: number;
  readonly objects = new Map<string, KnownObject>();
  readonly sandboxes: KnownSandbox[] = [];
  /** Answers that are wrong in themselves. */
  readonly findings: string[] = [];
  readonly events: string[] = [];
  readonly counts = new Map<string, number>();
  #lastNumber = 0;

  constructor(seed: number) {
    this.seed = seed;
  }

  nextNumber(): number {
    this.#lastNumber += 1;
    return this.#lastNumber;
  }

  bytesOf({ number, sizeBytes }: Content): Buffer {
    return Buffer.alloc(sizeBytes, `seed ${this.seed}, content ${number};`);
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  wrong(finding: string): void {
    this.findings.push(finding);
  }

  /** Context for people who investigate a finding. */
  note(event: string): void {
    this.events.push(`${new Date().toISOString()} ${event}`);
    if (this.events.length > MOST_EVENTS) this.events.shift();
  }

  /** Announces a change of an object, before its request. */
  beginObject(key: string, content: Content | null): KnownObject {
    const known = this.objects.get(key) ?? { possible: [null], isOpen: false, isFresh: true };
    Object.assign(known, { possible: [...known.possible, content], isOpen: true, isFresh: true });
    this.objects.set(key, known);
    return known;
  }

  beginSandbox(label: string, lines: ReadonlyMap<number, LineState> = new Map()): KnownSandbox {
    const fresh: KnownSandbox = { label, id: null, existence: 'open', lines: new Map(lines) };
    this.sandboxes.push(fresh);
    return fresh;
  }

  /**
   * Compares what each replica has of an object at rest, null for nothing. What was open is expected from then on.
   */
  judgeObject(key: string, found: readonly (Buffer | null)[]): string[] {
    const known = this.objects.get(key);
    if (known === undefined) return [`object ${key} is there, though no client wrote it`];
    const match = known.possible.find((content) => found.every((each) => this.#is(content, each)));
    if (match === undefined) {
      return [`object ${key} is ${found.map(describe).join(' and ')}, expected ${this.#expected(known)}`];
    }
    if (match === null) this.objects.delete(key);
    else Object.assign(known, { possible: [match], isOpen: false, isFresh: false });
    return [];
  }

  /** Compares the sandboxes of the records with what clients know; what was open is expected from then on. */
  judgeSandboxes(records: readonly SandboxFacts[]): string[] {
    const findings: string[] = [];
    const labels = new Set(this.sandboxes.map(({ label }) => label));
    for (const { id, label } of records) {
      if (!labels.has(label)) findings.push(`sandbox ${id} is there, though no client created it`);
    }
    for (const known of this.sandboxes) {
      const ids = records.filter(({ label }) => label === known.label).map(({ id }) => id);
      const subject = `sandbox ${known.label} (${known.id ?? ids[0] ?? 'unknown'})`;
      if (ids.length > 1) findings.push(`${subject} was created ${ids.length} times: ${ids.join(', ')}`);
      if (known.existence === 'there' && !ids.includes(known.id ?? '')) findings.push(`${subject} is lost`);
      if (known.existence === 'gone' && ids.length > 0) findings.push(`${subject} was deleted and is there`);
      if (known.id === null || !ids.includes(known.id)) known.id = ids[0] ?? known.id;
      known.existence = ids.length === 0 ? 'gone' : 'there';
    }
    const left = this.sandboxes.filter(({ existence }) => existence === 'there');
    this.sandboxes.splice(0, this.sandboxes.length, ...left);
    return findings;
  }

  /** Compares the file to which commands append, and settles what was open. */
  judgeLines({ label, id, lines }: KnownSandbox, text: string): string[] {
    const times = new Map<number, number>();
    for (const line of text.split('\n').filter((each) => each !== '')) {
      times.set(Number(line), (times.get(Number(line)) ?? 0) + 1);
    }
    const subject = `of sandbox ${label} (${id})`;
    const findings: string[] = [];
    for (const [number, state] of lines) {
      const found = times.get(number) ?? 0;
      if (found > 1) findings.push(`command ${number} ${subject} ran ${found} times`);
      if (found === 0 && state === 'done') findings.push(`command ${number} ${subject} was answered and is lost`);
      if (found > 0 && state === 'refused') findings.push(`command ${number} ${subject} was refused and ran`);
    }
    for (const number of times.keys()) {
      if (!lines.has(number)) findings.push(`command ${number} ${subject} was sent to another sandbox`);
    }
    if (findings.length > 0) return findings;
    for (const number of lines.keys()) lines.set(number, times.has(number) ? 'done' : 'refused');
    return findings;
  }

  #is(content: Content | null, found: Buffer | null): boolean {
    if (content === null || found === null) return content === found;
    return content.sizeBytes === found.length && this.bytesOf(content).equals(found);
  }

  #expected({ possible }: KnownObject): string {
    return possible.map((content) => (content === null ? 'none' : describe(this.bytesOf(content)))).join(' or ');
  }
}

function describe(bytes: Buffer | null): string {
  return bytes === null ? 'none' : `${bytes.length} bytes of "${bytes.subarray(0, 40).toString()}"`;
}
