import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, it } from 'vitest';
import { startCoverage, type Coverage } from './coverage.ts';
import { below, createRandom, mutate } from './mutate.ts';

export interface FuzzTarget {
  /** The target in words: `the S3 chunked decoder`. */
  name: string;
  /** Folder of the saved inputs, next to the test: `new URL('./corpus/chunked-decoder/', import.meta.url)`. */
  corpus: URL;
  seeds: readonly (string | Uint8Array)[];
  /** Tokens that are meaningful to the parser. */
  dictionary?: readonly string[];
  maxBytes?: number;
  /** Mutations in a usual test run, if each takes long. Defaults to 2,000. */
  inputs?: number;
  /** Throws if an invariant is broken, that is on anything but an expected refusal. */
  run(input: Buffer): void | Promise<void>;
}

const CI_INPUTS = 2000;
const SEED = 20_261_122;
const DEFAULT_MAX_BYTES = 4096;
const CALIBRATION_INPUTS = 50;
const BATCH_INPUTS = 200;

/**
 * Registers the tests of a fuzz target: the saved corpus, then a fixed number of mutations from a fixed seed. With
 * `SVC_FUZZ_SECONDS=N`, the second test instead runs for N seconds from a random seed, guided by coverage, and saves
 * each input that reached new code; a failing input is saved as `failed-<hash>` in the corpus.
 */
export function describeFuzz(target: FuzzTarget): void {
  const seconds = Number(process.env['SVC_FUZZ_SECONDS'] ?? 0);
  // From now on, as functions that were compiled before have no counters for their blocks. Ends with the process: the next
  // target of the file needs it, too.
  const coverage = seconds > 0 ? startCoverage(isOwnCode) : null;
  describe(`fuzzing ${target.name}`, () => {
    it('survives every input of the kept corpus', async () => {
      for (const input of keptInputs(target)) await attempt(target, input);
    });

    if (coverage !== null) {
      it(`survives ${seconds} seconds of guided mutations`, { timeout: (seconds + 60) * 1000 }, () =>
        explore(target, seconds, coverage),
      );
    } else {
      const { inputs = CI_INPUTS } = target;
      it(`survives ${inputs} mutations from a fixed seed`, () => sample(target, inputs));
    }
  });
}

/** Returns the seeds and the files of the corpus. */
function keptInputs({ seeds, corpus }: FuzzTarget): Buffer[] {
  const folder = fileURLToPath(corpus);
  let files: string[] = [];
  try {
    files = readdirSync(folder).toSorted();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error; // a target may have only its seeds
  }
  return [...seeds.map((seed) => Buffer.from(seed)), ...files.map((file) => readFileSync(`${folder}/${file}`))];
}

/** Not this folder: code that makes inputs also runs when they are not run again, and would always look new. */
function isOwnCode(url: string): boolean {
  return url.includes('/src/') && !url.includes('node_modules') && !url.includes('/testing/src/fuzz/');
}

async function sample(target: FuzzTarget, count: number): Promise<void> {
  const inputs = keptInputs(target);
  const random = createRandom(SEED);
  for (let index = 0; index < count; index += 1) await attempt(target, next(target, inputs, random));
}

async function explore(target: FuzzTarget, seconds: number, coverage: Coverage): Promise<void> {
  const inputs = keptInputs(target);
  const seed = Math.floor(Math.random() * 0xffff_ffff);
  const random = createRandom(seed);
  const startedMs = performance.now();
  let runs = 0;
  let kept = 0;
  await warmUp(target, inputs, coverage);
  while (performance.now() - startedMs < seconds * 1000) {
    const batch = Array.from({ length: BATCH_INPUTS }, () => next(target, inputs, random));
    for (const input of batch) await attempt(target, input);
    runs += batch.length;
    if (!coverage.reachedNew()) continue;
    // A batch shares one read of the coverage; only a batch that reached new code reruns input by input.
    for (const input of batch) {
      await attempt(target, input);
      if (!coverage.markNew()) continue;
      inputs.push(input);
      keep(target, '', input);
      kept += 1;
    }
  }
  process.stdout.write(`fuzz: ${target.name}: ${runs} runs in ${seconds} s, seed ${seed}, ${kept} inputs kept\n`);
}

/**
 * Runs inputs first, so that code executed for the first time, such as lazily compiled functions, does not count as
 * reached.
 */
async function warmUp(target: FuzzTarget, inputs: readonly Buffer[], coverage: Coverage): Promise<void> {
  for (const input of inputs.slice(0, CALIBRATION_INPUTS)) await attempt(target, input);
  for (const input of inputs) {
    await attempt(target, input);
    coverage.markNew();
  }
}

function next({ dictionary = [], maxBytes = DEFAULT_MAX_BYTES }: FuzzTarget, inputs: Buffer[], random: () => number) {
  const pick = (): Buffer => inputs[below(random, inputs.length)] ?? Buffer.alloc(0);
  return mutate(pick(), { random, dictionary: dictionary.map((token) => Buffer.from(token)), other: pick(), maxBytes });
}

async function attempt(target: FuzzTarget, input: Buffer): Promise<void> {
  try {
    await target.run(input);
  } catch (cause) {
    const file = keep(target, 'failed-', input);
    throw new Error(`${target.name} fails on ${file}: ${JSON.stringify(input.toString('latin1').slice(0, 500))}`, {
      cause,
    });
  }
}

function keep({ corpus }: FuzzTarget, prefix: string, input: Buffer): string {
  const folder = fileURLToPath(corpus);
  mkdirSync(folder, { recursive: true });
  const name = `${prefix}${createHash('sha256').update(input).digest('hex').slice(0, 16)}`;
  writeFileSync(`${folder}/${name}`, input);
  return name;
}
