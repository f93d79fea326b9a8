import { setTimeout as delay } from 'node:timers/promises';
import { distributionOf, type Distribution } from './figures.ts';
import type { Subject } from './subject.ts';

/** `back-to-back` is `sequential` without the removal and the pause after each create. */
export type Pattern = 'sequential' | 'back-to-back' | 'staggered' | 'burst';

export const PATTERNS: readonly Pattern[] = ['sequential', 'back-to-back', 'staggered', 'burst'];

export interface CreateFigures {
  readonly subject: string;
  readonly pattern: Pattern;
  readonly running: Distribution;
  readonly prompt: Distribution;
  /** Fraction of 1. */
  readonly success: number;
}

interface Sample {
  readonly runningMs: number;
  readonly promptMs: number;
}

const STAGGER_MS = 50;

/** Subjects alternate: per create if creates are sequential, otherwise per run. */
export async function measureCreates(
  subjects: readonly Subject[],
  pattern: Pattern,
  count: number,
  say: (line: string) => void,
): Promise<CreateFigures[]> {
  const samples = new Map<Subject, (Sample | null)[]>(subjects.map((subject) => [subject, []]));
  const take = async (subject: Subject): Promise<void> => {
    samples.get(subject)?.push(await subject.create().catch((error: unknown) => failed(error, say)));
  };
  if (pattern === 'sequential') {
    for (let index = 0; index < count; index += 1) {
      for (const subject of subjects) {
        await take(subject);
        await subject.settle();
      }
    }
  } else if (pattern === 'back-to-back') {
    for (const subject of subjects) {
      say(`${pattern}: ${subject.name}`);
      for (let index = 0; index < count; index += 1) await take(subject);
      await subject.settle();
    }
  } else {
    for (const subject of subjects) {
      say(`${pattern}: ${subject.name}`);
      const begun = Array.from({ length: count }, async (_, index) => {
        if (pattern === 'staggered') await delay(index * STAGGER_MS);
        await take(subject);
      });
      await Promise.all(begun);
      await subject.settle();
    }
  }
  return subjects.map((subject) => figuresOf(subject.name, pattern, samples.get(subject) ?? []));
}

function failed(error: unknown, say: (line: string) => void): null {
  say(String(error));
  return null;
}

function figuresOf(subject: string, pattern: Pattern, samples: readonly (Sample | null)[]): CreateFigures {
  const good = samples.filter((each) => each !== null);
  return {
    subject,
    pattern,
    running: distributionOf(good.map(({ runningMs }) => runningMs)),
    prompt: distributionOf(good.map(({ promptMs }) => promptMs)),
    success: good.length / samples.length,
  };
}
