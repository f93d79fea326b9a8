import { mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { findCommand } from '@svc/testing';
import { ensureSystemPackages, type SystemPackage } from '@svc/system-packages';
import { childEnvironment } from './child-environment.ts';
import { createHelperBinaries, ensureGo } from '@svc/helper-binary';
import { needsGo } from './needed-packages.ts';
import type { PartContext, PartOutcome, TestFilter } from './part.ts';
import { createParts } from './parts.ts';
import { createProgress, type Progress } from './progress.ts';
import { runInLanes } from './lanes.ts';
import { rerunFailures } from './rerun-failures.ts';
import { selectParts, type SelectedPart } from './select.ts';
import { describePart, summarize, type FinishedPart } from './summary.ts';

export interface TestRunOptions {
  readonly root: string;
  readonly patterns: readonly string[];
  readonly all: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly isRoot: boolean;
  readonly output: NodeJS.WriteStream;
  readonly signal: AbortSignal;
}

/** Runs the selected parts and returns the command's exit code. */
export async function runTests(options: TestRunOptions): Promise<number> {
  const { root, signal, output } = options;
  const progress = createProgress(output, () => performance.now());
  const outFolder = join(root, 'out');
  mkdirSync(outFolder, { recursive: true });
  const selection = selectParts(createParts(root), options.patterns, options.all);
  if (selection.parts.length === 0) {
    progress.print(`nothing matches ${options.patterns.join(' ')}`);
    progress.print('0 passed, 0 failed');
    return 1;
  }
  const strict = options.all || options.environment['CI'] === 'true';
  const baseEnvironment = childEnvironment(options.environment);
  await installPackages(selection.parts, baseEnvironment, options, progress);
  const environment = await withGo(selection.parts, baseEnvironment, options, progress);
  await buildHelper(selection.parts, environment, options, progress);
  const contextFor = (name: string, filter: TestFilter): PartContext => {
    const say = (line: string): void => progress.update(`${name}: ${line}`);
    const print = (line: string): void => progress.print(`  ${line}`);
    return { root, outFolder, environment, isRoot: options.isRoot, filter, signal, progress: say, figure: print };
  };
  const prepared = startPreparing(selection.parts, contextFor);
  const finished = await runInLanes(selection.parts, signal, async (selected) => {
    const context = contextFor(selected.part.name, selected.filter);
    const part = await runPart(selected, context, prepared, { progress, strict });
    progress.print(describePart(part));
    return part;
  });
  await Promise.all([...prepared.values()].map(({ outcome }) => outcome));
  const summary = summarize(finished, strict);
  if (signal.aborted) progress.print('\ninterrupted');
  progress.print(summary.lines.join('\n'));
  return signal.aborted ? 130 : summary.exitCode;
}

/** Checks without installing. */
const NOTHING_TO_INSTALL = { isRoot: false, progress: () => undefined };

async function installPackages(
  parts: readonly SelectedPart[],
  environment: Readonly<Record<string, string>>,
  options: TestRunOptions,
  progress: Progress,
): Promise<void> {
  const wanted = parts.flatMap(({ part }) => part.packages?.() ?? []);
  if (wantsGo(parts, options.root) && findCommand('go') === null) {
    wanted.push({ provides: 'go', package: 'golang-go', neededFor: 'tests' });
  }
  const ensure = (packages: readonly SystemPackage[]) =>
    ensureSystemPackages(packages, {
      path: environment['PATH'] ?? '',
      isRoot: options.isRoot,
      progress: (line) => progress.print(line),
      signal: options.signal,
    });
  let { missing, command } = await ensure(wanted);
  if (options.isRoot && missing.length > 1) {
    // apt-get installs all or nothing; one missing package must not prevent the others.
    for (const each of missing) await ensure([each]);
    ({ missing, command } = await ensureSystemPackages(wanted, {
      ...NOTHING_TO_INSTALL,
      path: environment['PATH'] ?? '',
    }));
  }
  if (missing.length > 0) progress.print(`some tests need packages that are missing: ${command ?? ''}`);
}

function wantsGo(parts: readonly SelectedPart[], root: string): boolean {
  return parts.some(({ part }) => part.needsGo === true || needsGo(part.files?.() ?? [], root));
}

/** Puts the pinned Go first on PATH. Without any Go, the tests that need it report that. */
async function withGo(
  parts: readonly SelectedPart[],
  environment: Readonly<Record<string, string>>,
  options: TestRunOptions,
  progress: Progress,
): Promise<Record<string, string>> {
  if (!wantsGo(parts, options.root)) return { ...environment };
  try {
    const say = (line: string): void => progress.print(line);
    const go = await ensureGo({ root: options.root, environment, progress: say, signal: options.signal });
    return { ...environment, PATH: [go, environment['PATH']].join(delimiter) };
  } catch (error) {
    progress.print(error instanceof Error ? error.message : String(error));
    return { ...environment };
  }
}

/** Builds the sandbox helper and the program of mounts before the tests that start sandboxes, so that no test's time limit includes it. */
async function buildHelper(
  parts: readonly SelectedPart[],
  environment: Readonly<Record<string, string>>,
  options: TestRunOptions,
  progress: Progress,
): Promise<void> {
  if (!parts.some(({ part }) => part.needsHelper === true)) return;
  try {
    const say = (line: string): void => progress.print(line);
    const binaries = createHelperBinaries({ root: options.root, environment, progress: say });
    await binaries(process.arch, options.signal);
    await binaries(process.arch, options.signal, 'bucket-mount');
  } catch (error) {
    progress.print(error instanceof Error ? error.message : String(error)); // the tests that need it fail
  }
}

interface Preparation {
  readonly outcome: Promise<Error | null>;
  /** Aborts once the part waits for the outcome. */
  readonly awaited: AbortController;
}

/** Starts lengthy preparations immediately. Each returns its error instead of throwing it, for when its part runs. */
function startPreparing(
  parts: readonly SelectedPart[],
  contextFor: (name: string, filter: TestFilter) => PartContext,
): Map<string, Preparation> {
  const prepared = new Map<string, Preparation>();
  for (const { part, filter } of parts) {
    const context = contextFor(part.name, filter);
    if (part.prepare === undefined || (part.impossible?.(context) ?? null) !== null) continue;
    const awaited = new AbortController();
    const outcome = part.prepare(context, awaited.signal).then(
      () => null,
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    );
    prepared.set(part.name, { outcome, awaited });
  }
  return prepared;
}

async function runPart(
  { part }: SelectedPart,
  context: PartContext,
  prepared: ReadonlyMap<string, Preparation>,
  { progress, strict }: { progress: Progress; strict: boolean },
): Promise<FinishedPart> {
  const startedAt = performance.now();
  const finish = (results: PartOutcome['results'], notRun: string | null): FinishedPart => {
    return { name: part.name, results, durationMs: performance.now() - startedAt, notRun };
  };
  const impossible = part.impossible?.(context) ?? null;
  if (impossible !== null) return finish([], impossible);
  context.progress(part.description);
  try {
    const preparation = prepared.get(part.name);
    preparation?.awaited.abort();
    const fault = await preparation?.outcome;
    if (fault instanceof Error) throw fault;
    const first = await part.run(context);
    const { results, output } = strict ? await rerunFailures(part, context, first) : first;
    if (output !== '') progress.print(output);
    return finish(results, null);
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    progress.print(message);
    return finish([{ file: part.name, name: 'the part itself', status: 'failed', message }], null);
  }
}
