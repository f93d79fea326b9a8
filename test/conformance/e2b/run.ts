import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@svc/testing';
import { e2bEnvironment } from '../../clients/e2b/e2b-environment.ts';
import type { Outcome } from '../outcome.ts';
import { assertUnmodified, checkoutFolder } from './checkout.ts';
import { startE2bPlatform } from './e2b-platform.ts';
import { prepareJavaScript, runJavaScript } from './javascript-suite.ts';
import { runPython } from './python-suite.ts';
import { WITHOUT_NETWORK } from './suite-pass.ts';

export interface SuiteRun {
  /** Of the tests that ask a server. */
  readonly outcomes: readonly Outcome[];
  /** Number of tests that pass without any network, and so say nothing about a server. */
  readonly clientOnly: number;
  readonly durationMs: number;
}

export interface SuiteOptions {
  readonly only?: 'js' | 'python';
  /** Only tests whose names match, as in vitest's `-t` and pytest's `-k`. */
  readonly pattern?: string;
  readonly timeoutMs?: number;
  /** Folder that keeps reports and logs. */
  readonly out?: string;
}

const MINUTE_MS = 60_000;
const WORKERS = 2;
/** Without a network, most of the time is spent between attempts to connect. */
const ALONE_WORKERS = 12;
/** The clients check its form before they send it. */
const NO_KEY = { E2B_API_KEY: `e2b_${'0'.repeat(40)}` };
const LOOPBACK_NAMES = fileURLToPath(new URL('javascript/loopback-names.mjs', import.meta.url));

/**
 * Runs the unmodified suites of E2B's SDKs twice: without any network, to find the tests that ask no server, and against
 * a separate platform.
 */
export async function runE2bSuites(options: SuiteOptions = {}): Promise<SuiteRun> {
  const startedAt = performance.now();
  const checkout = checkoutFolder();
  await assertUnmodified(checkout);
  const javascript = await prepareJavaScript(checkout);
  await using folder = await temporaryFolder();
  const out = options.out ?? folder.path;
  await mkdir(out, { recursive: true });
  await using platform = await startE2bPlatform(join(folder.path, 'data'));
  const authority = join(folder.path, 'data', 'tls', 'ca.crt');
  const environment = {
    ...e2bEnvironment(platform.ready, platform.key),
    NODE_OPTIONS: `--import=${LOOPBACK_NAMES}`,
    NODE_EXTRA_CA_CERTS: authority,
    SSL_CERT_FILE: authority,
  };
  const signal = AbortSignal.timeout(options.timeoutMs ?? 30 * MINUTE_MS);
  const { pattern } = options;
  const common = { folder: out, signal, ...(pattern === undefined ? {} : { pattern }) };
  const suites = [
    { suite: 'js', run: runJavaScript, source: javascript },
    { suite: 'python', run: runPython, source: checkout },
  ] as const;
  const outcomes: Outcome[] = [];
  let clientOnly = 0;
  for (const { suite, run, source } of suites) {
    if (options.only !== undefined && options.only !== suite) continue;
    const alone = {
      ...common,
      name: `${suite}-alone`,
      workers: ALONE_WORKERS,
      wrapper: WITHOUT_NETWORK,
      environment: NO_KEY,
    };
    const passing = new Set((await run(source, alone)).filter(isPassed).map(({ name }) => name));
    const live = { ...common, name: suite, workers: WORKERS, wrapper: platform.beside, environment };
    const first = merge(await run(source, live));
    const failing = first.filter(({ name, status }) => status === 'failed' && !passing.has(name));
    // Once more by themselves: their time limits are those of an idle machine.
    const tests = failing.map(({ name }) => name);
    const again =
      tests.length === 0 ? [] : merge(await run(source, { ...live, name: `${suite}-again`, workers: 1, tests }));
    const served = first.map((outcome) => {
      const second = failing.includes(outcome) ? again.find(({ name }) => name === outcome.name) : undefined;
      return second ?? outcome;
    });
    clientOnly += served.filter(({ name }) => passing.has(name)).length;
    for (const outcome of served) {
      if (!passing.has(outcome.name)) outcomes.push({ ...outcome, name: `${suite}/${outcome.name}` });
    }
  }
  return { outcomes, clientOnly, durationMs: performance.now() - startedAt };
}

function isPassed({ status }: Outcome): boolean {
  return status === 'passed';
}

/** Tests may share a name; all of them must pass. */
function merge(outcomes: readonly Outcome[]): Outcome[] {
  return [...Map.groupBy(outcomes, ({ name }) => name).values()]
    .flatMap((same) => same.find((each) => !isPassed(each)) ?? same[0] ?? [])
    .toSorted((left, right) => (left.name < right.name ? -1 : 1));
}
