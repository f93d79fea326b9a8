import type { SystemPackage } from '@svc/system-packages';

/** The result of a test or check. */
export interface TestResult {
  /** Path from the root, or the name of the part for a check. */
  readonly file: string;
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** The full failure message, or the reason for a skip. */
  readonly message: string;
  /** For a test that passed only on the second run: its first failure. */
  readonly failedFirstOf?: string;
}

export interface PartOutcome {
  readonly results: readonly TestResult[];
  /** Additional output: that of a failed command, or the log of a failed suite. */
  readonly output: string;
}

/** The subset of a part to run; everything if absent. */
export interface TestFilter {
  readonly files?: readonly string[];
  readonly testName?: string;
}

export interface PartContext {
  readonly root: string;
  /** Folder for logs and reports, named after the part. */
  readonly outFolder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly isRoot: boolean;
  readonly filter: TestFilter;
  readonly signal: AbortSignal;
  /** Shows the current activity; replaces the previous line. */
  progress(line: string): void;
  /** Prints a measured number permanently. */
  figure(line: string): void;
}

export interface Part {
  readonly name: string;
  readonly description: string;
  readonly group: 'default' | 'all';
  readonly timeoutMs: number;
  /** Packages to install with apt as root; called only for parts that run. */
  packages?(): readonly SystemPackage[];
  /** Puts the pinned Go on PATH before the part runs. */
  readonly needsGo?: boolean;
  /** Builds the sandbox helper before the part runs. */
  readonly needsHelper?: boolean;
  /** Does one thing after the other, so that others can run beside it. */
  readonly sharesMachine?: boolean;
  /** Returns one line if this machine cannot run the part, even after installing packages. */
  impossible?(context: PartContext): string | null;
  /** Test files of the part, for patterns; a part with neither files nor checks is omitted. */
  files?(): readonly string[];
  /** Lengthy preparation, which runs alongside the previous parts. `awaited` aborts once the part itself waits for it. */
  prepare?(context: PartContext, awaited: AbortSignal): Promise<void>;
  run(context: PartContext): Promise<PartOutcome>;
}
