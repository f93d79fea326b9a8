import { delimiter, dirname } from 'node:path';

/** Duration of each fuzz target; set manually only. */
export const FUZZ_SECONDS = 'SVC_FUZZ_SECONDS';

/**
 * Removes variables that tests must not inherit, such as settings of a user's platform. Puts our Node.js first on PATH.
 */
export function childEnvironment(given: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    const isForTests = !name.startsWith('SVC_') || name.startsWith('SVC_TEST_') || name === FUZZ_SECONDS;
    if (value !== undefined && isForTests) kept[name] = value;
  }
  delete kept['FORCE_COLOR'];
  kept['NO_COLOR'] = '1'; // logs should be readable in any viewer
  kept['PATH'] = [dirname(process.execPath), kept['PATH'] ?? '/usr/bin:/bin'].join(delimiter);
  return kept;
}

/** Returns the extra time for the fuzz targets among the files, even if sequential. */
export function fuzzTimeMs(environment: Readonly<Record<string, string>>, files: readonly string[]): number {
  const targets = files.filter((file) => file.includes('.fuzz.test.')).length;
  return Number(environment[FUZZ_SECONDS] ?? 0) * 1000 * targets;
}
