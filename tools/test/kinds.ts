/** A kind of test files: its name, its file pattern and how it runs. One vitest project each. */
export interface TestKind {
  readonly name: string;
  readonly description: string;
  /** Globs relative to the root. */
  readonly include: readonly string[];
  readonly exclude?: readonly string[];
  /** `all`: only with `--all`, by name, or by a pattern. */
  readonly group: 'default' | 'all';
  /** Runs files sequentially, since each uses processes, ports or mounts of the whole machine. */
  readonly sequential: boolean;
  /** Time limit of one test. */
  readonly testTimeoutMs: number;
  /** Time limit of the whole part, generous: three parts share the machine. */
  readonly timeoutMs: number;
}

const MINUTE_MS = 60_000;
const SOURCE_FOLDERS = '{packages,modules,apps,sdks,migrations,test,bench,tools}';

/**
 * Kinds in file names, such as `agent.kubernetes.test.ts`. Add one here for each new external part; those that take longest come
 * first, so that the parts that share the machine end together.
 */
const NAMED_KINDS: readonly (Omit<TestKind, 'include'> & { readonly include?: readonly string[] })[] = [
  {
    name: 'kubernetes',
    description: 'against a real Kubernetes on this machine',
    group: 'all',
    sequential: true,
    testTimeoutMs: 5 * MINUTE_MS,
    timeoutMs: 60 * MINUTE_MS,
  },
  {
    name: 'system',
    description: 'real processes: svc up, ordinary clients, restarts, leaks',
    group: 'default',
    sequential: true,
    testTimeoutMs: 5 * MINUTE_MS,
    timeoutMs: 60 * MINUTE_MS,
  },
  {
    name: 'browser',
    description: 'the console in Chromium',
    group: 'default',
    sequential: true,
    testTimeoutMs: 2 * MINUTE_MS,
    timeoutMs: 45 * MINUTE_MS,
  },
  {
    name: 'replicas',
    description: 'several platforms on one PostgreSQL',
    group: 'all',
    sequential: true,
    testTimeoutMs: 5 * MINUTE_MS,
    timeoutMs: 45 * MINUTE_MS,
  },
  {
    name: 'docker',
    description: 'against a Docker Engine',
    group: 'all',
    sequential: true,
    testTimeoutMs: 5 * MINUTE_MS,
    timeoutMs: 40 * MINUTE_MS,
  },
  {
    name: 'campaign',
    description: 'many random steps from a fixed seed',
    include: [`${SOURCE_FOLDERS}/**/*.campaign.ts`],
    group: 'all',
    sequential: true,
    testTimeoutMs: 10 * MINUTE_MS,
    timeoutMs: 45 * MINUTE_MS,
  },
  {
    name: 'suite',
    description: "VersityGW's own suite against svc up",
    group: 'all',
    sequential: true,
    testTimeoutMs: 30 * MINUTE_MS,
    timeoutMs: 60 * MINUTE_MS,
  },
  {
    name: 'client',
    description: 'S3 clients that people use, against svc up',
    group: 'all',
    sequential: true,
    testTimeoutMs: 5 * MINUTE_MS,
    timeoutMs: 45 * MINUTE_MS,
  },
  {
    name: 'vault',
    description: 'keys in a real Vault on this machine',
    group: 'all',
    sequential: true,
    testTimeoutMs: 5 * MINUTE_MS,
    timeoutMs: 30 * MINUTE_MS,
  },
  {
    name: 'conformance',
    description: 'ceph/s3-tests and the suites of the E2B SDKs against svc up, where their checkouts are',
    group: 'default',
    sequential: true,
    testTimeoutMs: 40 * MINUTE_MS,
    timeoutMs: 45 * MINUTE_MS,
  },
  {
    name: 'ceph',
    description: 'against a Ceph RADOS Gateway',
    group: 'all',
    sequential: true,
    testTimeoutMs: 5 * MINUTE_MS,
    timeoutMs: 30 * MINUTE_MS,
  },
  {
    name: 'acme',
    description: 'certificates from a real ACME server on this machine',
    group: 'all',
    sequential: true,
    testTimeoutMs: 5 * MINUTE_MS,
    timeoutMs: 30 * MINUTE_MS,
  },
];

const namedKinds: readonly TestKind[] = NAMED_KINDS.map((kind) => ({
  ...kind,
  include: kind.include ?? [`${SOURCE_FOLDERS}/**/*.${kind.name}.test.ts`],
}));

/** All kinds in execution order. */
export const TEST_KINDS: readonly TestKind[] = [
  {
    name: 'law',
    description: 'imports, layers, shape of the source, dependencies, folders',
    include: ['test/law/**/*.test.ts'],
    group: 'default',
    sequential: false,
    testTimeoutMs: MINUTE_MS,
    timeoutMs: 5 * MINUTE_MS,
  },
  {
    name: 'unit',
    description: 'every module and package by itself, on real SQLite, sockets and processes',
    include: [`${SOURCE_FOLDERS}/**/*.test.{ts,tsx}`],
    exclude: ['test/law/**', 'test/openapi/**', ...namedKinds.flatMap((kind) => kind.include)],
    group: 'default',
    sequential: false,
    testTimeoutMs: MINUTE_MS,
    timeoutMs: 40 * MINUTE_MS,
  },
  {
    name: 'openapi',
    description: 'api/openapi.json is what the routes say',
    include: ['test/openapi/**/*.test.ts'],
    group: 'default',
    sequential: false,
    testTimeoutMs: MINUTE_MS,
    timeoutMs: 5 * MINUTE_MS,
  },
  ...namedKinds,
];
