/** The place of a member in a round. */
export interface Turn<Member> {
  readonly member: Member;
  /** What the member may still spend in this round. */
  deficit: number;
  /** Whether the member got its quantum of this round. */
  isVisited: boolean;
}

/** One level of deficit round robin: members in the order of their turns, with what each may still spend. */
export class FairRound<Member> {
  readonly #quantum: number;
  readonly #turns = new Map<string, Turn<Member>>();

  /** `quantum`: what a member may spend in one round; must be positive. */
  constructor(quantum: number) {
    this.#quantum = quantum;
  }

  get(name: string): Member | undefined {
    return this.#turns.get(name)?.member;
  }

  /** Adds a member behind the others. One that is there keeps its place. */
  add(name: string, member: Member): void {
    if (!this.#turns.has(name)) this.#turns.set(name, { member, deficit: 0, isVisited: false });
  }

  delete(name: string): void {
    this.#turns.delete(name);
  }

  /**
   * The first in turn that can pay for what it wants next, or undefined. `costOf`: undefined for a member that wants
   * nothing now. Asking again changes nothing: the caller lowers the deficit when it serves the member.
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
      this.#turns.delete(name); // inserted again last: the order of the map is the order of turns
      this.#turns.set(name, turn);
    }
    return undefined;
  }
}
