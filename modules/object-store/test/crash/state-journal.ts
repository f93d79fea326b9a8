/** What clients know about things with several states: present or absent, tagged with one value or another. */
export class StateJournal<State> {
  readonly #initial: State;
  readonly #things = new Map<string, { settled: State; open: Set<State> }>();

  constructor(initial: State) {
    this.#initial = initial;
  }

  begin(name: string, state: State): void {
    this.#thing(name).open.add(state);
  }

  answered(name: string, state: State): void {
    this.#things.set(name, { settled: state, open: new Set() });
  }

  refused(name: string, state: State): void {
    this.#thing(name).open.delete(state);
  }

  /** Undefined while an attempt is open. */
  known(name: string): State | undefined {
    const thing = this.#thing(name);
    return thing.open.size > 0 ? undefined : thing.settled;
  }

  names(): Iterable<string> {
    return this.#things.keys();
  }

  judge(name: string, found: State): string | null {
    const thing = this.#thing(name);
    if (found !== thing.settled && !thing.open.has(found)) {
      const possible = [thing.settled, ...thing.open].map((state) => JSON.stringify(state));
      return `${name}: is ${JSON.stringify(found)}, answered was ${possible.join(' or ')}`;
    }
    this.answered(name, found);
    return null;
  }

  #thing(name: string): { settled: State; open: Set<State> } {
    const known = this.#things.get(name);
    if (known !== undefined) return known;
    const fresh = { settled: this.#initial, open: new Set<State>() };
    this.#things.set(name, fresh);
    return fresh;
  }
}
