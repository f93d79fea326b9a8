import type { SystemPackage } from '@svc/system-packages';

/** One test, or one check that is either fine or not. */
export interface TestResult {
  /** Path from the root, or the name of the part for a check. */
  readonly file: string;
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Why it failed, in full, or why it was skipped. */
  readonly message: string;
  /** Of a test that passed only when it was run again: what it failed of before. */
  readonly failedFirstOf?: string;
}

export interface PartOutcome {
  readonly results: readonly TestResult[];
  /** What a reader needs beyond the results: the output of a failed command, the log of a failed suite. */
  readonly output: string;
}

/** What of a part to run; absent means all of it. */
export interface TestFilter {
  readonly files?: readonly string[];
  readonly testName?: string;
}

export interface PartContext {
  readonly root: string;
  /** Logs and reports go here, named after the part. */
  readonly outFolder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly isRoot: boolean;
  readonly filter: TestFilter;
  readonly signal: AbortSignal;
  /** What is going on right now; replaces what was said before. */
  progress(line: string): void;
  /** A measured number; it stays. */
  figure(line: string): void;
}

export interface Part {
  readonly name: string;
  readonly description: string;
  readonly group: 'default' | 'all';
  readonly timeoutMs: number;
  /** Installed with apt when root; asked only for parts that run. */
  packages?(): readonly SystemPackage[];
  /** True: the pinned Go is put on PATH before anything runs. */
  readonly needsGo?: boolean;
  /** One line when this machine cannot run the part whatever is installed. */
  impossible?(context: PartContext): string | null;
  /** Test files of the part, for patterns; a part with none and without checks is left out. */
  files?(): readonly string[];
  /** Long work that needs little attention; it runs beside the parts before this one. */
  prepare?(context: PartContext): Promise<void>;
  run(context: PartContext): Promise<PartOutcome>;
}
