import type { Ground } from './ground.ts';
import type { Outcome } from './outcome.ts';

export interface EscapeCase {
  /** What a sandbox must not do; completes "a sandbox never …". */
  readonly title: string;
  /** Tries it inside a sandbox; success is an escape. */
  attempt(ground: Ground): Promise<Outcome>;
  /**
   * Tries the same without the barrier: on this host, with a higher limit, or at an allowed target. It must succeed, or
   * the refusal proves nothing.
   */
  control(ground: Ground): Promise<Outcome>;
}
