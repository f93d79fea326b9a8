/** A member's position in a round. */
export interface Turn<Member> {
  readonly member: Member;
  /** What the member may still spend in this round. */
  deficit: number;
  /** Whether the member received its quantum for this round. */
  isVisited: boolean;
}

/** One level of deficit round robin: members in turn order, with their remaining budgets. */
export class FairRound<Member> {
  readonly #quantum: number;
  readonly #turns = new Map<string, Turn<Member>>();

  /** `quantum`: budget per member and round; must be positive. */
  constructor(quantum: number) {
    this.#quantum = quantum;
  }

  get(name: string): Member | undefined {
    return this.#turns.get(name)?.member;
  }

  /** Appends a member. An existing one keeps its position. */
  add(name: string, member: Member): void {
    if (!this.#turns.has(name)) this.#turns.set(name, { member, deficit: 0, isVisited: false });
  }

  delete(name: string): void {
    this.#turns.delete(name);
  }

  /**
   * Returns the first member in turn that can afford its next item, or undefined. `costOf` returns undefined for an
   * idle member. Calling it again has no effect: the caller lowers the deficit when it serves the member.
   */
  next(costOf: (member: Member) => number | undefined): Turn<Member> | undefined {
    let skippedInARow = 0;
    while (skippedInARow < this.#turns.size) {
      const [first] = this.#turns;
      if (first === undefined) return undefined;
      const [name, turn] = first;
      const cost = costOf(turn.member);
      if (cost !== undefined && !turn.isVisited) {
        turn.isVisited = true;
        turn.deficit += this.#quantum;
      }
      if (cost !== undefined && turn.deficit >= cost) return turn;
      skippedInARow = cost === undefined ? skippedInARow + 1 : 0;
      turn.isVisited = false;
      this.#turns.delete(name); // re-inserted last: the map is in turn order
      this.#turns.set(name, turn);
    }
    return undefined;
  }
}
