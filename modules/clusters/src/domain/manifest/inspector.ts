import { Worker } from 'node:worker_threads';
import { type Clock, FairSlots } from '@svc/runtime';
import { clusterErrors } from '../../errors.ts';
import { inspectManifest, type ManifestFinding } from './inspect.ts';

export interface ManifestInspector {
  /**
   * Returns the number of objects. Throws `INVALID_REQUEST` or `MANIFEST_TOO_LARGE` with the document and the reason.
   */
  inspect(workspaceUuid: string, manifest: string): Promise<number>;
  close(): Promise<void>;
}

export interface ManifestInspectorOptions {
  clock: Clock;
  maxSizeBytes: number;
  /** Texts up to this size are checked on the caller's thread; the worst takes about 30 ms. */
  inlineSizeBytes: number;
  timeoutMs: number;
  /** Large manifests that may wait while another one is checked: in total, and per workspace. */
  maxWaiting: number;
  maxWaitingOfWorkspace: number;
  /** Limit for all workspaces with the same share. */
  maxWaitingOfOwner: number;
  shareOf: (workspaceUuid: string) => string;
}

/**
 * Checks one large manifest at a time, taking turns between owners and workspaces. Each runs in a fresh thread with its
 * own memory limit, which is terminated on timeout.
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
