import type { Engine } from '../engines/engine.ts';

/** One figure that all engines are compared by. More is better. */
export interface Measure {
  readonly name: string;
  readonly unit: string;
  /** The least ratio to the best peer that we aim at. */
  readonly aim: number;
  /** Makes what the rounds need; called once for each engine. */
  prepare(engine: Engine): Promise<void>;
  /** One round. */
  run(engine: Engine, round: number): Promise<number>;
}
