import type { Ground, Outcome } from './ground.ts';

export interface EscapeCase {
  /** What a sandbox must not do: "a sandbox never …". */
  readonly title: string;
  /** From inside a sandbox; done is an escape. */
  attempt(ground: Ground): Promise<Outcome>;
  /**
   * The same where the wall is not: on this host, with a wider limit, or at a target that may be reached. It must be done,
   * else the refusal proves nothing.
   */
  control(ground: Ground): Promise<Outcome>;
}
