import { temporaryFolder } from '@svc/testing';
import { apiClient } from '../../system/api-client.ts';
import { startPlatform, type ReadyLine } from '../../system/running-platform.ts';
import type { Outcome } from '../outcome.ts';
import { ensureVersitygw } from './program.ts';
import { listTests, runTests, type Target } from './suite.ts';

export interface SuiteRun {
  readonly outcomes: readonly Outcome[];
  /** Tests of services that are not S3; they were not run. */
  readonly foreignCount: number;
  readonly durationMs: number;
}

const SUITE_TIMEOUT_MS = 10 * 60_000;

/** Starts a platform of its own, runs every S3 test of the suite against it with one admin key, and ends it. */
export async function runVersitygwSuite(): Promise<SuiteRun> {
  const program = await ensureVersitygw();
  await using folder = await temporaryFolder();
  await using platform = await startPlatform({ dataFolder: `${folder.path}/data` });
  const target = await makeTarget(platform.ready);
  const { names, foreignCount } = await listTests(program);
  const startedAt = performance.now();
  const outcomes = await runTests(program, target, names, AbortSignal.timeout(SUITE_TIMEOUT_MS));
  return { outcomes, foreignCount, durationMs: performance.now() - startedAt };
}

interface CreatedKey {
  readonly data: { readonly accessKeyId: string; readonly secretAccessKey: string; readonly region: string };
}

/** A key of the workspace for all of its buckets. The first bucket makes the workspace's store, without which no key is made. */
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
    region: data.region,
    accessKeyId: data.accessKeyId,
    secretAccessKey: data.secretAccessKey,
  };
}
