import type { Ground, Outcome } from './ground.ts';

export interface EscapeCase {
  /** What a sandbox must not do: "a sandbox never …". */
  readonly title: string;
  /** The attack from inside a sandbox; success is an escape. */
  attempt(ground: Ground): Promise<Outcome>;
  /**
   * The same attack without the barrier: on this host, with a wider limit, or on an allowed target. It must succeed;
   * otherwise the refusal proves nothing.
   */
  control(ground: Ground): Promise<Outcome>;
}
