import { Worker } from 'node:worker_threads';
import { FairSlots } from '@svc/runtime';
import { clusterErrors } from '../../errors.ts';
import type { Clock } from '../clock.ts';
import { inspectManifest, type ManifestFinding } from './inspect.ts';

export interface ManifestInspector {
  /** Throws `INVALID_REQUEST` or `MANIFEST_TOO_LARGE` with the document and the reason; answers how many objects. */
  inspect(workspaceUuid: string, manifest: string): Promise<number>;
  close(): Promise<void>;
}

export interface ManifestInspectorOptions {
  clock: Clock;
  maxSizeBytes: number;
  /** Texts up to this size are judged on the caller's thread: about 30 ms for the worst of them. */
  inlineSizeBytes: number;
  timeoutMs: number;
  /** Large manifests that wait while another one is judged: all of them, and those of one workspace. */
  maxWaiting: number;
  maxWaitingOfWorkspace: number;
  /** Of all workspaces with the same share. */
  maxWaitingOfOwner: number;
  shareOf: (workspaceUuid: string) => string;
}

/**
 * One large manifest at a time, in the turns of owners and workspaces, each in a fresh thread with a memory limit of its
 * own that is ended when it takes too long.
 */
export function createManifestInspector(options: ManifestInspectorOptions): ManifestInspector {
  const running = new Set<Worker>();
  const closing = new AbortController();
  const turns = new FairSlots({
    capacity: 1,
    maxWaiting: options.maxWaiting,
    maxItemsPerKey: options.maxWaitingOfWorkspace,
    maxItemsPerGroup: options.maxWaitingOfOwner,
    groupOf: options.shareOf,
    refuse: () => clusterErrors.RATE_LIMITED({ headers: { 'retry-after': '2' } }),
  });

  return {
    inspect: async (workspaceUuid, manifest) => {
      const sizeBytes = Buffer.byteLength(manifest);
      if (sizeBytes > options.maxSizeBytes) {
        throw refusal({
          ok: false,
          code: 'MANIFEST_TOO_LARGE',
          reason: `is larger than ${options.maxSizeBytes} bytes`,
        });
      }
      const finding =
        sizeBytes <= options.inlineSizeBytes
          ? inspectManifest(manifest)
          : await turns.run(workspaceUuid, () => runInThread(manifest, options, running), closing.signal);
      if (!finding.ok) throw refusal(finding);
      return finding.documents;
    },
    close: async () => {
      closing.abort(new Error('the platform is shutting down'));
      await Promise.all([...running].map((worker) => worker.terminate()));
    },
  };
}

function runInThread(
  manifest: string,
  { clock, timeoutMs }: ManifestInspectorOptions,
  running: Set<Worker>,
): Promise<ManifestFinding> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL('./inspect-worker.ts', import.meta.url), {
      workerData: manifest,
      resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 },
      env: {},
      execArgv: [],
    });
    running.add(worker);
    let finding: ManifestFinding = { ok: false, code: 'MANIFEST_TOO_LARGE', reason: 'takes too long to read' };
    const cancel = clock.setTimer(() => void worker.terminate(), timeoutMs);
    worker.once('message', (message: ManifestFinding) => {
      finding = message;
    });
    worker.once('error', () => {
      finding = { ok: false, code: 'MANIFEST_TOO_LARGE', reason: 'takes too much memory to read' };
    });
    worker.once('exit', () => {
      cancel();
      running.delete(worker);
      resolve(finding);
    });
  });
}

function refusal(finding: Extract<ManifestFinding, { ok: false }>): Error {
  return clusterErrors[finding.code]({ details: { field: 'manifest', reason: `manifest ${finding.reason}` } });
}
