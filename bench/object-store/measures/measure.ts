import type { Engine } from '../engines/engine.ts';

/** A figure for comparing engines. More is better. */
export interface Measure {
  readonly name: string;
  readonly unit: string;
  /** Target: the minimum ratio to the best peer. */
  readonly aim: number;
  /** Prepares the rounds; called once per engine. */
  prepare(engine: Engine): Promise<void>;
  /** Runs one round. */
  run(engine: Engine, round: number): Promise<number>;
}
