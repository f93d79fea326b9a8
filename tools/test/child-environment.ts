import { delimiter, dirname } from 'node:path';

/** How long each fuzz target runs; by hand only. */
export const FUZZ_SECONDS = 'SVC_FUZZ_SECONDS';

/** What a test must not inherit: settings of a platform that its user runs. Node itself comes first on PATH. */
export function childEnvironment(given: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    const isForTests = !name.startsWith('SVC_') || name.startsWith('SVC_TEST_') || name === FUZZ_SECONDS;
    if (value !== undefined && isForTests) kept[name] = value;
  }
  delete kept['FORCE_COLOR'];
  kept['NO_COLOR'] = '1'; // logs are for reading in any viewer
  kept['PATH'] = [dirname(process.execPath), kept['PATH'] ?? '/usr/bin:/bin'].join(delimiter);
  return kept;
}

/** How much longer a run may take for the fuzz targets among its files, even one after the other. */
export function fuzzTimeMs(environment: Readonly<Record<string, string>>, files: readonly string[]): number {
  const targets = files.filter((file) => file.includes('.fuzz.test.')).length;
  return Number(environment[FUZZ_SECONDS] ?? 0) * 1000 * targets;
}
