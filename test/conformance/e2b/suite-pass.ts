/** One run of a suite. */
export interface SuitePass {
  readonly name: string;
  /** Command that runs the suite, such as one that takes the network away; empty for none. */
  readonly wrapper: readonly string[];
  /** How many tests run beside one another. */
  readonly workers: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Where its report and output go. */
  readonly folder: string;
  /** Only tests whose names match. */
  readonly pattern?: string;
  /** Only these, at least: a suite may run whole files. */
  readonly tests?: readonly string[];
  readonly signal: AbortSignal;
}

/** Runs a command with the loopback interface and no other. */
export const WITHOUT_NETWORK: readonly string[] = [
  'unshare',
  '--net',
  '--',
  'sh',
  '-c',
  'ip link set lo up && exec "$@"',
  'sh',
];
