/** A connection to a terminal, or what is left of it. */
interface TypedConnection {
  /** Takes no more input. Resolves with the bytes that the process got. */
  endInput(): Promise<number>;
}

/** Clients resume much sooner or not at all. */
const MOST_ENDED = 1_000;

/**
 * How much input the process got from each connection to a session, so that a client whose connection broke can send the
 * rest again, and nothing twice.
 */
export class TypedInput {
  readonly #open = new Map<string, TypedConnection>();
  /** The newest last. */
  readonly #ended = new Map<string, Promise<number>>();

  /** Follows a connection of a session, under the name that its client chose. Returns a function for its end. */
  follow(place: string, name: string, connection: TypedConnection): () => void {
    const key = `${place} ${name}`;
    this.#open.set(key, connection);
    return () => {
      if (this.#open.get(key) === connection) this.#end(key, connection);
    };
  }

  /** Ends a connection, if it is still open, and resolves with the bytes that the process got; null if it is unknown. */
  async takenBytes(place: string, name: string): Promise<number | null> {
    const key = `${place} ${name}`;
    const open = this.#open.get(key);
    if (open !== undefined) this.#end(key, open);
    return (await this.#ended.get(key)) ?? null;
  }

  #end(key: string, connection: TypedConnection): void {
    this.#open.delete(key);
    this.#ended.set(key, connection.endInput());
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MOST_ENDED && oldest !== undefined) this.#ended.delete(oldest);
  }
}
