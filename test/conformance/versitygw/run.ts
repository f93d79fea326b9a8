import { temporaryFolder } from '@svc/testing';
import { apiClient } from '../../system/api-client.ts';
import { startPlatform, type ReadyLine } from '../../system/running-platform.ts';
import type { Outcome } from '../outcome.ts';
import { ensureVersitygw } from './program.ts';
import { listTests, runTests, type OpenTarget } from './suite.ts';
import { type Target } from './leftovers.ts';

export interface SuiteRun {
  readonly outcomes: readonly Outcome[];
  /** Number of tests of services other than S3, which were not run. */
  readonly foreignCount: number;
  readonly durationMs: number;
}

const SUITE_TIMEOUT_MS = 25 * 60_000;

/** The store's only region in `x-amz-bucket-region`. Also accepts `auto`, as used by keys. */
const REGION = 'us-east-1';

/**
 * Runs every S3 test of the suite, or those whose names match, with one admin key against a platform started for it.
 */
export async function runVersitygwSuite(pattern = /^/): Promise<SuiteRun> {
  const program = await ensureVersitygw();
  const { names: all, foreignCount } = await listTests(program);
  const names = all.filter((name) => pattern.test(name));
  const startedAt = performance.now();
  const outcomes = await runTests(program, openTarget, names, AbortSignal.timeout(SUITE_TIMEOUT_MS));
  return { outcomes, foreignCount, durationMs: performance.now() - startedAt };
}

async function openTarget(): Promise<OpenTarget> {
  const stack = new AsyncDisposableStack();
  try {
    const folder = stack.use(await temporaryFolder());
    const platform = stack.use(await startPlatform({ dataFolder: `${folder.path}/data` }));
    return { target: await makeTarget(platform.ready), close: () => stack.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

interface CreatedKey {
  readonly data: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** Creates a key for all buckets of the workspace. The first bucket provisions the store, which keys require. */
async function makeTarget(ready: ReadyLine): Promise<Target> {
  const api = apiClient(ready);
  const store = `/api/v1/workspace/${ready.workspace_uuid}/object-store`;
  await api.post(`${store}/buckets`, { name: 'before-the-suite' });
  await api.delete(`${store}/buckets/before-the-suite`);
  const { data } = await api.post<CreatedKey>(`${store}/keys`, {
    label: 'conformance',
    permissions: ['read', 'write', 'admin'],
  });
  return {
    endpoint: ready.s3_endpoint,
    region: REGION,
    accessKeyId: data.accessKeyId,
    secretAccessKey: data.secretAccessKey,
  };
}
