import { parentPort, workerData } from 'node:worker_threads';
import { inspectManifest } from './inspect.ts';

/** Runs in its own thread for large manifests: parsing a megabyte takes seconds, a hostile one longer. */
parentPort?.postMessage(inspectManifest(String(workerData)));
