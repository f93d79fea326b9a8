/** What the clients know of things that are there or not: buckets, access keys. */
export class PresenceJournal {
  readonly #things = new Map<string, { settled: boolean; open: Set<boolean> }>();

  begin(name: string, present: boolean): void {
    this.#thing(name).open.add(present);
  }

  answered(name: string, present: boolean): void {
    this.#things.set(name, { settled: present, open: new Set() });
  }

  refused(name: string, present: boolean): void {
    this.#thing(name).open.delete(present);
  }

  /** Undefined while an attempt is open. */
  known(name: string): boolean | undefined {
    const thing = this.#thing(name);
    return thing.open.size > 0 ? undefined : thing.settled;
  }

  names(): Iterable<string> {
    return this.#things.keys();
  }

  judge(name: string, present: boolean): string | null {
    const thing = this.#thing(name);
    if (present !== thing.settled && !thing.open.has(present)) {
      return `${name}: is ${present ? '' : 'not '}there, against what was answered`;
    }
    this.answered(name, present);
    return null;
  }

  #thing(name: string): { settled: boolean; open: Set<boolean> } {
    const known = this.#things.get(name);
    if (known !== undefined) return known;
    const fresh = { settled: false, open: new Set<boolean>() };
    this.#things.set(name, fresh);
    return fresh;
  }
}
